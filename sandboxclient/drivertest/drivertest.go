// Package drivertest is the conformance suite that every driver passes. A
// driver's own test opens it on its engine and calls Run:
//
//	drivertest.Run(t, drivertest.Config{Open: open, Leftovers: leftovers})
//
// Each check opens a driver and ends by looking for what was left behind. What an engine cannot do is said by a nil field of Config;
// the checks that need it are skipped with that reason.
package drivertest

import (
	"os"
	"testing"

	"sandgate/sandboxclient"
)

// A Driver is what the suite tests. Close lets go of the engine without ending
// the sandboxes.
type Driver interface {
	sandboxclient.Driver
	Close() error
}

// Config says how to reach an engine.
type Config struct {
	// Open opens a driver on a state: an absolute path of the suite's, empty at
	// first. It is opened again after each Close, as by a restarted gateway.
	Open func(t *testing.T, state string) Driver

	// Leftovers names what the engine still holds of the sandboxes, which have
	// been destroyed, and of the state, which has been closed: processes, mounts,
	// cgroups, files other than workspaces.
	Leftovers func(state string, ids []sandboxclient.ID) []string

	// Kill ends a sandbox as a crash of its engine would, without the driver.
	Kill func(t *testing.T, state string, id sandboxclient.ID)

	// Workspace is where a sandbox's workspace lies on this host.
	Workspace func(state string, id sandboxclient.ID) string

	// Checkpoint names the files of a hibernated sandbox's memory on this host.
	Checkpoint func(state string, id sandboxclient.ID) []string

	// WorkspaceLimited says whether the engine holds the size of workspaces here.
	WorkspaceLimited bool

	// Processors is how many processors a sandbox sees that was given a share of
	// them: the share rounded up, unless the engine has its own idea.
	Processors func(cpus float64) int
}

// Run runs every check.
func Run(t *testing.T, cfg Config) {
	state, err := os.MkdirTemp("", "sg") // sockets lie below, and their paths must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(state); err != nil {
			t.Error(err)
		}
	})
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) { c.run(newRig(t, cfg, state)) })
	}
}

type check struct {
	name string
	run  func(*rig)
}

// checks are the suite, in reading order.
func checks() []check {
	return []check{
		{"life of a sandbox", checkLife},
		{"the workspace is kept or removed", checkWorkspace},
		{"an id exists once", checkDuplicate},
		{"a malformed id is refused", checkMalformedID},
		{"a missing limit is refused", checkZeroLimits},
		{"destroying twice is no error", checkDestroyTwice},
		{"a hundred requests at once", checkManyDials},
		{"twenty sandboxes at once", checkBurst},
		{"dialling what is not there", checkDialUnknown},
		{"dialling ends with its context", checkDialCanceled},

		{"a create that is cancelled", checkCreateCanceled},
		{"a destroy that is cancelled", checkDestroyCanceled},
		{"a killed engine is noticed", checkKilled},
		{"a killed engine is listed and replaced", checkKilledReplaced},
		{"a restarted gateway finds its sandboxes", checkRestart},
		{"a restarted gateway finds the dead", checkRestartDead},

		{"asleep and awake", checkHibernate},
		{"a restarted gateway wakes", checkHibernateRestart},
		{"nobody wakes twice from one sleep", checkWakeOnce},
		{"what has changed does not wake", checkWakeChanged},
		{"what is damaged does not wake", checkWakeDamaged},
		{"a hibernation that is cancelled", checkHibernateCanceled},

		{"isolation: files", checkFiles},
		{"isolation: who user code is", checkIdentity},
		{"isolation: processes", checkProcesses},
		{"isolation: devices", checkDevices},
		{"isolation: mounts", checkMounts},
		{"isolation: the kernel", checkKernel},
		{"isolation: network", checkNetwork},
		{"isolation: a namespace of one's own", checkNamespace},
		{"a way out, for those that have one", checkEgress},
		{"setuid programs have no effect", checkSetuid},
		{"isolation of two sandboxes", checkNeighbours},

		{"limits are told inside", checkLimitsSeen},
		{"how limits are held is told", checkDescription},
		{"a memory hog dies and is noticed", checkMemory},
		{"a fork bomb leaves sandboxd answering", checkForkBomb},
		{"disposable trees are bounded", checkTmp},
		{"the workspace is bounded in bytes", checkWorkspaceBytes},
		{"the workspace is bounded in files", checkWorkspaceFiles},
		{"a full workspace stays whole", checkWorkspaceStays},
	}
}
