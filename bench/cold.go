package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// coldStart is measured once: it takes all cores for minutes.
func (l *lab) coldStart() comparison {
	return comparison{
		name: "cold make run, clone to answer", against: "runsc alone", aim: "no aim yet", unit: "ms", rounds: 1,
		measured: l.coldRun, reference: l.coldRunsc,
	}
}

// coldRunScript clones what is committed here, follows the README, and ends the
// gateway when it has run some code.
const coldRunScript = `git clone -q . "$1"
cd "$1"
make run ARGS="--listen $2 --admin-listen= --state-dir=$1/state" &
until curl -fsd 'print("hello")' "http://$2/run"; do
	kill -0 $! # it is still at it
	sleep 0.1
done 2>/dev/null
kill $!
wait $! || true`

func (l *lab) coldRun(ctx context.Context) (float64, error) {
	address, err := freeAddress()
	if err != nil {
		return 0, err
	}
	return l.fromEmptyCache(ctx, coldRunScript, filepath.Join(l.dir, "clone"), address)
}

// coldRunsc builds the runtime alone, which is the part that no project of this
// kind can avoid.
func (l *lab) coldRunsc(ctx context.Context) (float64, error) {
	return l.fromEmptyCache(ctx, `cd tools/runsc && go build -trimpath -o "$1" gvisor.dev/gvisor/runsc`, filepath.Join(l.dir, "runsc"))
}

// fromEmptyCache times a script with arguments that finds nothing built.
func (l *lab) fromEmptyCache(ctx context.Context, script string, args ...string) (float64, error) {
	cache, err := os.MkdirTemp(l.dir, "cache")
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, "bash", append([]string{"-euc", script, "bash"}, args...)...)
	cmd.Env = append(os.Environ(), "GOCACHE="+cache, "CGO_ENABLED=0")
	cmd.WaitDelay = time.Second // for compilers that outlive it
	return timed(func(context.Context) error {
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
		}
		return nil
	})(ctx)
}
