package runs

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"sandgate/sandboxclient"
)

const (
	appDir  = sandboxclient.WorkspaceDir + "/app"
	homeDir = sandboxclient.WorkspaceDir + "/.home"

	// cancelGrace is what a program gets to end, and sandboxd to say so, when
	// its run is canceled.
	cancelGrace = 10 * time.Second

	// sourceBits are those of an event's source that hold the number of the
	// sandbox's event; above them is the place of its phase.
	sourceBits = 40
)

// A phase is one execution in the run's sandbox.
type phase struct {
	name  string
	place int64 // 1 for the first
	// command gives what to run, and what the events call it.
	command func(context.Context) (cmd sandboxclient.Command, shown string, err error)
	// act does a phase that is no program in the sandbox, and shown is what the
	// events call it.
	act   func(context.Context) (outcome, error)
	shown string
	// unneeded says that the phase can be left out; nil: never.
	unneeded func(context.Context) (bool, error)
	// keep is given all output, shown or not.
	keep func(stream string, data []byte)
	// hidden is the stream that is not shown; empty: none.
	hidden string
	// shows gives what may be shown of a piece of stderr, and last what it held
	// back; nil: all of it is shown as it comes.
	shows func(data []byte) []byte
	last  func() []byte
	// ended tells what an end means: what to add to the phase's last event, and
	// a failure of ours; nil: every end is the program's own.
	ended func(sandboxclient.Exit) (report, error)
}

// A report is what a phase has to say in the end.
type report struct {
	commit   string
	warnings []sandboxclient.CheckoutWarning
}

func (r *report) warn(code, format string, args ...any) {
	r.warnings = append(r.warnings, sandboxclient.CheckoutWarning{Code: code, Message: fmt.Sprintf(format, args...)})
}

// phases gives the phases of a run in their order.
func (r *run) phases() []phase {
	first, install := r.clonePhase(), r.installPhase()
	if r.promise.Restore != "" {
		first, install.unneeded = r.restorePhase(), r.installed
	}
	switch {
	case r.promise.Command != "":
		return []phase{first, r.commandPhase()}
	case r.promise.Backup != nil:
		return []phase{first, install, r.backupPhase(), r.testPhase()}
	}
	return []phase{first, install, r.testPhase()}
}

// skips says whether a phase is left out.
func (r *run) skips(p phase) (bool, error) {
	if p.unneeded == nil || r.past.of(p).begun || r.ctx.Err() != nil {
		return false, nil
	}
	return p.unneeded(r.ctx)
}

func (p phase) source(seq int64) int64 { return p.place<<sourceBits | seq }

// execution is the id of a run's phase as an execution.
func (r *run) execution(p phase) string { return r.id + "-" + p.name }

// do does a phase, or what a restart of the gateway left of it, and gives the
// verdict on it.
func (r *run) do(p phase) verdict {
	before := r.past.of(p)
	switch {
	case before.exit != nil:
		return r.past.verdict(p)
	case r.ctx.Err() != nil:
		return r.cut(p.name, nil)
	case time.Until(r.deadline()) <= 0:
		return verdict{phase: p.name, overdue: true}
	case p.place > 1 && !r.sandbox.Running(): // another one would have no repository
		return r.cut(p.name, lost("The sandbox of this run ended before the "+p.name+" phase"))
	}
	if p.act != nil {
		return r.doItself(p, before.begun)
	}
	r.mark(func(s *Summary) { s.Phase = p.name })
	w := &watcher{run: r, phase: p, seen: before.seen}
	ctx, stop := r.reading(p)
	defer stop()
	w.read(ctx, before.begun)
	return w.verdict()
}

// reading gives the context that a phase's events are read with. It outlasts
// the run's own by a grace, in which the end of the program is awaited.
func (r *run) reading(p phase) (context.Context, func()) {
	ctx, leave := context.WithCancelCause(context.WithoutCancel(r.ctx))
	unhook := context.AfterFunc(r.ctx, func() { // ends with ctx, at the latest
		cause := context.Cause(r.ctx)
		defer leave(cause)
		if errors.Is(cause, errStopping) {
			return
		}
		grace, cancel := context.WithTimeout(ctx, cancelGrace)
		defer cancel()
		if r.engine.opts.Executions.CancelExecution(grace, r.owner, r.execution(p)) == nil {
			<-grace.Done()
		}
	})
	return ctx, func() { unhook(); leave(nil) }
}

// open gives the events of a phase: those of the execution that there is, or of
// a new one. With begun its first events are in the log.
func (w *watcher) open(ctx context.Context, begun bool) iter.Seq2[sandboxclient.Event, error] {
	r, p := w.run, w.phase
	id := r.execution(p)
	if begun {
		return r.follow(ctx, id, w.seen, p.hidden != "")
	}
	cmd, shown, err := p.command(ctx)
	if err != nil {
		return failed(err)
	}
	w.shown = shown
	if r.past.resumed && r.exists(ctx, id) {
		return r.follow(ctx, id, 0, true)
	}
	return r.sandbox.ExecStream(ctx, r.bound(cmd, id))
}

// follow gives the events of an execution that there is. What was not shown is
// not in the log, and is read again from the beginning.
func (r *run) follow(ctx context.Context, id string, seen int64, whole bool) iter.Seq2[sandboxclient.Event, error] {
	if whole {
		seen = 0
	}
	return r.engine.opts.Executions.FollowExecution(ctx, r.owner, id, seen)
}

// exists says whether the sandbox knows of an execution.
func (r *run) exists(ctx context.Context, id string) bool {
	_, err := r.engine.opts.Executions.Execution(ctx, r.owner, id)
	return err == nil
}

// bound gives a command its id and the bounds of the run.
func (r *run) bound(cmd sandboxclient.Command, id string) sandboxclient.Command {
	left := time.Until(r.deadline())
	if cmd.Timeout <= 0 || cmd.Timeout > left {
		cmd.Timeout = max(left, time.Millisecond)
	}
	cmd.Execution, cmd.Keep = id, max(r.room(), 1)
	return cmd
}

func failed(err error) iter.Seq2[sandboxclient.Event, error] {
	return func(yield func(sandboxclient.Event, error) bool) { yield(sandboxclient.Event{}, err) }
}
