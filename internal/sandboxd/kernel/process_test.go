package kernel_test

import (
	"strings"
	"testing"

	"sandgate/sandboxclient/wire"
)

// What bypasses sys.stdout is captured too, and in the order of its writing.
func TestPython_output(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		n.expectAll(t, []answer{
			{name: "descriptor", code: "import os\nprint('a'); n = os.write(1, b'b\\n'); print('c')", stdout: "a\nb\nc\n"},
			{name: "children", code: "import subprocess\nprint('a', end=''); os.system('echo b'); p = subprocess.run(['echo', 'c'])", stdout: "ab\nc\n"},
			{name: "child_on_stderr", code: "p = subprocess.run('echo e >&2', shell=True)", stderr: "e\n"},
			{name: "c", code: "import ctypes\nlibc = ctypes.CDLL(None); a = libc.puts(b'from C'), libc.fflush(None)", stdout: "from C\n"},
			{name: "cut_rune", code: "n = os.write(1, b'\\xe2\\x98'), os.write(1, b'\\x95\\n')", stdout: "☕\n"},
			{name: "much", code: "print('☕' * 100_000)", stdout: strings.Repeat("☕", 100_000) + "\n"},
			{name: "nonblocking_pipe", code: "os.set_blocking(1, False); print('x' * 300_000)", stdout: strings.Repeat("x", 300_000) + "\n"},
		})
		lines := n.run(t, "for i in range(20000): print(i)")
		if strings.Count(lines.stdout, "\n") != 20000 || !strings.HasSuffix(lines.stdout, "\n19999\n") {
			t.Errorf("20000 lines arrive as %d bytes", len(lines.stdout))
		}
	})
}

// Output is there while the cell runs, also without a newline.
func TestPython_outputStreams(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		n.run(t, "import os, time; os.mkfifo('/tmp/go')")
		released := false
		release := func(e wire.Event) {
			if e.Type == wire.EventStdout && string(e.Data) == "waiting" {
				released = true
				n.beside("other").run(t, "open('/tmp/go', 'w').write('on')")
			}
		}
		o := n.runWith(t, "print('waiting', end='')\nprint(open('/tmp/go').read())", n.opts, release)
		if !released || o.stdout != "waitingon\n" {
			t.Errorf("released %v, stdout %q", released, o.stdout)
		}
	})
}

func TestPython_stdin(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		eof := answer{code: "input()", err: "EOFError", stderr: "Traceback…"}
		n.expect(t, eof)
		n.expect(t, answer{code: "import sys, subprocess\nsys.stdin.read(), subprocess.run(['cat']).returncode", results: []string{"('', 0)"}})

		given := n.opts
		given.Stdin = []byte("one\ntwo\nthree\n")
		o := n.runWith(t, "input('? '), input()", given, func(wire.Event) {})
		if o.stdout != "? " || len(o.results) != 1 || o.results[0].Text != "('one', 'two')" {
			t.Errorf("input gives %q, %q", o.stdout, o.texts())
		}
		n.expect(t, eof) // what was not read is not for the next cell

		o = n.runWith(t, "p = subprocess.run(['cat'])\ninput()", given, func(wire.Event) {})
		if o.stdout != string(given.Stdin) || o.errorName() != "EOFError" {
			t.Errorf("a child reads %q, then %q", o.stdout, o.errorName())
		}
		given.Stdin = []byte(strings.Repeat("x", 1<<20))
		o = n.runWith(t, "len(sys.stdin.buffer.read())", given, func(wire.Event) {})
		if len(o.results) != 1 || o.results[0].Text != "1048576" {
			t.Errorf("much is read as %q", o.texts())
		}
	})
}

// A fork runs the cell to its end, and the parent alone answers.
func TestPython_fork(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		n.expectAll(t, []answer{
			{name: "both_print", code: "import os\npid = os.fork()\nif pid: _, status = os.waitpid(pid, 0)\nprint('parent' if pid else 'child')\nos.getpid() > 0", stdout: "child\nparent\n", results: []string{"True"}},
			{name: "child_fails", code: "pid = os.fork()\nif pid == 0: 1/0\nos.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])", stderr: "Traceback (most recent call last):\n  File \"<cell 2>\", line 2, in <module>\n…", results: []string{"1"}},
			{name: "child_exits", code: "pid = os.fork()\nif pid == 0: exit(7)\nos.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])", results: []string{"7"}},
			{name: "next_answer_is_right", code: "'next'", results: []string{"'next'"}},
			{name: "pool", code: "import multiprocessing\ndef square(x): return x * x\nwith multiprocessing.Pool(2) as pool: squares = pool.map(square, [1, 2, 3])\nsquares", results: []string{"[1, 4, 9]"}},
			{name: "spawn", code: "context = multiprocessing.get_context('spawn')\np = context.Process(target=print, args=('spawned',)); p.start(); p.join(); p.exitcode", stdout: "spawned\n", results: []string{"0"}},
			{name: "alive", code: "square(3)", results: []string{"9"}},
		})
	})
}

// Whatever a cell does to the interpreter's surroundings, the next one works.
func TestPython_mended(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		n.run(t, "x = 5")
		for _, code := range []string{
			"import os; os.close(1)",
			"import os; os.close(2); os.close(0)",
			"import os; os.dup2(os.open('/dev/null', os.O_WRONLY), 1)",
			"import sys; sys.stdout = None",
			"import sys; sys.stdout.close(); sys.stderr.close()",
			"import sys; sys.stdin.close()",
			"import sys; _ = sys.stdout.detach()",
			"import sys; sys.stdout = open('/dev/null', 'w')",
			"import builtins; del builtins.print, builtins.len",
			"import builtins; builtins.__dict__.clear()",
			"import builtins; del builtins.BaseException, builtins.isinstance; 1/0",
			"import sys; del sys.modules['__main__']",
			"del __name__, __builtins__",
			"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)",
			"import os; os.mkdir('/tmp/gone'); os.chdir('/tmp/gone'); os.rmdir('/tmp/gone')",
		} {
			if o := n.run(t, code); o.exit.KernelDied != "" {
				t.Errorf("%s: %+v", code, o.exit)
			}
			n.expect(t, answer{
				code:   "import sys; print('out', len('abc'), __name__); print('err', file=sys.stderr)\nclass C: pass\nx",
				stdout: "out 3 __main__\n", stderr: "err\n", results: []string{"5"},
			})
		}
		n.run(t, "globals().clear()")
		n.expect(t, answer{code: "class C: pass\nC.__module__", results: []string{"'__main__'"}})
	})
}

// Descriptor 201 is where the program keeps its end of the replies.
func TestPython_death(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		for _, c := range []struct {
			code   string
			status wire.Status
			exit   int
			signal string
			died   string
		}{
			{"os._exit(3)", wire.StatusExited, 3, "", "exited with status 3"},
			{"os._exit(0)", wire.StatusExited, 0, "", "exited with status 0"},
			{"os.kill(os.getpid(), 9)", wire.StatusSignaled, 137, "SIGKILL", "killed by SIGKILL (out of memory?)"},
			{"os.abort()", wire.StatusSignaled, 134, "SIGABRT", "killed by SIGABRT"},
			{"import ctypes; ctypes.string_at(0)", wire.StatusSignaled, 139, "SIGSEGV", "killed by SIGSEGV"},
			{"os.execv('/bin/true', ['true'])", wire.StatusExited, 0, "", "exited with status 0"},
			{"os.execv('/bin/sleep', ['sleep', '1000'])", wire.StatusSignaled, 137, "SIGKILL", "killed: it closed or broke its control channel"},
			{"os.closerange(3, 1000)", wire.StatusExited, 1, "", "exited with status 1"},
			{"os.write(201, b'garbage\\n'); import time; time.sleep(1000)", wire.StatusSignaled, 137, "SIGKILL", "killed: it closed or broke its control channel"},
			{`os.write(201, b'{"id":[]}\n'); import time; time.sleep(1000)`, wire.StatusSignaled, 137, "SIGKILL", "killed: it closed or broke its control channel"},
			{"data = b'x' * (18 << 20)\nos.write(201, data)", wire.StatusExited, 1, "", "exited with status 1"},
		} {
			o := n.run(t, "import os; print('last words', end=''); display(1)\n"+c.code)
			if o.exit.Status != c.status || o.exit.ExitCode != c.exit || o.exit.Signal != c.signal || o.exit.KernelDied != c.died {
				t.Errorf("%s ended as %+v", c.code, o.exit)
			}
			if o.stdout != "last words" || len(o.results) != 1 {
				t.Errorf("%s: what came before is %q, %q", c.code, o.stdout, o.texts())
			}
			if next := n.run(t, "1+1"); len(next.results) != 1 || next.start.Reason != c.died {
				t.Errorf("after %s: %q, start %+v", c.code, next.texts(), next.start)
			}
		}
	})
}

// Frames that are none of the cell's are nobody's, however right they look.
func TestPython_foreignFrames(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		o := n.run(t, `import os
for frame in (
    '{"id":1,"pid":1,"type":"done"}',
    '{"id":2,"pid":%d,"type":"done"}' % os.getpid(),
    '{"id":1,"pid":%d,"type":"bogus"}' % os.getpid(),
    '{"id":1,"pid":%d,"type":"ready"}' % os.getpid(),
    '{"id":1,"pid":%d,"type":"interrupted"}' % os.getpid(),
    '', '{}',
): os.write(201, frame.encode() + b"\n")
print("still here"); 3`)
		if o.stdout != "still here\n" || len(o.results) != 1 || o.exit.Status != wire.StatusExited {
			t.Errorf("cell: %q, %q, %+v", o.stdout, o.texts(), o.exit)
		}
		n.expect(t, answer{code: "4", results: []string{"4"}})
	})
}
