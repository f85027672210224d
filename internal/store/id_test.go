package store

import (
	"path/filepath"
	"testing"
)

func TestID_stays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	first, err := open(t, path).ID(t.Context())
	if err != nil || first == "" {
		t.Fatalf("%q, %v", first, err)
	}
	if again, err := open(t, path).ID(t.Context()); err != nil || again != first {
		t.Errorf("%q, then %q, %v", first, again, err)
	}
	if other, err := open(t, filepath.Join(t.TempDir(), "db")).ID(t.Context()); err != nil || other == first {
		t.Errorf("another one is %q as well, %v", other, err)
	}
}

// A claim is of the id that it was made by.
func TestRename_hasClaimedNothing(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"))
	first, err := s.ID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{false, true} {
		if has, err := s.HasClaimed(t.Context(), first); err != nil || has != want {
			t.Errorf("%v, %v, want %v", has, err, want)
		}
		if err := s.NoteClaim(t.Context(), first); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Rename(t.Context()); err != nil {
		t.Fatal(err)
	}
	second, err := s.ID(t.Context())
	if err != nil || second == first {
		t.Errorf("%q is called %q, %v", first, second, err)
	}
	if has, err := s.HasClaimed(t.Context(), second); err != nil || has {
		t.Errorf("%v, %v", has, err)
	}
}
