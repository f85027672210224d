package drivertest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sandgate/sandboxclient"
)

func checkLimitsSeen(r *rig) {
	s := spec(r.newID())
	s.Limits.CPUs, s.Limits.OpenFiles = 1, 333
	id := r.startSpec(s)
	if got := r.must(id, "ulimit -n"); got != "333\n" {
		r.Errorf("open files: %q, want 333", got)
	}
	if r.cfg.Processors == nil {
		return
	}
	if got, want := r.must(id, "nproc"), fmt.Sprintln(r.cfg.Processors(s.Limits.CPUs)); got != want {
		r.Errorf("processors: %q, want %q", got, want)
	}
}

// checkMemory takes more than the sandbox has. Either the program alone ends and
// the sandbox goes on, or the sandbox ends and Dial says so.
func checkMemory(r *rig) {
	s := spec(r.newID())
	s.Limits.MemoryBytes = 256 << 20
	id := r.startSpec(s)
	r.must(id, "echo intact > /workspace/f; /usr/bin/python3 -c 'bytearray(64 << 20)'")

	res, err := r.client(id).exec(r.ctx(), patience/2, "/usr/bin/python3", "-c",
		"hog = []\nwhile True: hog.append(bytearray(os.urandom(1) * (16 << 20))) if 'os' in globals() else exec('import os', globals())")
	if err == nil && res.ok() {
		r.Fatalf("the hog ended well: %s", res)
	}
	r.Logf("the hog: %s, %v", res, err)
	if err != nil {
		r.gone(id, noticed)
		r.destroy(id, sandboxclient.KeepWorkspace)
		r.startSpec(s)
	}
	// What the hog held is given back a little later: the first command after it
	// can meet the same end.
	for tries := 0; ; tries++ {
		res, err := r.client(id).exec(r.ctx(), patience/2, "/bin/cat", "/workspace/f")
		if err == nil && res.ok() && res.stdout == "intact\n" {
			return
		}
		if tries == 20 {
			r.Fatalf("the workspace cannot be read after the hog: %s, %v", res, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// checkForkBomb holds as many processes as it gets, for a while.
func checkForkBomb(r *rig) {
	s := spec(r.newID())
	s.Limits.Processes = 64
	id := r.startSpec(s)
	c, ctx := r.client(id), r.ctx()
	type ended struct {
		res result
		err error
	}
	bomb, began := make(chan ended, 1), time.Now()
	go func() {
		res, err := c.exec(ctx, 4*time.Second, "/usr/bin/python3", "-c", forkBomb)
		bomb <- ended{res, err}
	}()
	for {
		select {
		case e := <-bomb:
			if e.err != nil || e.res.ok() {
				r.Errorf("the bomb: %s, %v, want it ended at its deadline", e.res, e.err)
			}
			r.Logf("ended after %v", time.Since(began))
			r.must(id, "true")
			return
		default:
			if err := answers(c); err != nil {
				r.Fatalf("sandboxd does not answer beside a fork bomb: %v", err)
			}
		}
	}
}

// forkBomb forks from every process until it may not, and goes on trying.
const forkBomb = `
import os, time
while True:
    try: os.fork()
    except OSError: time.sleep(0.2)
`

func answers(c *client) error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	return c.health(ctx)
}

func checkTmp(r *rig) {
	s := spec(r.newID())
	s.Limits.TmpBytes = 8 << 20
	id := r.startSpec(s)
	for _, dir := range []string{"/tmp", "/home/sandbox", "/dev/shm"} {
		r.must(id, "head -c 4000000 /dev/zero > "+dir+"/fits")
		res := r.sh(id, "head -c 16000000 /dev/zero > "+dir+"/bursts")
		if res.ok() || !strings.Contains(res.stderr, "No space left") {
			r.Errorf("%s: %s, want no space left", dir, res)
		}
	}
}
