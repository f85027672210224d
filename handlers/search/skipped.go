package search

import (
	"bytes"
	"context"
	"time"

	"sandgate/sandboxclient"
)

// skipped counts what was not searched. Links and Special are unknown where
// they could not be counted in time.
type skipped struct {
	Binary  int  `json:"binary"`            // files with the term in them whose lines are not text
	Links   *int `json:"links,omitempty"`   // which are not followed
	Special *int `json:"special,omitempty"` // FIFOs, sockets, devices
}

// countGrace is how much longer than the search the count may take.
const countGrace = time.Second

// survey is the command that prints an l for every link below the directory in
// which it is started, and an s for every special file.
func (q query) survey() []string {
	argv := []string{"find", ".", "-mindepth", "1", "-name", unfinished, "-prune", "-o"}
	for _, glob := range q.exclude {
		argv = append(argv, "-name", glob, "-prune", "-o")
	}
	return append(argv, "-type", "l", "-printf", "l", "-o",
		"(", "-type", "p", "-o", "-type", "s", "-o", "-type", "b", "-o", "-type", "c", ")", "-printf", "s")
}

// count begins to count what a search below a directory skips. The function it
// returns waits for that, a little.
func (h *Handler) count(ctx context.Context, s Sandbox, q query) (wait func() skipped) {
	ctx, cancel := context.WithCancel(ctx)
	counted := make(chan skipped, 1)
	go func() { // ends with ctx
		result, err := s.Exec(ctx, h.command(q, q.survey(), q.path))
		counted <- tally(result, err)
	}()
	return func() skipped {
		defer cancel()
		defer time.AfterFunc(countGrace, cancel).Stop()
		return <-counted
	}
}

// tally reads what find printed. Directories that it could not look into, grep
// could not either; that is told as partial.
func tally(result *sandboxclient.ExecResult, err error) skipped {
	const unreadable = 1
	if err != nil || result.Exit.Status != sandboxclient.StatusExited || result.Exit.ExitCode > unreadable || result.Exit.Truncated {
		return skipped{}
	}
	return skipped{
		Links:   new(bytes.Count(result.Stdout, []byte("l"))),
		Special: new(bytes.Count(result.Stdout, []byte("s"))),
	}
}
