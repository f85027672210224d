// Package selftest proves from inside a sandbox that it isolates, that its
// limits are there, and which languages run in it.
package selftest

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"sync"
	"time"

	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

// A Sandbox is a throw-away one, with the limits and the environment of all others.
type Sandbox interface {
	Exec(ctx context.Context, cmd sandboxclient.Command) (*sandboxclient.ExecResult, error)
	RunCode(ctx context.Context, code string, opts sandboxclient.RunOptions) (*sandboxclient.Run, error)
	Destroy(ctx context.Context, workspace sandboxclient.Workspace) error
}

// A Report is what was found.
type Report struct {
	Checks    []Check
	Languages []Language
}

// A Check is one line of the isolation.
type Check struct {
	Name   string `json:"name"`
	Proven bool   `json:"proven"`
	Found  string `json:"found"`
	Remedy string `json:"remedy,omitempty"` // of one that is not proven
}

// Proven says whether every check is.
func (r Report) Proven() bool { return r.Err() == nil }

// Err names every check that is not proven, with its remedy.
func (r Report) Err() error {
	var errs []error
	for _, c := range r.Checks {
		if !c.Proven {
			errs = append(errs, fmt.Errorf("%s: %s: %s", c.Name, c.Found, c.Remedy))
		}
	}
	if len(r.Checks) == 0 {
		errs = append(errs, errors.New("no sandbox was looked at"))
	}
	return errors.Join(errs...)
}

const (
	probeTime   = 20 * time.Second
	destroyTime = 30 * time.Second
)

//go:embed probe.sh
var probe string

// Run looks at a sandbox from inside, proves the languages meanwhile, and
// destroys it. An error means that it could not look.
func Run(ctx context.Context, sandbox Sandbox, claimed sandboxclient.Capabilities) (_ Report, err error) {
	defer func() { err = errors.Join(err, destroy(ctx, sandbox)) }()
	var (
		report Report
		proved sync.WaitGroup
	)
	proved.Go(func() { report.Languages = proveLanguages(ctx, sandbox) })
	seen, err := look(ctx, sandbox)
	proved.Wait()
	if err != nil {
		return Report{Languages: report.Languages}, err
	}
	report.Checks = judge(seen, claimed)
	return report, nil
}

func look(ctx context.Context, sandbox Sandbox) (sections, error) {
	result, err := sandbox.Exec(ctx, sandboxclient.Command{Argv: []string{"/bin/sh", "-c", probe}, Timeout: probeTime})
	if err != nil {
		return nil, err
	}
	if result.Exit.Status != wire.StatusExited {
		return nil, fmt.Errorf("the look inside a sandbox ended as %q", string(result.Exit.Status))
	}
	return split(string(result.Stdout)), nil
}

// destroy has a deadline of its own: what ended ctx must not leave a sandbox.
func destroy(ctx context.Context, sandbox Sandbox) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), destroyTime)
	defer cancel()
	return sandbox.Destroy(ctx, sandboxclient.RemoveWorkspace)
}
