package drivertest

import (
	"sandgate/sandboxclient"
)

// checkDescription wants a word on each limit, and what the suite tests held.
func checkDescription(r *rig) {
	describer, ok := r.driver.(sandboxclient.Describer)
	r.need(ok, "description of itself")
	engine, err := describer.Describe(r.ctx())
	if err != nil {
		r.Fatal(err)
	}
	if engine.Driver == "" || engine.Network != "none" {
		r.Errorf("driver %q, network %q", engine.Driver, engine.Network)
	}
	for _, name := range []string{
		sandboxclient.LimitMemory, sandboxclient.LimitSwap, sandboxclient.LimitCPU, sandboxclient.LimitCPUCount,
		sandboxclient.LimitProcesses, sandboxclient.LimitOpenFiles, sandboxclient.LimitWorkspace, sandboxclient.LimitDisposable,
	} {
		if engine.Holds[name].By == "" {
			r.Errorf("it is not told how the limit of %s is held", name)
		}
	}
	for _, name := range []string{sandboxclient.LimitMemory, sandboxclient.LimitProcesses, sandboxclient.LimitOpenFiles, sandboxclient.LimitDisposable} {
		if !engine.Holds[name].Enforced {
			r.Errorf("the limit of %s is not held: %s", name, engine.Holds[name].By)
		}
	}
	if workspace := engine.Holds[sandboxclient.LimitWorkspace]; workspace.Enforced != r.cfg.WorkspaceLimited {
		r.Errorf("the size of workspaces is held: %v, %s", workspace.Enforced, workspace.By)
	}
}
