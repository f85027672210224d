package testresults

import "slices"

const (
	maxFailures = 100     // kept; more are counted
	maxName     = 512     // bytes of a test's name, and of a file's
	maxMessage  = 4 << 10 // bytes of a failure's message
)

// Results are what a run's tests came to.
type Results struct {
	Framework  string    `json:"framework"` // several: "jest+mocha"
	Passed     int       `json:"passed"`
	Failed     int       `json:"failed"`
	Skipped    int       `json:"skipped"`
	Todo       int       `json:"todo"`
	Total      int       `json:"total"`
	DurationMS float64   `json:"durationMs"`
	Failures   []Failure `json:"failures"` // the first 100; never nil
}

// Failure is one test that failed, or something else that is wrong with a run,
// as a test file that could not be loaded.
type Failure struct {
	Name    string `json:"name"` // with its suites: "calculator > division > refuses zero"
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"` // 0: not known
	Message string `json:"message"`
}

// Disagrees reports whether an exit code and the results contradict each other:
// a success with failures, or a failure without any. No results disagree with
// nothing.
func (r *Results) Disagrees(exitCode int) bool {
	if r == nil {
		return false
	}
	failed := r.Failed > 0 || len(r.Failures) > 0
	return failed != (exitCode != 0)
}

// add counts other in.
func (r *Results) add(other *Results) {
	r.Passed += other.Passed
	r.Failed += other.Failed
	r.Skipped += other.Skipped
	r.Todo += other.Todo
	r.Total += other.Total
	r.DurationMS += other.DurationMS
	for _, failure := range other.Failures {
		r.fail(failure)
	}
}

// fail lists a failure, if it is new and there is room.
func (r *Results) fail(failure Failure) {
	if len(r.Failures) < maxFailures && !slices.Contains(r.Failures, failure) {
		r.Failures = append(r.Failures, failure)
	}
}

// outcome is how one test ended.
type outcome int

const (
	passed outcome = iota
	failed
	skipped
	todo
)

// count counts n tests that ended alike; a negative n takes them back.
func (r *Results) count(o outcome, n int) {
	switch o {
	case passed:
		r.Passed += n
	case failed:
		r.Failed += n
	case skipped:
		r.Skipped += n
	case todo:
		r.Todo += n
	}
	r.Total += n
}
