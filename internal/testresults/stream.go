package testresults

import "strings"

// A step is what a line means for a run as a whole.
type step int

const (
	nothing  step = iota
	began         // tests begin
	finished      // their totals are known
)

// A recogniser reads the lines that one framework prints, among all others.
type recogniser interface {
	line(text string) step
	// end tells that no line follows.
	end()
	// tallies gives what was read so far; it is called at any time.
	tallies() []tally
}

// A stream is one of a run's two.
type stream struct {
	lines       lines
	reports     embedded
	recognisers []recogniser
}

func newStream() *stream {
	return &stream{reports: embedded{found: make(byFramework)}, recognisers: []recogniser{
		newTAP(), newNodeSpec(), newMocha(), newJest(), newVitest(),
	}}
}

func (s *stream) write(data []byte, note func(step)) {
	s.lines.write(data, func(p piece) { s.take(p, note) })
}

func (s *stream) end(note func(step)) {
	s.lines.end(func(p piece) { s.take(p, note) })
	for _, r := range s.recognisers {
		r.end()
	}
}

// take shows a line to all. The rest of an overlong one can only belong to a
// report.
func (s *stream) take(p piece, note func(step)) {
	note(s.reports.take(p))
	if !p.first {
		return
	}
	text := strings.ToValidUTF8(p.text, "\uFFFD")
	if scriptHeader(text) {
		note(began)
	}
	for _, r := range s.recognisers {
		note(r.line(text))
	}
}

// scriptHeader recognises what npm prints before each script: "> app@1.0.0 test".
func scriptHeader(text string) bool {
	script, ok := strings.CutPrefix(text, "> ")
	return ok && strings.Contains(script, "@") && strings.Count(script, " ") == 1
}

func (s *stream) tallies() []tally {
	var all []tally
	for _, r := range s.recognisers {
		all = append(all, r.tallies()...)
	}
	return all
}
