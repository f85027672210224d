package runs

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sandgate/internal/runlog"
	"sandgate/sandboxclient"
)

// Resume takes up again what an earlier gateway left: runs at work go on in
// their sandboxes, where these were taken over, those that waited wait again,
// and what can do neither ends with an error that says why. Call it once,
// before the first Start.
func (e *Engine) Resume(ctx context.Context) error {
	records, err := e.opts.Records.UnfinishedRuns(ctx)
	if err != nil {
		return err
	}
	for _, rec := range records {
		if err := e.resume(rec); err != nil {
			e.opts.Logger.Error("run cannot be taken up again", "run", rec.ID, "error", err)
		}
	}
	return e.storeLeftLogs(ctx)
}

// Unfinished gives the ids of runs whose sandboxes are wanted, by owner.
func Unfinished(ctx context.Context, records Records) (map[sandboxclient.Ref]bool, error) {
	unfinished, err := records.UnfinishedRuns(ctx)
	if err != nil {
		return nil, err
	}
	wanted := make(map[sandboxclient.Ref]bool)
	for _, rec := range unfinished {
		wanted[Ref(rec.Owner, rec.ID)] = true
	}
	return wanted, nil
}

// Ref names a run's sandbox.
func Ref(owner, id string) sandboxclient.Ref {
	return sandboxclient.Ref{Owner: owner, App: App, Name: id, Ephemeral: true}
}

// resume takes one run up again.
func (e *Engine) resume(rec Record) error {
	log, err := e.reopen(rec.ID)
	if err != nil {
		return err
	}
	r := e.newRun(rec.Owner, rec.ID, log)
	err = r.restore(rec)
	if err == nil {
		err = r.recall()
	}
	if err != nil {
		return errors.Join(err, log.Close())
	}
	if log.Ended() {
		r.state = StateEnded
		return e.launch(r, r.leave)
	}
	r.checkSurvived()
	turn := e.turns.rejoin(r.state == StateRunning)
	return e.launch(r, func() { r.toTheEnd(turn) })
}

// leave ends what a run had in hand when it had told its end.
func (r *run) leave() {
	r.destroy()
	r.putAway()
}

// reopen opens a run's log, or makes an empty one in place of one that is gone,
// so that viewers can be told.
func (e *Engine) reopen(id string) (*runlog.Log, error) {
	log, err := runlog.Open(e.logPath(id))
	if errors.Is(err, fs.ErrNotExist) {
		return runlog.Create(e.logPath(id))
	}
	return log, err
}

// restore reads what the record keeps.
func (r *run) restore(rec Record) error {
	s, err := rec.summary()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(rec.Progress, &r.promise); err != nil {
		return err
	}
	r.state, r.summary = rec.State, s
	r.source = sandboxclient.Checkout{
		Repository: s.Repository, Ref: r.promise.Ref, Dir: appDir, Depth: 1,
		Submodules: r.promise.Submodules, LFS: r.promise.LFS,
	}
	_, host, port, err := authority(s.Repository)
	if err != nil {
		return err
	}
	r.source.AllowHTTP = r.engine.opts.Egress.PrivateAllowed(host, port)
	return nil
}

// checkSurvived ends a run that cannot go on.
func (r *run) checkSurvived() {
	seq, _ := r.events.Last()
	switch {
	case seq == 0:
		r.end(lost("The log of this run was lost with the gateway"))
	case !r.past.begun() && r.promise.Secret:
		r.end(lost("The gateway was restarted before the repository was cloned, and credentials are not kept over a restart: start the run again"))
	case r.past.begun() && !r.past.over() && !r.sandbox.Running():
		r.end(lost("The sandbox of this run did not survive the restart of the gateway"))
	}
}

func lost(message string) error {
	return &sandboxclient.Error{Code: sandboxclient.CodeUnavailable, Message: message}
}

// storeLeftLogs makes objects of logs whose runs have ended, and removes those
// of which there is no record.
func (e *Engine) storeLeftLogs(ctx context.Context) error {
	paths, err := filepath.Glob(filepath.Join(e.opts.Dir, "*.log"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		id := strings.TrimSuffix(filepath.Base(path), ".log")
		if e.works(id) {
			continue
		}
		if err := e.storeLeftLog(ctx, id); err != nil {
			e.opts.Logger.Error("log of a run that has ended was not put away", "run", id, "error", err)
		}
	}
	return nil
}

func (e *Engine) storeLeftLog(ctx context.Context, id string) error {
	known, err := e.opts.Retention.KnowsRun(ctx, id)
	if err != nil {
		return err
	}
	if !known {
		return os.Remove(e.logPath(id))
	}
	log, err := runlog.Open(e.logPath(id))
	if err != nil {
		return err
	}
	return errors.Join(e.storeLog(id, log), log.Close())
}
