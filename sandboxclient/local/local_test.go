package local_test

import (
	"math"
	"runtime"
	"testing"

	"sandgate/internal/sandboxtest"
	"sandgate/sandboxclient/drivertest"
	"sandgate/sandboxclient/local"
)

func TestDriver_runsc(t *testing.T) {
	conform(t, "runsc", func(cpus float64) int {
		// gVisor gives two at least: with one, programs leave out their locks.
		return min(runtime.NumCPU(), max(2, int(math.Ceil(cpus))))
	})
}

func TestDriver_runc(t *testing.T) {
	conform(t, "runc", func(float64) int { return runtime.NumCPU() }) // the host's, at a share of their time
}

func conform(t *testing.T, name string, processors func(float64) int) {
	cfg := local.Config{Runtime: sandboxtest.Bin(name), Sandboxd: sandboxtest.Bin("sandboxd")}
	requireBinaries(t, cfg)
	drivertest.Run(t, drivertest.Config{
		Open: func(t *testing.T, state string) drivertest.Driver {
			cfg.StateDir = state
			return open(t, cfg)
		},
		Leftovers:  leftovers,
		Kill:       kill,
		Workspace:  workspace,
		Checkpoint: checkpoint,
		Processors: processors,

		WorkspaceLimited: true,
	})
}
