package runs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

// A watcher reads one phase's events into the log.
type watcher struct {
	run   *run
	phase phase
	shown string // the command
	seen  int64  // number of the sandbox's event up to which the log has them

	exit *sandboxclient.Exit
	err  error // we failed
}

// read reads to the phase's end, or to what keeps from it.
func (w *watcher) read(ctx context.Context, begun bool) {
	for e, err := range w.open(ctx, begun) {
		if err == nil {
			err = w.take(e)
		}
		if err != nil {
			w.err = err
			return
		}
	}
	if w.exit == nil {
		w.err = sandboxclient.Errorf(sandboxclient.CodeUnavailable, "The end of the %s phase was not told", w.phase.name)
	}
}

// take writes one of the sandbox's events into the log.
func (w *watcher) take(e sandboxclient.Event) error {
	source := w.phase.source(e.Seq)
	switch e.Type {
	case wire.EventStdout, wire.EventStderr:
		return w.takeOutput(source, e)
	case wire.EventComplete:
		return w.takeEnd(source, plausible(*e.Exit))
	case wire.EventError:
		return sandboxclient.Errorf(sandboxclient.Code(e.Code), "%s", e.Message)
	}
	if e.Seq <= w.seen {
		return nil
	}
	if w.run.full() {
		return w.run.tellTruncated(source)
	}
	switch e.Type {
	case wire.EventStart:
		w.run.testing = now()
		return w.run.note(source, phaseEvent{
			head: newHead(eventPhase, now()), Phase: w.phase.name, State: phaseStarted, Command: w.shown,
		})
	case wire.EventWarning:
		return w.takeWarning(source, e)
	case wire.EventGap:
		w.run.truncate()
		return w.run.warn(source, outputLost, fmt.Sprintf(
			"%d bytes of output came faster than they were read, or while the gateway was away, and are lost", e.Gap.Bytes))
	}
	return nil
}

func (w *watcher) takeOutput(source int64, e sandboxclient.Event) error {
	if w.phase.keep != nil {
		w.phase.keep(e.Type, e.Data)
	}
	shown := e.Type != w.phase.hidden
	if shown && e.Type == wire.EventStderr && w.phase.shows != nil {
		e.Data = w.phase.shows(e.Data)
		shown = len(e.Data) > 0
	}
	if e.Seq <= w.seen || !shown {
		return nil
	}
	return w.run.print(source, e)
}

// printLast shows what was held back of stderr, now that nothing follows.
func (w *watcher) printLast(source int64) error {
	if w.phase.last == nil {
		return nil
	}
	rest := w.phase.last()
	if len(rest) == 0 {
		return nil
	}
	return w.run.print(source, sandboxclient.Event{Type: wire.EventStderr, Time: now(), Data: rest})
}

func (w *watcher) takeWarning(source int64, e sandboxclient.Event) error {
	if e.Code == outputTruncated {
		return w.run.tellTruncated(source)
	}
	return w.run.warn(source, e.Code, e.Message)
}

// maxSignal is more than the longest name of a signal.
const maxSignal = 32

// plausible makes of what a sandbox says of an end what can be said of one: a
// last event that is too long for the log would never be told.
func plausible(exit sandboxclient.Exit) sandboxclient.Exit {
	switch exit.Status {
	case sandboxclient.StatusExited, sandboxclient.StatusSignaled, sandboxclient.StatusTimedOut,
		sandboxclient.StatusOOMKilled, sandboxclient.StatusOutputLimited, sandboxclient.StatusCanceled:
	default:
		exit.Status = sandboxclient.StatusSignaled
	}
	exit.Signal = strings.ToValidUTF8(exit.Signal[:min(len(exit.Signal), maxSignal)], "")
	return exit
}

// takeEnd tells the end of the phase, and what it means.
func (w *watcher) takeEnd(source int64, exit sandboxclient.Exit) error {
	w.exit = &exit
	if exit.Truncated {
		w.run.truncate()
	}
	var say report
	var failure error
	if w.stopped(errDidNotExit) {
		exit.Status = sandboxclient.StatusTimedOut
		say.warn("did_not_exit", "The tests printed their summary, but for %s the program neither ended nor did anything, and was ended; "+
			"something keeps it alive: a server, a timer or a connection that is not closed", w.run.engine.opts.ExitGrace)
	} else if w.phase.ended != nil && exit.Status != sandboxclient.StatusCanceled {
		say, failure = w.phase.ended(exit)
	}
	// Whoever takes the run up again after these lines has the end still to come.
	if err := w.printLast(source - 1); err != nil {
		return err
	}
	for _, warning := range say.warnings {
		if err := w.run.warn(source-1, warning.Code, warning.Message); err != nil {
			return err
		}
	}
	return errors.Join(w.tellEnd(source, exit, say), failure)
}

func (w *watcher) tellEnd(source int64, exit sandboxclient.Exit, say report) error {
	if say.commit != "" {
		w.run.mark(func(s *Summary) { s.Commit = say.commit })
	}
	e := phaseEvent{
		head: newHead(eventPhase, now()), Phase: w.phase.name, State: phaseEnded,
		DurationMS: &exit.DurationMS, ExitCode: &exit.ExitCode, Signal: exit.Signal, Commit: say.commit,
	}
	if exit.Status != sandboxclient.StatusExited {
		e.Status = string(exit.Status)
	}
	if err := w.run.note(source, e); err != nil {
		return err
	}
	return w.run.events.Sync() // what has been done need not be done again
}

// stopped says whether the phase was ended for this reason.
func (w *watcher) stopped(cause error) bool {
	return w.exit.Status == sandboxclient.StatusCanceled && errors.Is(context.Cause(w.run.ctx), cause)
}

// verdict is what the phase came to. A program that ended by itself just before
// it was canceled has ended by itself.
func (w *watcher) verdict() verdict {
	if w.err != nil || w.exit == nil {
		return w.run.cut(w.phase.name, w.err)
	}
	return verdict{phase: w.phase.name, exit: w.exit}
}
