package local

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	runc "github.com/containerd/go-runc"
)

// An engine drives one runtime binary.
type engine struct {
	kind kind
	runc.Runc
}

func newEngine(k kind, binary, root string) *engine {
	e := &engine{kind: k, Runc: runc.Runc{
		Command:   binary,
		Root:      root,
		LogFormat: runc.JSON,
		Setpgid:   true, // Ctrl-C at the gateway's terminal is not for the runtime
	}}
	if k == kindRunsc {
		e.ExtraArgs = runscArgs()
	}
	return e
}

// runscArgs are gVisor's own switches.
func runscArgs() []string {
	return []string{
		"--platform=systrap",
		"--network=none",              // loopback and nothing else
		"--host-uds=open",             // sandboxd connects to its link
		"--overlay2=none",             // writes go to the mounts, the root is read-only
		"--file-access-mounts=shared", // the gateway replaces sockets under /run/sandgate
		"--cpu-num-from-quota",
	}
}

// run starts a sandbox and returns once its first process runs. What the
// sandbox prints is dropped: a log that it can fill is a disk that it can fill.
func (e *engine) run(ctx context.Context, name instance, bundle string) error {
	null, err := runc.NewNullIO()
	if err != nil {
		return err
	}
	defer null.Close()
	r := e.forBundle(bundle)
	ctx = runc.WithExtraEnv(ctx, blanked(os.Environ())...)
	_, err = r.Run(ctx, string(name), bundle, &runc.CreateOpts{
		IO:      null,
		PidFile: filepath.Join(bundle, pidName),
		Detach:  true,
	})
	return explain(ctx, err, r.Log)
}

// forBundle is the runtime as it writes its log, and the reason of its death, into
// a sandbox's bundle.
func (e *engine) forBundle(bundle string) runc.Runc {
	r := e.Runc
	r.Log = filepath.Join(bundle, logName)
	if e.kind == kindRunsc {
		r.ExtraArgs = append(slices.Clone(r.ExtraArgs), "--panic-log="+filepath.Join(bundle, wordsName))
	}
	return r
}

// explain adds to a runtime's failure what its log says.
func explain(ctx context.Context, err error, log string) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w: %s", err, lastError(log))
}

// blanked overrides an environment but for PATH. The gateway's may hold secrets,
// and gVisor's processes, which inherit it, are the next thing that an attacker
// meets behind the sandbox.
func blanked(environ []string) []string {
	var env []string
	for _, entry := range environ {
		if name, _, _ := strings.Cut(entry, "="); name != "PATH" {
			env = append(env, name+"=")
		}
	}
	return env
}

// A refusalError is the runtime's answer that it cannot delete a sandbox.
type refusalError struct{ err error }

func (e *refusalError) Error() string { return e.err.Error() }
func (e *refusalError) Unwrap() error { return e.err }

// delete makes the runtime forget a sandbox whose processes have been killed.
// What the runtime would not do is a refusalError.
func (e *engine) delete(ctx context.Context, name instance) error {
	if err := executable("runtime", e.Command); err != nil {
		return err
	}
	forced := &runc.DeleteOpts{Force: true}
	ways := []*runc.DeleteOpts{nil, forced} // forced, runc waits a tenth of a second for processes that are gone already
	if e.kind == kindRunsc {
		ways = ways[1:] // unforced, it refuses what ended without its knowing
	}
	var err error
	for _, how := range ways {
		if err = e.Delete(ctx, string(name), how); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil && ctx.Err() == nil {
		return &refusalError{fmt.Errorf("%s delete: %w", e.kind, err)}
	}
	if err != nil {
		return context.Cause(ctx)
	}
	return nil
}

// list names what the runtime believes to exist.
func (e *engine) list(ctx context.Context) ([]instance, error) {
	containers, err := e.List(ctx)
	if err != nil {
		return nil, err
	}
	names := make([]instance, 0, len(containers))
	for _, c := range containers {
		names = append(names, instance(c.ID))
	}
	return names, nil
}

// maxLog bounds how much of a runtime's log is read.
const maxLog = 1 << 20

// lastError finds the last error in a runtime's JSON log.
func lastError(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return "it left no log"
	}
	defer f.Close()
	last := "its log says nothing"
	lines := bufio.NewScanner(io.LimitReader(f, maxLog))
	for lines.Scan() {
		var entry struct{ Level, Msg string }
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry.Level == "error" {
			last = strings.TrimSpace(entry.Msg)
		}
	}
	return last
}
