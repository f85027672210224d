package backups

import (
	"context"
	"errors"
	"iter"
	"strings"
	"time"

	"sandgate/internal/objects"
)

const (
	batch          = 100
	expireEvery    = time.Minute
	reconcileEvery = time.Hour
)

// Reap deletes backups that have expired, objects that no record leads to and
// records whose object is gone, until ctx ends.
func (e *Engine) Reap(ctx context.Context) {
	expire := time.NewTicker(expireEvery)
	defer expire.Stop()
	reconcile := time.NewTicker(reconcileEvery)
	defer reconcile.Stop()
	e.Expire(ctx)
	e.Reconcile(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-expire.C:
			e.Expire(ctx)
		case <-reconcile.C:
			e.Reconcile(ctx)
		}
	}
}

// Expire deletes what has been kept for as long as was asked.
func (e *Engine) Expire(ctx context.Context) {
	for {
		expired, err := e.opts.Retention.ExpiredBackups(ctx, time.Now(), batch)
		if err != nil {
			e.complain(ctx, "expired backups cannot be listed", err)
			return
		}
		for _, b := range expired {
			// Its owner may have deleted it meanwhile.
			if err := e.Delete(ctx, b.Owner, b.ID); err != nil && !errors.Is(err, ErrNotFound) {
				e.complain(ctx, "expired backup was not deleted", err)
				return
			}
		}
		if len(expired) < batch {
			return
		}
	}
}

// Reconcile makes records and objects agree.
func (e *Engine) Reconcile(ctx context.Context) {
	kept, err := e.sweepObjects(ctx)
	if err == nil {
		err = e.sweepRecords(ctx, kept)
	}
	if err != nil {
		e.complain(ctx, "backups and their objects could not be compared", err)
	}
}

// sweepObjects deletes objects without a record, and gives the backups of the others.
func (e *Engine) sweepObjects(ctx context.Context) (map[string]bool, error) {
	kept := make(map[string]bool)
	for info, err := range e.opts.Objects.List(ctx, objectsPrefix) {
		if err != nil {
			return nil, err
		}
		id := strings.TrimPrefix(info.Key, objectsPrefix)
		making := e.isMaking(id) // asked first: it is made no longer once it is known
		known, err := e.opts.Retention.KnowsBackup(ctx, id)
		if err != nil {
			return nil, err
		}
		if kept[id] = true; known || making {
			continue
		}
		if err := e.deleteOrphan(ctx, info); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

func (e *Engine) deleteOrphan(ctx context.Context, info objects.Info) error {
	e.opts.Logger.Info("object of a backup that there is not is removed", "bytes", info.Size)
	return e.opts.Objects.Delete(ctx, info.Key)
}

// errNoneThere keeps the records of a store that has lost everything but what marks
// it: perhaps a folder was moved away, or a copy of the store did not come to its end.
// Were they forgotten, the next start would take the objects for orphans. Who knows
// better has them forgotten with Forget.
var errNoneThere = errors.New("the object store has no backup at all, though there are records of some: " +
	"put them back or, if they are gone for good, stop the gateway and have gateway objects claim forget them")

// sweepRecords deletes records of backups that have no object.
func (e *Engine) sweepRecords(ctx context.Context, kept map[string]bool) error {
	old := time.Now().Add(-time.Hour) // what is younger may have come after the objects were listed
	for b, err := range e.withoutObject(ctx, kept) {
		switch {
		case err != nil:
			return err
		case b.CreatedAt.After(old):
			continue
		case len(kept) == 0:
			return errNoneThere
		}
		if err := e.forget(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// Forget deletes every record whose object is not there, and says how many there
// were: of those who say that the objects are gone no proof is asked. No backup may
// be made meanwhile.
func (e *Engine) Forget(ctx context.Context) (int, error) {
	kept := make(map[string]bool)
	for info, err := range e.opts.Objects.List(ctx, objectsPrefix) {
		if err != nil {
			return 0, err
		}
		kept[strings.TrimPrefix(info.Key, objectsPrefix)] = true
	}
	forgotten := 0
	for b, err := range e.withoutObject(ctx, kept) {
		if err == nil {
			err = e.forget(ctx, b)
		}
		if err != nil {
			return forgotten, err
		}
		forgotten++
	}
	return forgotten, nil
}

func (e *Engine) forget(ctx context.Context, b Backup) error {
	e.opts.Logger.Error("backup is forgotten, since its object is gone", "backup", b.ID)
	return e.opts.Records.DeleteBackup(ctx, b.Owner, b.ID)
}

// withoutObject gives the recorded backups that are not among those kept.
func (e *Engine) withoutObject(ctx context.Context, kept map[string]bool) iter.Seq2[Backup, error] {
	return func(yield func(Backup, error) bool) {
		for last := ""; ; {
			records, err := e.opts.Retention.BackupsAfter(ctx, last, batch)
			if err != nil {
				yield(Backup{}, err)
				return
			}
			for _, b := range records {
				if last = b.ID; !kept[b.ID] && !yield(b, nil) {
					return
				}
			}
			if len(records) < batch {
				return
			}
		}
	}
}

// complain tells the operator what failed, unless it was told to end.
func (e *Engine) complain(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		e.opts.Logger.Error(what, "error", err)
	}
}
