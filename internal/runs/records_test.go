package runs

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"sandgate/sandboxclient"
)

func (w *world) SaveRun(_ context.Context, r Record) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.saveErr != nil {
		return w.saveErr
	}
	if before, ok := w.records[r.ID]; ok {
		r.Owner, r.CreatedAt = before.Owner, before.CreatedAt
	}
	w.records[r.ID] = r
	return nil
}

// failSaves makes the database fail.
func (w *world) failSaves(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.saveErr = err
}

func (w *world) Run(_ context.Context, owner, id string) (Record, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r, ok := w.records[id]
	if !ok || r.Owner != owner {
		return Record{}, sandboxclient.Errorf(sandboxclient.CodeNotFound, "There is no such run")
	}
	return r, nil
}

// record is what the database has of a run.
func (w *world) record(id string) Record {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.records[id]
}

func anyRecord(Record) bool { return true }

// sorted gives the records that a test keeps, oldest first.
func (w *world) sorted(keep func(Record) bool) []Record {
	w.mu.Lock()
	defer w.mu.Unlock()
	kept := slices.Collect(maps.Values(w.records))
	kept = slices.DeleteFunc(kept, func(r Record) bool { return !keep(r) })
	slices.SortFunc(kept, func(a, b Record) int {
		if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return kept
}

func (w *world) ListRuns(_ context.Context, owner string, after Position, limit int) ([]Record, error) {
	all := w.sorted(func(r Record) bool { return r.Owner == owner })
	slices.Reverse(all)
	if after.ID != "" {
		at := slices.IndexFunc(all, func(r Record) bool { return r.ID == after.ID })
		all = all[at+1:]
	}
	return all[:min(limit, len(all))], nil
}

func (w *world) UnfinishedRuns(context.Context) ([]Record, error) {
	return w.sorted(func(r Record) bool { return r.State != StateEnded }), nil
}

func (w *world) EndedRuns(_ context.Context, before time.Time, limit int) ([]Record, error) {
	all := w.sorted(func(r Record) bool { return r.State == StateEnded && r.EndedAt.Before(before) })
	return all[:min(limit, len(all))], nil
}

func (w *world) DeleteRun(_ context.Context, id string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.records, id)
	return nil
}

func (w *world) KnowsRun(_ context.Context, id string) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, ok := w.records[id]
	return ok, nil
}
