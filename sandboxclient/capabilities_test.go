package sandboxclient

import (
	"context"
	"errors"
	"testing"
)

// A describedDriver has the power to describe itself, and no other.
type describedDriver struct {
	Driver
	engine Engine
	err    error
}

func (d describedDriver) Describe(context.Context) (Engine, error) { return d.engine, d.err }

func limitNamed(t *testing.T, c Capabilities, name string) Limit {
	t.Helper()
	for _, l := range c.Limits {
		if l.Name == name {
			return l
		}
	}
	t.Fatalf("there is no limit %s", name)
	return Limit{}
}

func TestCapabilities(t *testing.T) {
	driver := describedDriver{engine: Engine{Driver: "test", Holds: map[string]Hold{
		LimitMemory:    {Enforced: true, By: "a cgroup"},
		LimitWorkspace: {Enforced: true, By: "a file system"},
	}}}
	c, err := New(Options{Driver: driver, Limits: Limits{MemoryBytes: 5}}).Capabilities(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c.Engine.Driver != "test" {
		t.Errorf("engine: %+v", c.Engine)
	}
	for name, want := range map[string]Limit{
		LimitMemory:        {Value: 5, Unit: "bytes", Enforced: true, By: "a cgroup"},
		LimitWorkspace:     {Value: 0, Unit: "bytes", Enforced: false, By: "no limit is set"},
		LimitCPU:           {Value: 0, Unit: "processors", Enforced: false, By: "the driver does not say"},
		"sandboxesRunning": {Value: 100, Unit: "sandboxes", Enforced: true, By: "the gateway"},
	} {
		want.Name = name
		if got := limitNamed(t, c, name); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

func TestCapabilities_withoutThePower(t *testing.T) {
	c, err := New(Options{Limits: DefaultLimits()}).Capabilities(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := limitNamed(t, c, LimitMemory); got.Enforced {
		t.Errorf("%+v, want it not enforced", got)
	}
}

func TestCapabilities_failure(t *testing.T) {
	cause := errors.New("cause")
	_, err := New(Options{Driver: describedDriver{err: cause}}).Capabilities(t.Context())
	if CodeOf(err) != CodeInternal || !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
}
