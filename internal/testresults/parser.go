package testresults

import (
	"maps"
	"slices"
	"strings"
)

// A Parser recognises test results in a run's output. It is not safe for
// concurrent use.
type Parser struct {
	stdout, stderr *stream
	reports        byFramework // found in files
	done           bool
}

// NewParser gives one that has seen nothing.
func NewParser() *Parser {
	return &Parser{stdout: newStream(), stderr: newStream(), reports: make(byFramework)}
}

// Write takes a piece of one stream, "stdout" or "stderr", cut anywhere.
func (p *Parser) Write(stream string, data []byte) {
	p.stream(stream).write(data, p.note)
}

func (p *Parser) stream(name string) *stream {
	if name == "stderr" {
		return p.stderr
	}
	return p.stdout
}

// Close tells that nothing more will be printed. What is unfinished then, as
// TAP that did not keep its plan, counts as broken off.
func (p *Parser) Close() {
	p.stdout.end(p.note)
	p.stderr.end(p.note)
}

func (p *Parser) note(s step) {
	switch s {
	case began:
		p.done = false
	case finished:
		p.done = true
	}
}

// Done reports whether a summary was printed and no further tests were begun
// since. What follows a summary, as a list of failures, is still read.
func (p *Parser) Done() bool {
	return p.done
}

// AddReport counts a report of the same run that was found in a file. It may be
// nil. Of several by one framework the first counts: they tell of the same tests.
func (p *Parser) AddReport(report *Results) {
	if report != nil && p.reports[report.Framework] == nil {
		p.reports.add(report)
	}
}

// Summary gives what was recognised so far, and whether anything was.
func (p *Parser) Summary() (*Results, bool) {
	found := p.printed()
	embedded := make(byFramework)
	for _, s := range []*stream{p.stdout, p.stderr} {
		for _, report := range s.reports.found {
			embedded.add(report)
		}
	}
	maps.Copy(found, embedded)
	maps.Copy(found, p.reports)
	return found.sum()
}

// printed gives what the frameworks told people, on both streams: one may have
// the totals and the other the failures.
func (p *Parser) printed() byFramework {
	found, totalled := make(byFramework), make(map[string]bool)
	for _, s := range []*stream{p.stdout, p.stderr} {
		for _, t := range s.tallies() {
			found.add(&t.Results)
			totalled[t.Framework] = totalled[t.Framework] || t.totalled
		}
	}
	maps.DeleteFunc(found, func(name string, _ *Results) bool { return !totalled[name] })
	return found
}

// byFramework keeps results apart by who told them.
type byFramework map[string]*Results

func (f byFramework) add(r *Results) {
	if f[r.Framework] == nil {
		f[r.Framework] = &Results{Framework: r.Framework, Failures: []Failure{}}
	}
	f[r.Framework].add(r)
}

// sum adds all up.
func (f byFramework) sum() (*Results, bool) {
	if len(f) > 1 {
		delete(f, anyJUnit)
	}
	if len(f) == 0 {
		return nil, false
	}
	names := slices.Sorted(maps.Keys(f))
	sum := &Results{Framework: strings.Join(names, "+"), Failures: []Failure{}}
	for _, name := range names {
		sum.add(f[name])
	}
	return sum, true
}
