package runs

import (
	"sandgate/internal/runlog"
	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

// past is what the log says was done before a restart of the gateway. The zero
// past is that of a run which has seen none.
type past struct {
	resumed bool
	phases  map[string]*doneBefore
	places  map[int64]int64 // by the place of a phase: number of its newest event in the log
}

// doneBefore is how far a phase had come.
type doneBefore struct {
	begun bool
	seen  int64 // number of the sandbox's event up to which the log has them
	exit  *sandboxclient.Exit
}

func (p *past) of(ph phase) doneBefore {
	var before doneBefore
	if found := p.phases[ph.name]; found != nil {
		before = *found
		before.seen = p.places[ph.place]
	}
	return before
}

// begun says whether the sandbox has been worked in.
func (p *past) begun() bool { return len(p.phases) > 0 }

// over says whether the last phase had ended, or one that let no other follow.
func (p *past) over() bool {
	test := p.phases[PhaseTest]
	if test != nil && test.exit != nil {
		return true
	}
	for _, before := range p.phases {
		if before.exit != nil && !(verdict{exit: before.exit}).passed() {
			return true
		}
	}
	return false
}

// verdict is what a phase came to that had ended before.
func (p *past) verdict(ph phase) verdict {
	v := verdict{phase: ph.name, exit: p.phases[ph.name].exit}
	if ph.name == PhaseClone && !v.passed() {
		v.err = sandboxclient.Errorf(sandboxclient.CodeUnavailable, "The repository could not be cloned")
	}
	return v
}

// recall reads the log of a run that an earlier gateway worked on.
func (r *run) recall() error {
	r.past = past{resumed: true, phases: make(map[string]*doneBefore), places: make(map[int64]int64)}
	for line, err := range runlog.Scan(r.events.Content(), 0) {
		if err != nil {
			return err
		}
		e, err := decode(line.Event)
		if err != nil {
			return err
		}
		r.recallEvent(line.Source, e)
	}
	return nil
}

func (r *run) recallEvent(source int64, e told) {
	place, seq := source>>sourceBits, source&(1<<sourceBits-1)
	if place > 0 {
		r.past.places[place] = max(r.past.places[place], seq)
	}
	switch e.Type {
	case eventPhase:
		r.recallPhase(e)
	case wire.EventStdout, wire.EventStderr:
		r.printed += int64(len(e.Data))
		if r.summary.Phase == PhaseTest {
			r.tests.write(e.Type, []byte(e.Data))
		}
	case wire.EventWarning:
		r.recallWarning(e)
	case wire.EventComplete, wire.EventError:
		r.recallEnd(e)
	}
}

func (r *run) recallPhase(e told) {
	r.summary.Phase = e.Phase
	if e.State == phaseStarted {
		r.past.phases[e.Phase] = &doneBefore{begun: true}
		r.testing = e.Timestamp
		return
	}
	before := r.past.phases[e.Phase]
	if before == nil {
		return
	}
	before.exit = &sandboxclient.Exit{Status: sandboxclient.StatusExited, Signal: e.Signal}
	if e.Status != "" {
		before.exit.Status = sandboxclient.Status(e.Status)
	}
	if e.ExitCode != nil {
		before.exit.ExitCode = *e.ExitCode
	}
	if e.Commit != "" {
		r.summary.Commit = e.Commit
	}
	if e.Backup != nil {
		r.summary.Backup = e.Backup
	}
}

func (r *run) recallWarning(e told) {
	switch e.Code {
	case outputTruncated:
		r.toldTruncated, r.printed = true, r.engine.opts.Keep
		r.summary.Truncated = true
	case outputLost:
		r.summary.Truncated = true
	}
}

// recallEnd takes the end of a run whose record was not written any more.
func (r *run) recallEnd(e told) {
	s := &r.summary
	s.EndedAt, s.Phase, s.Status = &e.Timestamp, e.Phase, e.Status
	s.ExitCode, s.Signal, s.Results, s.ResultsDisagree = e.ExitCode, e.Signal, e.Results, e.ResultsDisagree
	s.Artifacts = e.Artifacts
	if e.Type == wire.EventError {
		s.Status, s.Artifacts = StatusError, []Artifact{}
		s.Error = &Problem{e.Code, e.Message}
	}
	if e.DurationMS != nil {
		s.DurationMS = *e.DurationMS
	}
}
