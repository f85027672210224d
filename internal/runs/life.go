package runs

import (
	"context"
	"errors"
	"time"

	"sandgate/sandboxclient"
)

// toTheEnd takes a run from its place in the line until it is put away. When
// the engine stops, it returns earlier and leaves the rest to the next one.
func (r *run) toTheEnd(turn *turn) {
	if r.work(turn) {
		r.putAway()
	}
}

// work takes a run from its place in the line to its last event; false when the
// engine stopped before.
func (r *run) work(turn *turn) (ended bool) {
	defer r.end(nil)
	defer turn.leave()
	err := turn.await(r.ctx, r.tellPosition)
	if errors.Is(err, errStopping) {
		return false
	}
	if err != nil {
		return r.conclude(r.cut("", err))
	}
	return r.conclude(r.carry())
}

// silentGrace is what a sandbox gets, beyond the run's time, to end its programs
// and to say so. One that keeps silent must not keep the run's turn.
const silentGrace = time.Minute

var errSilent = &sandboxclient.Error{Code: sandboxclient.CodeTimeout, Message: "The sandbox did not answer in time"}

// carry does the work of a run whose turn it is.
func (r *run) carry() verdict {
	r.begin()
	if r.ctx.Err() != nil {
		return r.cut(r.summary.Phase, nil)
	}
	watchdog := time.AfterFunc(time.Until(r.deadline())+silentGrace, func() { r.end(errSilent) })
	defer watchdog.Stop()
	if !r.past.begun() {
		if _, err := r.sandbox.MakeDir(r.ctx, homeDir); err != nil {
			return r.cut(PhaseClone, err)
		}
	}
	var last verdict
	for _, p := range r.phases() {
		unneeded, err := r.skips(p)
		if err != nil {
			return r.cut(p.name, err)
		}
		if unneeded {
			continue
		}
		if last = r.do(p); !last.passed() {
			break
		}
	}
	return last
}

// begin notes that the run's turn has come. After a restart it had come before.
func (r *run) begin() {
	r.mu.Lock()
	r.state = StateRunning
	r.mu.Unlock()
	r.mark(func(s *Summary) {
		s.Status, s.Phase = StatusRunning, orDefault(s.Phase, PhaseClone)
		if s.StartedAt == nil {
			s.StartedAt = new(now())
		}
	})
	r.engine.opts.Logger.Info("run began", "run", r.id, "app", App)
}

// A verdict is how a run ended: as its last program did, or by a failure of
// ours.
type verdict struct {
	phase    string
	exit     *sandboxclient.Exit  // of the last program; nil when none ended
	canceled bool                 // before a program could end
	overdue  bool                 // likewise
	err      *sandboxclient.Error // we failed
}

// passed says whether the next phase may begin.
func (v verdict) passed() bool {
	return v.err == nil && !v.canceled && !v.overdue &&
		v.exit.Status == sandboxclient.StatusExited && v.exit.ExitCode == 0
}

// cut is the verdict on a run that something else than a program's end ended.
func (r *run) cut(phase string, err error) verdict {
	switch cause := context.Cause(r.ctx); {
	case errors.Is(cause, errCanceled):
		return verdict{phase: phase, canceled: true}
	case errors.Is(cause, errDidNotExit):
		return verdict{phase: phase, overdue: true}
	case cause != nil:
		return verdict{phase: phase, err: public(cause)}
	}
	return verdict{phase: phase, err: public(err)}
}

// public gives an error its form for viewers.
func public(err error) *sandboxclient.Error {
	if e, ok := errors.AsType[*sandboxclient.Error](err); ok {
		return e
	}
	return &sandboxclient.Error{Code: sandboxclient.CodeInternal, Message: "The gateway failed", Err: err}
}

// apply writes the verdict into the summary, as the last word.
func (v verdict) apply(s *Summary) {
	s.Phase = v.phase
	switch {
	case v.err != nil:
		s.Status, s.Error = StatusError, &Problem{v.err.Code, problemMessage(v.err)}
	case v.canceled:
		s.Status = string(sandboxclient.StatusCanceled)
	case v.overdue:
		s.Status = string(sandboxclient.StatusTimedOut)
	default:
		s.Status, s.Signal, s.ExitCode = string(v.exit.Status), v.exit.Signal, &v.exit.ExitCode
	}
	s.EndedAt = new(now())
	if s.StartedAt != nil {
		s.DurationMS = float64(s.EndedAt.Sub(*s.StartedAt).Microseconds()) / 1000
	}
}

func problemMessage(err *sandboxclient.Error) string {
	if err.Code == sandboxclient.CodeInternal || err.Message == "" {
		return "Something went wrong on our side; the gateway's log tells more"
	}
	return err.Message
}

// tellLog tells the operator how a run ended.
func (r *run) tellLog(v verdict, s Summary) {
	attrs := []any{"run", r.id, "app", App, "status", s.Status, "phase", s.Phase, "took", time.Duration(s.DurationMS * float64(time.Millisecond))}
	if v.err != nil {
		attrs = append(attrs, "error", v.err)
	}
	r.engine.opts.Logger.Info("run ended", attrs...)
	r.engine.opts.Observe(s.Status, s.Phase, time.Duration(s.DurationMS*float64(time.Millisecond)))
}
