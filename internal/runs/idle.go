package runs

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"time"

	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

const (
	// idleWatch is how long the processes of a sandbox are watched for work.
	idleWatch = 5 * time.Second
	// idleTicks are as many hundredths of a second of processor time as they may
	// take in it without counting as at work.
	idleTicks = 50

	lookTime = 10 * time.Second
	maxStats = 1 << 20
)

// idle says whether the run's processes do nothing to speak of. When that
// cannot be found out, they are taken to work.
func (r *run) idle() bool {
	before, ok := r.ticks()
	if !ok || !r.sleep(idleWatch) {
		return false
	}
	after, ok := r.ticks()
	return ok && after-before < idleTicks
}

func (r *run) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.ctx.Done():
		return false
	}
}

// ticks gives the processor time that all processes in the sandbox have taken,
// in hundredths of a second.
func (r *run) ticks() (int64, bool) {
	ctx, cancel := context.WithTimeout(r.ctx, lookTime)
	defer cancel()
	cmd := sandboxclient.Command{Argv: []string{"/bin/sh", "-c", "cat /proc/[0-9]*/stat"}, Dir: "/", Timeout: lookTime, Keep: maxStats}
	var stats bytes.Buffer
	for e, err := range r.sandbox.ExecStream(ctx, cmd) {
		switch {
		case err != nil || e.Type == wire.EventError:
			return 0, false
		case e.Type == wire.EventStdout && stats.Len() < maxStats:
			stats.Write(e.Data)
		}
	}
	return sumTicks(stats.String()), true
}

// sumTicks adds up the times in lines of /proc/*/stat: in user and kernel mode,
// and those of children that are gone. What has another form counts for nothing,
// and neither does the daemon with its shims, who watch over the program and are
// not it.
func sumTicks(stats string) int64 {
	var sum int64
	for line := range strings.Lines(stats) {
		end := strings.LastIndex(line, ")") // a name may hold anything
		fields := strings.Fields(line[end+1:])
		if len(fields) < 15 || strings.HasSuffix(line[:end+1], " (sandboxd)") || strings.HasSuffix(line[:end+1], " (exe)") {
			continue
		}
		for _, field := range fields[11:15] {
			if ticks, err := strconv.ParseInt(field, 10, 64); err == nil {
				sum += ticks
			}
		}
	}
	return sum
}
