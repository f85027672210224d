package runs

import (
	"context"
	"strings"
	"time"
)

const (
	expireBatch    = 100
	reconcileEvery = time.Hour
)

// Reap forgets runs that ended longer ago than Options.KeepFor, with their objects,
// and objects that no record leads to, until ctx ends.
func (e *Engine) Reap(ctx context.Context) {
	expire := time.NewTicker(min(max(e.opts.KeepFor/10, time.Second), 10*time.Minute))
	defer expire.Stop()
	reconcile := time.NewTicker(reconcileEvery)
	defer reconcile.Stop()
	e.reconcile(ctx)
	e.expire(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-expire.C:
			e.expire(ctx)
		case <-reconcile.C:
			e.reconcile(ctx)
		}
	}
}

// expire forgets what has been kept long enough.
func (e *Engine) expire(ctx context.Context) {
	for {
		records, err := e.opts.Retention.EndedRuns(ctx, time.Now().Add(-e.opts.KeepFor), expireBatch)
		if err != nil {
			e.complain(ctx, "runs that are to be forgotten cannot be listed", err)
			return
		}
		if forgotten := e.forgetAll(ctx, records); forgotten == 0 || len(records) < expireBatch {
			return
		}
	}
}

// forgetAll deletes runs and counts those that are gone. One that cannot be
// deleted keeps no other.
func (e *Engine) forgetAll(ctx context.Context, records []Record) (forgotten int) {
	for _, rec := range records {
		if e.works(rec.ID) { // it has ended, and is not put away yet: another time
			continue
		}
		if err := e.delete(ctx, rec.ID); err != nil {
			e.complain(ctx, "run was not forgotten", err)
			continue
		}
		forgotten++
	}
	return forgotten
}

// delete forgets a run: its record last, so that nothing is left over that no
// record leads to.
func (e *Engine) delete(ctx context.Context, id string) error {
	if err := e.deleteObjects(ctx, id); err != nil {
		return err
	}
	return e.opts.Retention.DeleteRun(ctx, id)
}

func (e *Engine) deleteObjects(ctx context.Context, id string) error {
	for info, err := range e.opts.Objects.List(ctx, objectPrefix(id)) {
		if err != nil {
			return err
		}
		if err := e.opts.Objects.Delete(ctx, info.Key); err != nil {
			return err
		}
	}
	return nil
}

// reconcile deletes objects of runs that there are not.
func (e *Engine) reconcile(ctx context.Context) {
	last := ""
	for info, err := range e.opts.Objects.List(ctx, "runs/") {
		if err != nil {
			e.complain(ctx, "objects cannot be listed", err)
			return
		}
		id, _, _ := strings.Cut(strings.TrimPrefix(info.Key, "runs/"), "/")
		if id == last || e.works(id) {
			continue
		}
		last = id
		known, err := e.opts.Retention.KnowsRun(ctx, id)
		if err == nil && !known {
			err = e.deleteObjects(ctx, id)
		}
		if err != nil {
			e.complain(ctx, "objects of a run that there is not were not removed", err)
		}
	}
}

// complain tells the operator what failed, unless it was told to end.
func (e *Engine) complain(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		e.opts.Logger.Error(what, "error", err)
	}
}
