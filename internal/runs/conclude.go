package runs

import (
	"context"
	"os"
	"time"

	"sandgate/internal/runlog"
	"sandgate/sandboxclient"
)

const (
	destroyTime = 30 * time.Second
	putAwayTime = 5 * time.Minute
	// retryEvery is how long something that has to be done, and failed, is let be.
	retryEvery = 5 * time.Second
	// maxTerminal leaves room in the log's longest event.
	maxTerminal = 960 << 10
)

// conclude reads what a run left, tells its end and ends its sandbox. It says
// whether the end was told: on a log that cannot be written, the next gateway
// tells it.
func (r *run) conclude(v verdict) bool {
	s := r.snapshot()
	v.apply(&s)
	r.tests.stop()
	if v.exit != nil && v.err == nil && !v.canceled && v.phase == PhaseTest {
		r.gather(&s)
	}
	if v.err != nil && v.err.Code == sandboxclient.CodeNoSpace {
		r.destroy() // what it gives back may be what the end needs
	}
	ended := r.tellTerminal(s)
	r.tellLog(v, s)
	r.destroy()
	return ended
}

// gather reads results and artifacts while they are there.
func (r *run) gather(s *Summary) {
	ctx, cancel := context.WithTimeout(r.engine.ctx, gatherTime)
	defer cancel()
	s.Results = r.readResults(ctx)
	s.Artifacts = r.saveArtifacts(ctx)
	s.ResultsDisagree = s.ExitCode != nil && s.Results.Disagrees(*s.ExitCode)
}

// tellTerminal adds the last event, however long that takes.
func (r *run) tellTerminal(s Summary) bool {
	event := fit(&s)
	for {
		err := r.tryEnd(event, s)
		if err == nil {
			return true
		}
		r.engine.opts.Logger.Error("the end of a run could not be told", "run", r.id, "error", err)
		if !r.engine.pause(retryEvery) {
			return false
		}
	}
}

// tryEnd ends the log, and the run with it: who has read the last event finds
// no other summary any more.
func (r *run) tryEnd(event []byte, s Summary) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.events.End(0, event); err != nil {
		return err
	}
	r.state, r.summary = StateEnded, s
	return nil
}

// fit gives the last event, with no more failures than it has room for.
func fit(s *Summary) []byte {
	for {
		event := terminal(*s)
		if len(event) <= maxTerminal || s.Results == nil || len(s.Results.Failures) == 0 {
			return event
		}
		fewer := *s.Results
		fewer.Failures = fewer.Failures[:len(fewer.Failures)/2]
		s.Results = &fewer
	}
}

// destroy ends the sandbox, and what it has on disk. When the gateway stops,
// that is done with all others.
func (r *run) destroy() {
	if r.engine.ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), destroyTime)
	defer cancel()
	if err := r.sandbox.Destroy(ctx, sandboxclient.RemoveWorkspace); err != nil {
		r.engine.opts.Logger.Error("sandbox of a run was not destroyed", "run", r.id, "error", err)
	}
}

// putAway makes a record and an object of a run that has ended. What cannot be
// done before the gateway stops is done by the next one.
func (r *run) putAway() {
	for {
		err := r.tryPutAway()
		if err == nil {
			return
		}
		if r.engine.ctx.Err() != nil {
			return
		}
		r.engine.opts.Logger.Error("a run could not be put away", "run", r.id, "error", err)
		if !r.engine.pause(retryEvery) {
			return
		}
	}
}

func (r *run) tryPutAway() error {
	ctx, cancel := context.WithTimeout(context.Background(), saveTime)
	defer cancel()
	if err := r.save(ctx); err != nil {
		return err
	}
	return r.engine.storeLog(r.id, r.events)
}

// storeLog makes an object of a log that has ended, and removes its file.
func (e *Engine) storeLog(id string, log *runlog.Log) error {
	ctx, cancel := context.WithTimeout(e.ctx, putAwayTime)
	defer cancel()
	if _, err := e.opts.Objects.Put(ctx, logKey(id), log.Content()); err != nil {
		return err
	}
	return os.Remove(e.logPath(id))
}

// pause waits; false when the engine stops meanwhile.
func (e *Engine) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-e.ctx.Done():
		return false
	}
}

func objectPrefix(id string) string { return "runs/" + id + "/" }

func logKey(id string) string { return objectPrefix(id) + "log" }
