package local_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sandgate/internal/sandboxtest"
	"sandgate/sandboxclient"
	"sandgate/sandboxclient/local"
)

// stateDir is shared by the benches, one after the other: what all sandboxes
// share is copied once.
var stateDir string

func TestMain(m *testing.M) { os.Exit(withStateDir(m.Run)) }

func withStateDir(run func() int) int {
	dir, err := os.MkdirTemp("", "sg")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	stateDir = dir
	code := run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// A bench is a driver's configuration with a runtime that can be made to fail.
type bench struct {
	*testing.T
	cfg local.Config
	id  sandboxclient.ID
}

// eachRuntime runs a test on a bench for each runtime.
func eachRuntime(t *testing.T, test func(b *bench)) {
	for _, name := range []string{"runsc", "runc"} {
		t.Run(name, func(t *testing.T) { test(newBench(t, name)) })
	}
}

func newBench(t *testing.T, runtime string) *bench {
	t.Helper()
	b := &bench{
		T:   t,
		cfg: local.Config{StateDir: stateDir, Runtime: filepath.Join(t.TempDir(), "runtime"), Sandboxd: sandboxtest.Bin("sandboxd")},
		id:  sandboxclient.DeriveID([]byte(rand.Text()), sandboxclient.Ref{}),
	}
	requireBinaries(t, local.Config{Runtime: sandboxtest.Bin(runtime), Sandboxd: b.cfg.Sandboxd})
	b.use(runtime)
	t.Cleanup(func() {
		for _, left := range leftovers(b.cfg.StateDir, []sandboxclient.ID{b.id}) {
			t.Errorf("left behind: %s", left)
		}
	})
	return b
}

// use makes the runtime a good one.
func (b *bench) use(runtime string) {
	b.Helper()
	b.wrap(fmt.Sprintf("exec %s \"$@\"", sandboxtest.Bin(runtime)))
}

// wrap makes the runtime a shell script.
func (b *bench) wrap(script string) {
	b.Helper()
	if err := os.WriteFile(b.cfg.Runtime, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) open() *local.Driver {
	b.Helper()
	d := open(b.T, b.cfg)
	b.Cleanup(func() {
		if err := errors.Join(d.Destroy(context.Background(), b.id, sandboxclient.RemoveWorkspace), d.Close()); err != nil {
			b.Error(err)
		}
	})
	return d
}

func (b *bench) create(d *local.Driver) error {
	ctx, cancel := context.WithTimeout(b.Context(), 30*time.Second)
	defer cancel()
	return d.Create(ctx, sandboxclient.Spec{ID: b.id, Limits: sandboxclient.DefaultLimits()})
}

// works creates the sandbox, reaches it and destroys it.
func (b *bench) works(d *local.Driver) {
	b.Helper()
	if err := b.create(d); err != nil {
		b.Fatalf("create: %v", err)
	}
	if err := reach(d, b.id); err != nil {
		b.Fatalf("dial: %v", err)
	}
	b.destroy(d)
}

func (b *bench) destroy(d *local.Driver) {
	b.Helper()
	if err := d.Destroy(b.Context(), b.id, sandboxclient.KeepWorkspace); err != nil {
		b.Errorf("destroy: %v", err)
	}
}

// nothing looks for what a failed create left.
func (b *bench) nothing(d *local.Driver) {
	b.Helper()
	if ids, err := d.List(b.Context()); err != nil || len(ids) > 0 {
		b.Errorf("list: %v, %v, want none", ids, err)
	}
	if _, err := os.Stat(workspace(b.cfg.StateDir, b.id)); err != nil {
		b.Errorf("the workspace is gone: %v", err)
	}
}

func TestCreate_leavesNothingButTheWorkspace(t *testing.T) {
	for _, name := range []string{"runsc", "runc"} {
		good := sandboxtest.Bin(name)
		started := good + ` "$@"; case "$*" in *" run "*) `
		for fault, script := range map[string]string{
			"refusal":            `case "$*" in *" run "*) exit 3;; esac; exec ` + good + ` "$@"`,
			"failure once begun": started + `exit 3;; esac`,
			"no pid file":        started + `rm -f "$(dirname "$(echo "$*" | sed "s/.*--pid-file \([^ ]*\).*/\1/")")/pid";; esac`,
		} {
			t.Run(name+" "+fault, func(t *testing.T) {
				b := newBench(t, name)
				d := b.open()
				b.wrap(script)
				if err := b.create(d); err == nil {
					t.Fatal("create: no error")
				}
				b.use(name)
				b.nothing(d)
				b.works(d)
			})
		}
	}
}

func TestCreate_runtimeVanished(t *testing.T) {
	eachRuntime(t, func(b *bench) {
		d := b.open()
		if err := os.Remove(b.cfg.Runtime); err != nil {
			b.Fatal(err)
		}
		if err := b.create(d); !errors.Is(err, os.ErrNotExist) {
			b.Errorf("create: %v, want that the runtime is not there", err)
		}
		b.nothing(d)
	})
}

func TestCreate_diskFull(t *testing.T) {
	b := newBench(t, "runsc")
	b.cfg.StateDir = filepath.Join(stateDir, "full")
	if err := os.Mkdir(b.cfg.StateDir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", b.cfg.StateDir, "tmpfs", 0, "size=8m"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(b.cfg.StateDir, 0) })
	d := b.open()
	filler := filepath.Join(b.cfg.StateDir, "filler")
	if err := os.WriteFile(filler, make([]byte, 16<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	if err := b.create(d); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("create: %v, want no space", err)
	}
	b.nothing(d)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	b.works(d)
}

// TestCreate_keepsTheGatewaysEnvironment looks at the processes beside the sandbox.
func TestCreate_keepsTheGatewaysEnvironment(t *testing.T) {
	const secret = "correct-horse-battery-staple"
	t.Setenv("SANDGATE_TEST_SECRET", secret)
	b := newBench(t, "runsc")
	if err := b.create(b.open()); err != nil {
		t.Fatal(err)
	}
	looked := 0
	for _, cmdline := range glob("/proc/[0-9]*/cmdline") {
		if len(lines(cmdline, string(b.id))) == 0 {
			continue
		}
		looked++
		if len(lines(filepath.Join(filepath.Dir(cmdline), "environ"), secret)) > 0 {
			t.Errorf("%s can read the secret", lines(cmdline, string(b.id)))
		}
	}
	if looked == 0 {
		t.Error("no process of the sandbox was found")
	}
}

func TestDestroy_isFinishedLater(t *testing.T) {
	for _, name := range []string{"runsc", "runc"} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, name)
			d := b.open()
			if err := b.create(d); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(b.cfg.Runtime); err != nil {
				t.Fatal(err)
			}
			if err := d.Destroy(t.Context(), b.id, sandboxclient.KeepWorkspace); err == nil {
				t.Error("destroy without a runtime: no error")
			}
			if ids, err := d.List(t.Context()); err != nil || len(ids) != 1 {
				t.Errorf("list: %v, %v, want the half destroyed sandbox", ids, err)
			}
			b.use(name)
			b.destroy(d)
			b.works(d)
		})
	}
}

func TestDestroy_ofWhatTheRuntimeCannotRead(t *testing.T) {
	eachRuntime(t, func(b *bench) {
		d := b.open()
		if err := b.create(d); err != nil {
			b.Fatal(err)
		}
		states := append(glob(filepath.Join(b.cfg.StateDir, "run/runc", string(b.id), "state.json")),
			glob(filepath.Join(b.cfg.StateDir, "run/runsc", "*"+string(b.id)+".state"))...)
		if len(states) != 1 {
			b.Fatalf("the runtime's state is in %v", states)
		}
		if err := os.WriteFile(states[0], []byte("{corrupt"), 0o600); err != nil {
			b.Fatal(err)
		}
		if ids, err := d.List(b.Context()); err != nil || len(ids) != 1 {
			b.Errorf("list: %v, %v, want the sandbox", ids, err)
		}
		b.destroy(d)
		b.works(d)
	})
}

func TestDestroy_afterTheRunDirectoryVanished(t *testing.T) {
	eachRuntime(t, func(b *bench) {
		d := b.open()
		if err := b.create(d); err != nil {
			b.Fatal(err)
		}
		if err := errors.Join(d.Close(), os.RemoveAll(filepath.Join(b.cfg.StateDir, "run"))); err != nil {
			b.Fatal(err)
		}
		d = b.open()
		if _, err := d.Dial(b.Context(), b.id); !errors.Is(err, sandboxclient.ErrGone) {
			b.Errorf("dial: %v, want ErrGone", err)
		}
		b.destroy(d)
		b.works(d)
	})
}

func TestDestroy_ofAnotherRuntimesSandbox(t *testing.T) {
	b := newBench(t, "runsc")
	requireBinaries(t, local.Config{Runtime: sandboxtest.Bin("runc"), Sandboxd: b.cfg.Sandboxd})
	for _, name := range []string{"runsc", "runc", "runsc"} { // each finds what the one before left
		b.use(name)
		d := b.open()
		b.destroy(d)
		if err := errors.Join(b.create(d), d.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
