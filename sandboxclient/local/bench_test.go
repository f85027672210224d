package local_test

import (
	"os/exec"
	"testing"
	"time"

	"sandgate/internal/sandboxtest"
	"sandgate/sandboxclient"
	"sandgate/sandboxclient/local"
)

// BenchmarkCreate measures a new sandbox until its sandboxd has dialled, and its
// end. P is a bare `python3 -c pass` in the same run: it tells more than
// milliseconds, which are this machine's. A workspace without a size is a mere
// directory.
func BenchmarkCreate(b *testing.B) {
	for _, bench := range []struct {
		name, runtime string
		workspace     int64
	}{
		{"runsc", "runsc", 2 << 30},
		{"runsc without a size", "runsc", 0},
		{"runc", "runc", 2 << 30},
		{"runc without a size", "runc", 0},
	} {
		b.Run(bench.name, func(b *testing.B) {
			limits := sandboxclient.DefaultLimits()
			limits.WorkspaceBytes = bench.workspace
			cfg := local.Config{StateDir: b.TempDir(), Runtime: sandboxtest.Bin(bench.runtime), Sandboxd: sandboxtest.Bin("sandboxd")}
			d, err := local.New(b.Context(), cfg)
			if err != nil {
				b.Skip(err)
			}
			defer d.Close()
			var python, create, destroy time.Duration
			for b.Loop() {
				python += timed(b, exec.Command("/usr/bin/python3", "-c", "pass").Run)
				id := sandboxclient.DeriveID([]byte(b.Name()), sandboxclient.Ref{})
				create += timed(b, func() error {
					if err := d.Create(b.Context(), sandboxclient.Spec{ID: id, Limits: limits}); err != nil {
						return err
					}
					return reach(d, id)
				})
				destroy += timed(b, func() error { return d.Destroy(b.Context(), id, sandboxclient.RemoveWorkspace) })
			}
			b.ReportMetric(create.Seconds()/python.Seconds(), "create/P")
			b.ReportMetric(destroy.Seconds()/python.Seconds(), "destroy/P")
			b.ReportMetric(create.Seconds()*1000/float64(b.N), "create-ms")
		})
	}
}

func timed(b *testing.B, do func() error) time.Duration {
	b.Helper()
	began := time.Now()
	if err := do(); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}
