package sandboxclient

import (
	"context"
	"math"
)

// A Describer is the power of a driver to tell what it runs, and how it holds
// the limits of a sandbox.
type Describer interface {
	Describe(ctx context.Context) (Engine, error)
}

// An Engine is what makes sandboxes.
type Engine struct {
	Driver         string `json:"driver"`
	Runtime        string `json:"runtime,omitempty"`
	RuntimeVersion string `json:"runtimeVersion,omitempty"`
	HostKernel     string `json:"hostKernel,omitempty"`
	OwnKernel      bool   `json:"ownKernel"` // user code talks to a kernel of the sandbox's own
	Cgroups        int    `json:"cgroups,omitempty"`
	Network        string `json:"network"` // "none": loopback and nothing else
	Hibernation    bool   `json:"hibernation"`

	Holds    map[string]Hold `json:"-"` // by the limit's name
	Warnings []string        `json:"-"` // for the operator: sentences
}

// A Hold says by what a limit is held or, if it is not, why.
type Hold struct {
	Enforced bool
	By       string
}

// The limits that a driver holds.
const (
	LimitMemory     = "memory"
	LimitSwap       = "swap"
	LimitCPU        = "cpu"
	LimitCPUCount   = "cpuCount" // as user code sees it
	LimitProcesses  = "processes"
	LimitOpenFiles  = "openFiles"
	LimitWorkspace  = "workspaceDisk"
	LimitDisposable = "disposableDisk"
)

// A Limit is one bound of what sandboxes may use.
type Limit struct {
	Name     string  `json:"name"`
	Value    float64 `json:"value"`
	Unit     string  `json:"unit"`
	Enforced bool    `json:"enforced"`
	By       string  `json:"by"`
}

// Capabilities are what this client's engine is, and every limit.
type Capabilities struct {
	Engine Engine
	Limits []Limit
}

// Capabilities asks the driver how it holds the limits. Of a driver that cannot
// tell, every limit of a sandbox counts as not enforced.
func (c *Client) Capabilities(ctx context.Context) (Capabilities, error) {
	engine := Engine{Network: "unknown"}
	if c.describer != nil {
		var err error
		if engine, err = c.describer.Describe(ctx); err != nil {
			return Capabilities{}, &Error{Code: CodeInternal, Op: "describe", Message: "The engine could not be described", Err: err}
		}
	}
	return Capabilities{engine, append(sandboxLimits(c.opts.Limits, engine.Holds), c.ownLimits()...)}, nil
}

// sandboxLimits are held by the driver.
func sandboxLimits(l Limits, holds map[string]Hold) []Limit {
	limits := []Limit{
		{Name: LimitMemory, Value: float64(l.MemoryBytes), Unit: "bytes"},
		{Name: LimitSwap, Value: 0, Unit: "bytes"},
		{Name: LimitCPU, Value: l.CPUs, Unit: "processors"},
		{Name: LimitCPUCount, Value: math.Ceil(l.CPUs), Unit: "processors"},
		{Name: LimitProcesses, Value: float64(l.Processes), Unit: "processes"},
		{Name: LimitOpenFiles, Value: float64(l.OpenFiles), Unit: "files per process"},
		{Name: LimitWorkspace, Value: float64(l.WorkspaceBytes), Unit: "bytes"},
		{Name: LimitDisposable, Value: float64(l.TmpBytes), Unit: "bytes per tree"},
	}
	for i := range limits {
		hold := holdOf(limits[i], holds)
		limits[i].Enforced, limits[i].By = hold.Enforced, hold.By
	}
	return limits
}

func holdOf(l Limit, holds map[string]Hold) Hold {
	if l.Name == LimitWorkspace && l.Value == 0 {
		return Hold{By: "no limit is set"}
	}
	if hold, told := holds[l.Name]; told {
		return hold
	}
	return Hold{By: "the driver does not say"}
}

// ownLimits are held by the client and by sandboxd, whatever the engine.
func (c *Client) ownLimits() []Limit {
	const gateway = "the gateway"
	held := func(name string, value float64, unit, by string) Limit {
		return Limit{Name: name, Value: value, Unit: unit, Enforced: true, By: by}
	}
	return []Limit{
		held("outputKept", float64(c.opts.Output.Keep), "bytes per execution", "sandboxd, told as truncated"),
		held("output", float64(c.opts.Output.Max), "bytes per execution", "sandboxd, told as output_limited"),
		held("wallTime", c.opts.MaxTimeout.Seconds(), "seconds per execution", "sandboxd, told as timed_out"),
		held("sandboxesRunning", float64(c.opts.MaxRunning), "sandboxes", gateway),
		held("sandboxesExisting", float64(c.opts.MaxExisting), "sandboxes", gateway),
	}
}
