package store

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sandgate/internal/runs"
	"sandgate/sandboxclient"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 123456000, time.UTC)

func queued(owner, id string, created time.Time) runs.Record {
	return runs.Record{
		ID: id, Owner: owner, State: runs.StateQueued, CreatedAt: created,
		Summary:  json.RawMessage(`{"id":"` + id + `","text":"naïve \u0000 'quoted'"}`),
		Progress: json.RawMessage(`{"phase":"clone"}`),
	}
}

func ended(owner, id string, created, at time.Time) runs.Record {
	r := queued(owner, id, created)
	r.State, r.EndedAt = runs.StateEnded, at
	return r
}

func saveRuns(t *testing.T, s *Store, records ...runs.Record) {
	t.Helper()
	for _, r := range records {
		if err := s.SaveRun(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}

func ids(records []runs.Record) string {
	var all []string
	for _, r := range records {
		all = append(all, r.ID)
	}
	return strings.Join(all, " ")
}

func TestRuns_survive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	first := open(t, path)
	waiting := queued("ada", "1", noon)
	over := ended("ada", "2", noon, noon.Add(time.Minute))
	bare := runs.Record{ID: "3", Owner: "ada", State: runs.StateRunning, CreatedAt: noon}
	saveRuns(t, first, waiting, over, bare)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	for _, want := range []runs.Record{waiting, over, bare} {
		got, err := s.Run(t.Context(), "ada", want.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestSaveRun_replaces(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"))
	saveRuns(t, s, queued("ada", "1", noon))
	later := ended("bob", "1", noon.Add(time.Hour), noon.Add(2*time.Hour))
	later.Summary = json.RawMessage(`{"status":"exited"}`)
	later.Progress = nil
	saveRuns(t, s, later)
	want := later
	want.Owner, want.CreatedAt = "ada", noon // what a run has from its start
	got, err := s.Run(t.Context(), "ada", "1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A state and a time that contradict each other would keep the run for ever.
func TestSaveRun_refusesContradiction(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"))
	for name, r := range map[string]runs.Record{
		"ended without a time": {ID: "1", Owner: "ada", State: runs.StateEnded, CreatedAt: noon},
		"running with one":     {ID: "2", Owner: "ada", State: runs.StateRunning, CreatedAt: noon, EndedAt: noon},
	} {
		if err := s.SaveRun(t.Context(), r); err == nil {
			t.Errorf("%s was saved", name)
		}
	}
}

func TestRun_ofOthersIsLikeNone(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"))
	saveRuns(t, s, queued("ada", "1", noon))
	_, others := s.Run(t.Context(), "bob", "1")
	_, none := s.Run(t.Context(), "ada", "2")
	for _, err := range []error{others, none} {
		if sandboxclient.CodeOf(err) != sandboxclient.CodeNotFound {
			t.Errorf("%v", err)
		}
	}
	if others.Error() != none.Error() {
		t.Errorf("%v tells from %v", others, none)
	}
}

func TestKnowsRun(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"))
	saveRuns(t, s, queued("ada", "1", noon))
	for id, want := range map[string]bool{"1": true, "2": false, "": false} {
		if got, err := s.KnowsRun(t.Context(), id); got != want || err != nil {
			t.Errorf("%q: %t, %v", id, got, err)
		}
	}
}

// Pages put together are the whole list, whatever their size, also of runs
// that were created at the same time.
func TestListRuns_pages(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"))
	var want []string
	for i := range 20 {
		id := fmt.Sprintf("%02d", i)
		saveRuns(t, s, queued("ada", id, noon.Add(time.Duration(i/3)*time.Microsecond)), queued("bob", "b"+id, noon))
		want = append(want, id)
	}
	slices.Reverse(want)
	for _, limit := range []int{1, 2, 3, 7, 19, 20, 100} {
		var got []runs.Record
		var after runs.Position
		for {
			page, err := s.ListRuns(t.Context(), "ada", after, limit)
			if err != nil || len(page) > limit {
				t.Fatalf("%d of %d, %v", len(page), limit, err)
			}
			if len(page) == 0 {
				break
			}
			got = append(got, page...)
			after = page[len(page)-1].Position()
		}
		if ids(got) != strings.Join(want, " ") {
			t.Errorf("in pages of %d: %s", limit, ids(got))
		}
	}
}

func TestListRuns_leavesProgressOut(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"))
	want := queued("ada", "1", noon)
	saveRuns(t, s, want)
	want.Progress = nil
	got, err := s.ListRuns(t.Context(), "ada", runs.Position{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]runs.Record{want}, got); diff != "" {
		t.Error(diff)
	}
	for _, limit := range []int{0, -1} {
		if got, err := s.ListRuns(t.Context(), "ada", runs.Position{}, limit); err != nil || len(got) != 0 {
			t.Errorf("limit %d: %d, %v", limit, len(got), err)
		}
	}
}

func TestUnfinishedRuns(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"))
	running := queued("ada", "1", noon.Add(time.Second))
	running.State = runs.StateRunning
	saveRuns(t, s, running, queued("bob", "2", noon), ended("ada", "3", noon, noon))
	got, err := s.UnfinishedRuns(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]runs.Record{queued("bob", "2", noon), running}, got); diff != "" {
		t.Error(diff)
	}
}

func TestEndedRuns(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"))
	for i, at := range []int{3, 1, 2, 5, 4} {
		saveRuns(t, s, ended("ada", fmt.Sprint(at), noon.Add(time.Duration(i)), noon.Add(time.Duration(at)*time.Hour)))
	}
	saveRuns(t, s, queued("ada", "waits", noon.Add(-100*time.Hour)))
	for _, step := range []struct {
		before time.Duration
		limit  int
		want   string
	}{
		{time.Hour, 10, ""},
		{3*time.Hour + time.Microsecond, 10, "1 2 3"},
		{3 * time.Hour, 10, "1 2"},
		{100 * time.Hour, 2, "1 2"},
		{100 * time.Hour, 100, "1 2 3 4 5"},
		{100 * time.Hour, 0, ""},
	} {
		got, err := s.EndedRuns(t.Context(), noon.Add(step.before), step.limit)
		if err != nil || ids(got) != step.want {
			t.Errorf("before %v, %d: %q, %v, want %q", step.before, step.limit, ids(got), err, step.want)
		}
	}
}

func TestDeleteRun(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"))
	saveRuns(t, s, queued("ada", "1", noon), queued("ada", "2", noon))
	for range 2 { // the second time it is unknown, which is no error
		if err := s.DeleteRun(t.Context(), "1"); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.ListRuns(t.Context(), "ada", runs.Position{}, 10); err != nil || ids(got) != "2" {
		t.Errorf("%s, %v", ids(got), err)
	}
}

func TestRuns_manyAtOnce(t *testing.T) {
	const many, rounds = 8, 20
	s := open(t, filepath.Join(t.TempDir(), "db"))
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			for round := range rounds {
				id := fmt.Sprintf("%d-%d", i, round)
				if err := cycle(t, s, id); err != nil {
					t.Errorf("%s: %v", id, err)
				}
			}
		})
	}
	wg.Wait()
	left, err := s.ListRuns(t.Context(), "ada", runs.Position{}, many*rounds)
	if err != nil || len(left) != many*rounds/2 {
		t.Errorf("%d are left, %v", len(left), err)
	}
}

// cycle runs a run through its states, and forgets every other one.
func cycle(t *testing.T, s *Store, id string) error {
	r := queued("ada", id, noon)
	for _, state := range []runs.State{runs.StateQueued, runs.StateRunning, runs.StateEnded} {
		if r.State = state; state == runs.StateEnded {
			r.EndedAt = noon.Add(time.Minute)
		}
		if err := s.SaveRun(t.Context(), r); err != nil {
			return err
		}
		if got, err := s.Run(t.Context(), "ada", id); err != nil || got.State != state {
			return fmt.Errorf("it is %s: %w", got.State, err)
		}
	}
	if even := id[len(id)-1]%2 == 0; even {
		return s.DeleteRun(t.Context(), id)
	}
	return nil
}

// No question about runs reads all of them, or sorts.
func TestRuns_areFoundByIndex(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"))
	for query, index := range map[string]string{
		`SELECT * FROM runs WHERE owner = 'a' AND id = 'b'`:                                                               "sqlite_autoindex_runs_1",
		`SELECT * FROM runs WHERE owner = 'a' AND (created_at, id) < (1, 'b') ORDER BY created_at DESC, id DESC LIMIT 10`: "runs_of_owner",
		`SELECT * FROM runs WHERE ended_at IS NULL ORDER BY created_at, id`:                                               "runs_unfinished",
		`SELECT * FROM runs WHERE ended_at IS NOT NULL AND ended_at < 1 ORDER BY ended_at, id LIMIT 10`:                   "runs_ended",
	} {
		var id, parent, unused int
		var plan string
		if err := s.db.QueryRowContext(t.Context(), "EXPLAIN QUERY PLAN "+query).Scan(&id, &parent, &unused, &plan); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(plan, index) {
			t.Errorf("%s: %s", query, plan)
		}
	}
}
