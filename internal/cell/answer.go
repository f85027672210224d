package cell

import "sandgate/sandboxclient"

// Answer is a cell that has run, as every app tells it. Output and Errors hold
// nothing or one string each.
type Answer struct {
	Output         []string                 `json:"output"`
	Errors         []string                 `json:"errors"`
	Results        []sandboxclient.Result   `json:"results"`
	Error          *sandboxclient.CodeError `json:"error,omitempty"`
	Status         sandboxclient.Status     `json:"status"`
	ExitCode       int                      `json:"exitCode"` // 1 after an exception; of bash, its last command's
	Signal         string                   `json:"signal,omitempty"`
	ExecutionCount int                      `json:"executionCount"`
	DurationMS     float64                  `json:"durationMs"`
	Truncated      bool                     `json:"truncated,omitempty"`
	Background     bool                     `json:"background,omitempty"` // earlier cells' leftovers printed some of it
	KernelDied     string                   `json:"kernelDied,omitempty"` // why the variables are gone after this cell
	Start          string                   `json:"start"`
	Generation     int                      `json:"generation"`
	Restart        string                   `json:"restart,omitempty"` // why the variables were gone before this cell
}

// NewAnswer tells how a cell went.
func NewAnswer(run *sandboxclient.Run) Answer {
	return Answer{
		Output:         chunks(run.Stdout),
		Errors:         chunks(run.Stderr),
		Results:        append([]sandboxclient.Result{}, run.Results...),
		Error:          run.Exit.Error,
		Status:         run.Exit.Status,
		ExitCode:       run.Exit.ExitCode,
		Signal:         run.Exit.Signal,
		ExecutionCount: run.Exit.ExecutionCount,
		DurationMS:     run.Exit.DurationMS,
		Truncated:      run.Exit.Truncated,
		Background:     run.Background,
		KernelDied:     run.Exit.KernelDied,
		Start:          run.Start,
		Generation:     run.Generation,
		Restart:        run.Restart,
	}
}

// chunks gives the documented form of a stream: no element, or all of it as one.
func chunks(text string) []string {
	if text == "" {
		return []string{}
	}
	return []string{text}
}
