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
