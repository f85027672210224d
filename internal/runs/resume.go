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
	r := e.newRun(rec.Owner, rec.ID, nil)
	damage := errors.Join(r.restore(rec), r.reopen())
	if damage != nil {
		e.opts.Logger.Error("what was kept of a run is damaged", "run", r.id, "error", damage)
		if err := r.openAnew(); err != nil {
			r.end(nil)
			return err
		}
		r.end(lost("What an earlier gateway kept of this run is damaged or gone"))
	}
	if r.events.Ended() {
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

// reopen opens the log as it was left, and reads what was done.
func (r *run) reopen() error {
	log, err := runlog.Open(r.engine.logPath(r.id))
	if err != nil {
		return err
	}
	r.events = log
	if seq, _ := log.Last(); seq == 0 {
		return errors.New("the log is empty")
	}
	return r.recall()
}

// openAnew begins another log, so that viewers can be told.
func (r *run) openAnew() error {
	if r.events != nil {
		_ = r.events.Close() // it is damaged
	}
	path := r.engine.logPath(r.id)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var err error
	if r.events, err = runlog.Create(path); err != nil {
		return err
	}
	return r.tellStart()
}

// restore reads what the record keeps.
func (r *run) restore(rec Record) error {
	r.state = rec.State
	r.summary = Summary{ID: rec.ID, CreatedAt: rec.CreatedAt, Status: StatusRunning, Artifacts: []Artifact{}}
	s, err := rec.summary()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(rec.Progress, &r.promise); err != nil {
		return err
	}
	r.summary = s
	if r.promise.Restore != "" {
		return nil // there is nothing to clone
	}
	r.source = sandboxclient.Checkout{
		Repository: s.Repository, Ref: r.promise.Ref, Dir: appDir, Depth: 1,
		Submodules: r.promise.Submodules, LFS: r.promise.LFS,
	}
	host, port, err := r.source.Address()
	if err != nil {
		return err
	}
	r.source.AllowHTTP = r.engine.opts.Egress.PrivateAllowed(host, port)
	return nil
}

// checkSurvived ends a run that cannot go on.
func (r *run) checkSurvived() {
	switch {
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
