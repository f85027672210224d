package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// coldStart is measured once: it takes all cores for minutes.
func (l *lab) coldStart() comparison {
	return comparison{
		name: "cold make run, clone to answer", against: "build of runsc alone", aim: "no aim yet", unit: "ms", rounds: 1,
		measured: l.coldRun, reference: l.coldRunsc,
	}
}

// coldRun clones the repository, builds as make run would from an empty build
// cache, and waits for the gateway's first line.
func (l *lab) coldRun(ctx context.Context) (float64, error) {
	clone := filepath.Join(l.dir, fmt.Sprint("clone-", l.fresh))
	l.fresh++
	return timed(func(ctx context.Context) error {
		script := `git clone -q . "$1" && cd "$1" && make bin/gateway bin/sandboxd bin/runsc && bin/gateway version`
		return l.withEmptyCache(ctx, "bash", "-euc", script, "bash", clone)
	})(ctx)
}

// coldRunsc builds the runtime alone from an empty build cache, which is the
// part that no project of this kind can avoid.
func (l *lab) coldRunsc(ctx context.Context) (float64, error) {
	return timed(func(ctx context.Context) error {
		script := `cd tools/runsc && go build -o "$1/runsc" gvisor.dev/gvisor/runsc`
		return l.withEmptyCache(ctx, "bash", "-euc", script, "bash", l.dir)
	})(ctx)
}

func (l *lab) withEmptyCache(ctx context.Context, argv ...string) error {
	cache, err := os.MkdirTemp(l.dir, "cache")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "GOCACHE="+cache, "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}
