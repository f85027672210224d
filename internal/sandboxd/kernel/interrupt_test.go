package kernel_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sandgate/sandboxclient/wire"
)

// What Python can interrupt is interrupted, and the variables are kept.
func TestPython_timeout(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		n.run(t, "x = 5\nimport asyncio, os, subprocess, threading, time")
		for _, code := range []string{
			"time.sleep(1000)",
			"while True: pass",
			"while True: display(1)",
			"while True: print('x' * 100)",
			"subprocess.run(['sleep', '1000'])",
			"os.system('sleep 1000')\nwhile True: pass",
			"os.waitpid(os.spawnlp(os.P_NOWAIT, 'sleep', 'sleep', '1000'), 0)",
			"a = threading.Lock(); a.acquire(); a.acquire()",
			"threading.Event().wait()",
			"open('/tmp/fifo').read() if os.path.exists('/tmp/fifo') else os.mkfifo('/tmp/fifo') or open('/tmp/fifo').read()",
			"await asyncio.sleep(1000)",
			"async def spin():\n    while True: await asyncio.sleep(0)\nasyncio.run(spin())",
			"await spin()",
			"async def block():\n    while True: pass\nasyncio.run(block())",
			"try:\n    time.sleep(1000)\nfinally:\n    print('cleaned', end='')",
			"class Slow:\n    def __repr__(self): time.sleep(1000)\nSlow()",
			"class Slow(Exception):\n    def __str__(self): time.sleep(1000)\nraise Slow",
		} {
			o := n.runFor(t, 500*time.Millisecond, code)
			if o.exit.Status != wire.StatusTimedOut || o.exit.ExitCode == 0 || o.exit.KernelDied != "" {
				t.Errorf("%q ended as %+v", code, o.exit)
			}
			if o.exit.Error != nil || strings.Contains(o.stderr, "KeyboardInterrupt") {
				t.Errorf("%q tells an error: %+v, %q", code, o.exit.Error, o.stderr)
			}
			if strings.Contains(code, "finally") && o.stdout != "cleaned" {
				t.Errorf("%q prints %q", code, o.stdout)
			}
			n.expectVariable(t, "5")
		}
	})
}

// What heeds no interrupt is killed.
func TestPython_heedless(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		for _, code := range []string{
			"import time\nwhile True:\n    try: time.sleep(1000)\n    except: pass",
			"import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(1000)",
			"import re; re.match('(a*)*b', 'a' * 40)",
			"sum(range(10**13))",
		} {
			o := n.runFor(t, time.Second, "print('before')\n"+code)
			if o.exit.Status != wire.StatusTimedOut || o.stdout != "before\n" {
				t.Errorf("%q ended as %+v, stdout %q", code, o.exit, o.stdout)
			}
			if o.exit.KernelDied == "" {
				continue // this Python knows how to interrupt it
			}
			if o.exit.KernelDied != "killed: it did not end after an interrupt" || o.exit.DurationMS < 2900 {
				t.Errorf("%q ended as %+v", code, o.exit)
			}
			n.expect(t, answer{code: "1", results: []string{"1"}})
		}
	})
}

// An error of the cell's own is told even if an interrupt led to it.
func TestPython_errorAfterInterrupt(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		o := n.runFor(t, time.Second, "import time\ntry:\n    time.sleep(1000)\nexcept KeyboardInterrupt:\n    1/0")
		if o.exit.Status != wire.StatusTimedOut || o.errorName() != "ZeroDivisionError" || !strings.Contains(o.stderr, "ZeroDivisionError") {
			t.Errorf("exit %+v, stderr %q", o.exit, o.stderr)
		}
		o = n.runFor(t, time.Second, "print('kept')\ntry:\n    time.sleep(1000)\nexcept KeyboardInterrupt:\n    pass\n7")
		if o.exit.Status != wire.StatusTimedOut || len(o.results) != 1 {
			t.Errorf("exit %+v, results %q", o.exit, o.texts())
		}
	})
}

func TestPython_interrupt(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		n.run(t, "x = 5")
		interrupt := func(e wire.Event) {
			if e.Type == wire.EventStdout {
				if err := n.sandbox.InterruptContext(t.Context(), "default-python"); err != nil {
					t.Error(err)
				}
			}
		}
		o := n.runWith(t, "print('runs')\nwhile True: pass", n.opts, interrupt)
		if o.exit.Status != wire.StatusCanceled || o.exit.Error != nil {
			t.Errorf("exit is %+v", o.exit)
		}
		n.expectVariable(t, "5")
		if err := n.sandbox.InterruptContext(t.Context(), "default-python"); err == nil {
			t.Error("an idle context was interrupted")
		}
	})
}

// An interrupt ends what the cell has started, whatever it did to get away, and
// nothing that earlier cells have.
func TestPython_interruptKillsChildren(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		n.run(t, "import os, subprocess, time\ndef alive(pid):\n    try: return open(f'/proc/{pid}/stat').read().split()[2] != 'Z'\n    except FileNotFoundError: return False")
		n.run(t, "old = subprocess.Popen(['sleep', '1000'])\ntime.sleep(.1)")
		n.expect(t, answer{code: "alive(old.pid)", results: []string{"True"}})
		o := n.runFor(t, 2*time.Second, `young = subprocess.Popen(["sh", "-c", "setsid sh -c 'echo $$; exec sleep 1000' & echo $!; wait"], stdout=subprocess.PIPE)
pids = [young.pid, int(young.stdout.readline()), int(young.stdout.readline())]
print(all(map(alive, pids)))
time.sleep(1000)`)
		if o.exit.Status != wire.StatusTimedOut || o.stdout != "True\n" {
			t.Fatalf("exit %+v, stdout %q", o.exit, o.stdout)
		}
		n.expect(t, answer{code: "alive(old.pid), list(map(alive, pids))", results: []string{"(True, [False, False, False])"}})
	})
}

// What leftovers print comes with the next cell, and is told apart.
func TestPython_background(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		n.run(t, "import subprocess, threading, time")
		o := n.run(t, "p = subprocess.Popen('sleep .3; echo late; echo worse >&2', shell=True)")
		if o.stdout != "" || o.background != "" {
			t.Errorf("the cell itself tells %+v", o)
		}
		n.waitInOtherContext(t, time.Second)
		o = n.run(t, "print('mine')")
		if lines := strings.Split(o.background, "\n"); !slices.Contains(lines, "late") || !slices.Contains(lines, "worse") || o.stdout != "mine\n" {
			t.Errorf("background %q, stdout %q", o.background, o.stdout)
		}
		n.run(t, "threading.Timer(.3, print, ['x' * 300_000]).start()")
		n.waitInOtherContext(t, time.Second)
		o = n.run(t, "1")
		if len(o.background) != 64<<10 || len(o.warnings) != 1 || !strings.HasSuffix(o.background, "x\n") {
			t.Errorf("background of %d bytes, warnings %q", len(o.background), o.warnings)
		}
		if o = n.run(t, "2"); o.background != "" || len(o.warnings) != 0 {
			t.Errorf("told again: %q, %q", o.background, o.warnings)
		}
	})
}

// A flood from the background neither holds up a cell's end nor grows.
func TestPython_backgroundFlood(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		n.run(t, "import subprocess; p = subprocess.Popen(['yes'])")
		for range 3 {
			if o := n.run(t, "1"); len(o.results) != 1 || len(o.background) > 64<<10 {
				t.Errorf("results %q, background of %d bytes, start %+v, exit %+v, stderr %.500q", o.texts(), len(o.background), o.start, o.exit, o.stderr)
			}
		}
		n.run(t, "p.kill(); c = p.wait()")
	})
}

// A kernel that dies while nothing runs is noticed by the next cell at the latest.
func TestPython_deathWhileIdle(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		n.run(t, "import os, threading; threading.Timer(.2, os._exit, [4]).start()")
		n.waitInOtherContext(t, time.Second)
		contexts, err := n.sandbox.Contexts(t.Context())
		if err != nil || contexts[0].State != wire.ContextDead || contexts[0].Died != "exited with status 4" {
			t.Errorf("contexts are %+v, %v", contexts, err)
		}
		if o := n.run(t, "1"); len(o.results) != 1 || o.start.Reason != "exited with status 4" {
			t.Errorf("next cell: %q, start %+v", o.texts(), o.start)
		}
	})
}

// waitInOtherContext lets time pass in the sandbox.
func (n *notebook) waitInOtherContext(t *testing.T, d time.Duration) {
	t.Helper()
	n.beside("clock").run(t, "import time; time.sleep("+d.String()[:len(d.String())-1]+")")
}
