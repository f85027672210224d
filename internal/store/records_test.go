package store

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sandgate/sandboxclient"
)

func open(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func record(name string) sandboxclient.Record {
	ref := sandboxclient.Ref{Owner: "local", App: "notebook", Name: name, Ephemeral: len(name)%2 == 0}
	now := time.Date(2026, 11, 29, 12, 0, 0, 123000, time.UTC)
	return sandboxclient.Record{ID: sandboxclient.DeriveID([]byte("k"), ref), Ref: ref, CreatedAt: now, LastUsed: now}
}

func TestSandboxes_survive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "odd ?#%name;", "db")
	first := open(t, path)
	want := record("naïve \x00 'name'")
	if err := first.SaveSandbox(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := open(t, path).ListSandboxes(t.Context(), sandboxclient.Which{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]sandboxclient.Record{want}, got); diff != "" {
		t.Error(diff)
	}
}

func TestSaveSandbox_keepsCreatedAt(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"))
	want := record("a")
	later := want
	later.CreatedAt, later.LastUsed = want.CreatedAt.Add(time.Hour), want.LastUsed.Add(time.Hour)
	for _, r := range []sandboxclient.Record{want, later} {
		if err := s.SaveSandbox(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	want.LastUsed = later.LastUsed
	got, err := s.ListSandboxes(t.Context(), sandboxclient.Which{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]sandboxclient.Record{want}, got); diff != "" {
		t.Error(diff)
	}
}

func TestListSandboxes_givesWhatIsMeant(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"))
	mine, also, other := record("a"), record("b"), record("c")
	other.Ref.Owner = "else"
	for _, r := range []sandboxclient.Record{mine, also, other} {
		if err := s.SaveSandbox(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		which sandboxclient.Which
		want  []sandboxclient.Record
	}{
		"all":          {sandboxclient.Which{}, []sandboxclient.Record{mine, also, other}},
		"an id's":      {sandboxclient.Which{ID: also.ID}, []sandboxclient.Record{also}},
		"unknown":      {sandboxclient.Which{ID: record("d").ID}, nil},
		"an owner's":   {sandboxclient.Which{Owner: "local"}, []sandboxclient.Record{mine, also}},
		"a stranger's": {sandboxclient.Which{Owner: "nobody"}, nil},
	} {
		got, err := s.ListSandboxes(t.Context(), tc.which)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(got, func(a, b sandboxclient.Record) int { return strings.Compare(a.Ref.Name, b.Ref.Name) })
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestGeneration_countsOnlyStarts(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"))
	a, b := record("a").ID, record("b").ID
	steps := []struct {
		id      sandboxclient.ID
		context string
		started bool
		want    int
	}{
		{a, "default-python", false, 0},
		{a, "default-python", true, 1},
		{a, "default-python", true, 2},
		{a, "default-python", false, 2},
		{a, "default-bash", true, 1},
		{b, "default-python", true, 1},
	}
	for i, step := range steps {
		got, err := s.Generation(t.Context(), step.id, step.context, step.started)
		if err != nil || got != step.want {
			t.Errorf("step %d: %d, %v, want %d", i, got, err, step.want)
		}
	}
}

func TestGeneration_manyAtOnce(t *testing.T) {
	const many = 50
	s := open(t, filepath.Join(t.TempDir(), "db"))
	var seen sync.Map
	var wg sync.WaitGroup
	for range many {
		wg.Go(func() {
			n, err := s.Generation(t.Context(), record("a").ID, "c", true)
			if err != nil {
				t.Error(err)
			}
			if _, twice := seen.LoadOrStore(n, true); twice {
				t.Errorf("generation %d was given twice", n)
			}
		})
	}
	wg.Wait()
	if n, err := s.Generation(t.Context(), record("a").ID, "c", false); err != nil || n != many {
		t.Errorf("%d, %v, want %d", n, err, many)
	}
}

func TestDeleteSandbox(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"))
	a, b := record("a"), record("b")
	for _, r := range []sandboxclient.Record{a, b} {
		if err := s.SaveSandbox(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Generation(t.Context(), r.ID, "c", true); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second time it is unknown, which is no error
		if err := s.DeleteSandbox(t.Context(), a.ID); err != nil {
			t.Fatal(err)
		}
	}
	for r, want := range map[sandboxclient.ID]int{a.ID: 0, b.ID: 1} {
		if n, err := s.Generation(t.Context(), r, "c", false); err != nil || n != want {
			t.Errorf("generation %d, %v, want %d", n, err, want)
		}
	}
	got, err := s.ListSandboxes(t.Context(), sandboxclient.Which{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]sandboxclient.Record{b}, got); diff != "" {
		t.Error(diff)
	}
}
