package drivertest

import (
	"strings"
)

// checkNeighbours looks from one sandbox for what another one has and does.
func checkNeighbours(r *rig) {
	one, two := r.start(), r.start()
	r.must(one, "for d in /workspace /tmp /dev/shm /home/sandbox; do echo secret > $d/secret; done")
	r.must(one, "ls /workspace/secret /tmp/secret /dev/shm/secret /home/sandbox/secret")
	if got := r.must(two, "find /workspace /tmp /dev/shm /home/sandbox -name secret"); got != "" {
		r.Errorf("the neighbour's files: %s", got)
	}

	done := make(chan error, 1)
	c, ctx := r.client(one), r.ctx()
	go func() {
		_, err := c.exec(ctx, patience, "/usr/bin/python3", "-c", prelude+stand)
		done <- err
	}()
	r.must(one, "until test -e /workspace/stands; do sleep 0.05; done")
	for _, w := range []struct{ name, look string }{
		{"processes", `grep -l '[n]eighbour-marker' /proc/[0-9]*/cmdline`},
		{"loopback", python(connect("127.0.0.1", 7777))},
		{"abstract sockets", python(`socket.socket(socket.AF_UNIX).connect("\0neighbour")`)},
		{"shared memory", python(libc + "sys.exit(libc.shmget(7777, 4096, 0o666) < 0)")},
	} {
		if res := r.sh(one, w.look); !res.ok() {
			r.Errorf("%s: not there for its own sandbox: %s", w.name, res)
		}
		if res := r.sh(two, w.look); res.ok() {
			r.Errorf("%s: there for the neighbour: %s", w.name, res)
		}
	}
	r.must(one, "touch /workspace/end")
	if err := <-done; err != nil {
		r.Errorf("the neighbour: %v", err)
	}
}

// stand offers a process, a port, a socket and shared memory until it is told to end.
var stand = strings.Join([]string{
	"import time",
	`marker = "neighbour-marker"`,
	`tcp = socket.create_server(("127.0.0.1", 7777))`,
	`abstract = socket.socket(socket.AF_UNIX)`,
	`abstract.bind("\0neighbour")`,
	`abstract.listen()`,
	`assert ctypes.CDLL(None).shmget(7777, 4096, 0o1666) >= 0`,
	`open("/workspace/stands", "w").close()`,
	`while not os.path.exists("/workspace/end"): time.sleep(0.05)`,
}, "\n")
