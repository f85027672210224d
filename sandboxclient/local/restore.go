package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	runc "github.com/containerd/go-runc"
	"golang.org/x/sys/unix"
)

// checkpoint has runsc write a sandbox's memory to a directory, and end it.
func (e *engine) checkpoint(ctx context.Context, name instance, bundle, dir string, compress bool) error {
	r := e.Runc
	r.Log = filepath.Join(bundle, logName)
	opts := &runc.CheckpointOpts{ImagePath: dir}
	if compress {
		opts.ExtraArgs = []string{"--compression", "flate-best-speed"}
	}
	ctx = runc.WithExtraEnv(ctx, blanked(os.Environ())...)
	err := explain(ctx, r.Checkpoint(ctx, string(name), opts), r.Log)
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
