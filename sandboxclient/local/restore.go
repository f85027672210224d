package local

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	runc "github.com/containerd/go-runc"
	"golang.org/x/sys/unix"
)

// andMark is a command of the shell that runs another, and marks first who does
// and then its success.
const andMark = `echo $$ >&3; "$@" && echo ` + success + ` >&3`

// checkpoint has runsc write a sandbox's memory to a directory, and end it. When
// the gateway is killed, runsc goes on, and its mark tells the next one how it ended.
func (e *engine) checkpoint(ctx context.Context, name instance, bundle, dir string, mark *os.File, compress bool) error {
	log := filepath.Join(bundle, logName)
	args := []string{"-c", andMark, "sh", e.Command, "--root", e.Root, "--log", log, "--log-format", string(e.LogFormat)}
	args = append(args, e.ExtraArgs...)
	args = append(args, "checkpoint", "--image-path", dir)
	if compress {
		args = append(args, "--compression", "flate-best-speed")
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", append(args, string(name))...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	cmd.ExtraFiles = []*os.File{mark} // its descriptor 3, and runsc's
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	said, err := cmd.CombinedOutput()
	if err != nil {
		err = explain(ctx, fmt.Errorf("%w: %s", err, said), log)
	}
	if err != nil && strings.Contains(err.Error(), unix.ENOSPC.Error()) { // words are all that comes out of a process
		err = fmt.Errorf("%w: %w", unix.ENOSPC, err)
	}
	return err
}

// restorer gives a launcher that lets a sandbox begin with the memory in a
// directory. What is not compressed is read while the sandbox runs already.
func (e *engine) restorer(dir string) launcher {
	return func(ctx context.Context, name instance, bundle string) error {
		null, err := runc.NewNullIO()
		if err != nil {
			return err
		}
		defer null.Close()
		r := e.forBundle(bundle)
		ctx = runc.WithExtraEnv(ctx, blanked(os.Environ())...)
		_, err = r.Restore(ctx, string(name), bundle, &runc.RestoreOpts{
			CheckpointOpts: runc.CheckpointOpts{ImagePath: dir},
			IO:             null,
			Detach:         true,
			PidFile:        filepath.Join(bundle, pidName),
		})
		return explain(ctx, err, r.Log)
	}
}
