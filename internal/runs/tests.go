package runs

import (
	"sync"
	"time"

	"sandgate/internal/testresults"
)

// A testWatch reads what tests print: what they came to, and whether their
// program goes on living after it said so.
type testWatch struct {
	grace time.Duration
	idle  func() bool // whether nothing works in the sandbox; it takes a while
	hangs func()      // told once, when the program does not end

	mu      sync.Mutex
	parser  *testresults.Parser
	timer   *time.Timer // nil until there was a summary
	written int         // counts the pieces of output
	stopped bool
}

func newTestWatch(grace time.Duration, idle func() bool, hangs func()) *testWatch {
	return &testWatch{grace: grace, idle: idle, hangs: hangs, parser: testresults.NewParser()}
}

// write takes a piece of output. Once the summary was printed, silence for the
// grace means that the program hangs, unless something still works.
func (w *testWatch) write(stream string, data []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.parser.Write(stream, data)
	w.written++
	switch {
	case w.stopped:
	case w.timer != nil && !w.parser.Done(): // other tests have begun
		w.timer.Stop()
	case w.timer != nil:
		w.timer.Reset(w.grace)
	case w.parser.Done():
		w.timer = time.AfterFunc(w.grace, w.examine)
	}
}

// examine looks whether a program that has been silent for the grace is at work
// all the same, as one that compiles what is tested next.
func (w *testWatch) examine() {
	w.mu.Lock()
	before, stopped := w.written, w.stopped
	w.mu.Unlock()
	if stopped {
		return
	}
	idle := w.idle()
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.stopped || w.written != before: // who has printed meanwhile has a new grace
	case idle:
		w.hangs()
	default:
		w.timer.Reset(w.grace)
	}
}

// stop ends the watch; more than once is fine.
func (w *testWatch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	if w.timer != nil {
		w.timer.Stop()
	}
}

// results gives what the tests came to, with what they wrote beside it.
func (w *testWatch) results(written []*testresults.Results) *testresults.Results {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.parser.Close()
	for _, report := range written {
		w.parser.AddReport(report)
	}
	results, _ := w.parser.Summary()
	return results
}
