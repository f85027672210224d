package runs

import (
	"context"
	"path"

	"sandgate/internal/testresults"
	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

// reports are the usual names of what test frameworks write beside what they
// print.
var reports = []string{
	"junit.xml", "test-results.xml", "test-results.json",
	"test-results/junit.xml", "reports/junit.xml", "coverage/junit.xml",
	"jest-results.json", "vitest-results.json", "mocha-results.json",
}

// maxReport bounds a report.
const maxReport = 32 << 20

// readResults gives what the tests came to: as they printed it, and as reports
// say that they wrote.
func (r *run) readResults(ctx context.Context) *testresults.Results {
	var written []*testresults.Results
	for _, name := range reports {
		written = append(written, r.readReport(ctx, name))
	}
	return r.tests.results(written)
}

// readReport reads a report that these tests have written; nil when there is
// none. One that came with the repository tells of other tests.
func (r *run) readReport(ctx context.Context, name string) *testresults.Results {
	if !r.sandbox.Running() { // it is not started for this
		return nil
	}
	at := path.Join(appDir, name)
	info, err := r.sandbox.Stat(ctx, at)
	if err != nil || info.Type != wire.TypeFile || info.Size > maxReport || info.Modified.Before(r.testing) {
		return nil
	}
	file, err := r.sandbox.ReadFile(ctx, at, sandboxclient.ReadOptions{})
	if err != nil {
		return nil
	}
	defer func() { _ = file.Body.Close() }() // all that we want of it was read
	results, err := testresults.ParseReport(name, &capped{file.Body, maxReport})
	if err != nil { // it is something else that is called so
		return nil
	}
	return results
}
