package kernel_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"sandgate/sandboxclient/wire"
)

func TestPython_values(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		n.expectAll(t, []answer{
			{name: "expression", code: "1+1", results: []string{"2"}},
			{name: "only_the_last", code: "1\n2", results: []string{"2"}},
			{name: "string", code: "'it''s'", results: []string{`'its'`}},
			{name: "none", code: "None"},
			{name: "assignment", code: "x = 41"},
			{name: "kept_variable", code: "x + 1", results: []string{"42"}},
			{name: "function", code: "def f(a):\n    return a * 2"},
			{name: "empty", code: ""},
			{name: "comment", code: "# nothing"},
			{name: "if_main", code: "if __name__ == '__main__':\n    print('main')", stdout: "main\n"},
			{name: "long_list_as_repr", code: "list(range(40))", results: []string{longList(40)}},
			{name: "underscore", code: "5", results: []string{"5"}},
			{name: "underscore_kept", code: "_ * 2", results: []string{"10"}},
			{name: "future_is_kept", code: "from __future__ import annotations"},
			{name: "future_is_used", code: "def g(a: undefined): pass\ng.__annotations__", results: []string{"{'a': 'undefined'}"}},
			{name: "source", code: "import inspect\nprint(inspect.getsource(f), end='')", stdout: "def f(a):\n    return a * 2\n"},
			{name: "pickle", code: "import pickle\nclass P:\n    a = 1\npickle.loads(pickle.dumps(f)) is f, pickle.loads(pickle.dumps(P())).a", results: []string{"(True, 1)"}},
			{name: "dataclass", code: "from dataclasses import dataclass\n@dataclass\nclass D:\n    a: int = 1\nD()", results: []string{"D(a=1)"}},
			{name: "chdir", code: "import os; os.makedirs('/tmp/elsewhere', exist_ok=True); os.chdir('/tmp/elsewhere')"},
			{name: "chdir_is_kept", code: "os.getcwd()", results: []string{"'/tmp/elsewhere'"}},
			{name: "module_beside", code: "open('beside.py', 'w').write('v = 7\\n'); import beside; beside.v", results: []string{"7"}},
			{name: "print", code: "print('世界', 1, sep='-', end='!\\n')", stdout: "世界-1!\n"},
			{name: "print_nowhere", code: "print('x', file=open('/dev/null', 'w'))"},
			{name: "print_surrogate", code: `print('\ud800')`, stdout: "\\ud800\n"},
			{name: "print_to_stderr", code: "import sys; print('e', file=sys.stderr)", stderr: "e\n"},
			{name: "numpy", code: "import numpy; numpy.arange(3)", results: []string{"array([0, 1, 2])"}},
			{name: "bytes", code: "import sys; n = sys.stdout.buffer.write(b'raw\\n')", stdout: "raw\n"},
		})
	})
}

func longList(n int) string {
	var numbers []string
	for i := range n {
		numbers = append(numbers, strconv.Itoa(i))
	}
	return "[" + strings.Join(numbers, ", ") + "]"
}

func TestPython_execution(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		first := n.run(t, "1")
		second := n.run(t, "1")
		if !first.start.KernelStarted || second.start.KernelStarted {
			t.Errorf("kernel started: %v, then %v", first.start.KernelStarted, second.start.KernelStarted)
		}
		if first.exit.ExecutionCount != 1 || second.exit.ExecutionCount != 2 {
			t.Errorf("counts are %d, %d", first.exit.ExecutionCount, second.exit.ExecutionCount)
		}
		if second.exit.DurationMS <= 0 {
			t.Errorf("duration is %v", second.exit.DurationMS)
		}
		contexts, err := n.sandbox.Contexts(t.Context())
		if err != nil || len(contexts) != 1 || contexts[0].Engine != n.engine {
			t.Errorf("contexts are %+v, %v", contexts, err)
		}
	})
}

func TestPython_errors(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		n.expectAll(t, []answer{
			{
				name: "exception", code: "print('before')\n1/0", err: "ZeroDivisionError", stdout: "before\n",
				stderr: "Traceback (most recent call last):\n  File \"<cell 1>\", line 2, in <module>\n    1/0\n…",
			},
			{name: "syntax", code: "def f(:", err: "SyntaxError", stderr: "  File \"<cell 2>\", line 1\n    def f(:\n          ^\nSyntaxError: invalid syntax\n"},
			{name: "nothing_runs_before_a_syntax_error", code: "print('no')\nreturn 5", err: "SyntaxError", stderr: "  File \"<cell 3>\", line 2\n    return 5\n…"},
			{name: "nul", code: "x = '\x00'", err: "ValueError", stderr: "ValueError: source code string cannot contain null bytes\n"},
			{name: "exit", code: "import sys; sys.exit(3)", err: "SystemExit"},
			{name: "exit_with_words", code: "sys.exit('bye')", err: "SystemExit", stderr: "bye\n"},
			{name: "exit_builtin", code: "exit()", err: "SystemExit"},
			{name: "quit_builtin", code: "quit(2)", err: "SystemExit"},
			{name: "own_keyboard_interrupt", code: "raise KeyboardInterrupt", err: "KeyboardInterrupt", stderr: "Traceback…"},
			{name: "own_signal", code: "import signal; signal.raise_signal(signal.SIGINT)", err: "KeyboardInterrupt", stderr: "Traceback…"},
			{name: "base_exception", code: "class B(BaseException): pass\nraise B('b')", err: "B", stderr: "Traceback…"},
			{name: "of_a_module", code: "import json; json.loads('{')", err: "JSONDecodeError", stderr: "Traceback…"},
			{name: "recursion", code: "def r(): r()\nr()", err: "RecursionError", stderr: "Traceback…"},
			{name: "broken_str", code: "class E(Exception):\n    def __str__(self): 1/0\nraise E", err: "E", stderr: "Traceback…"},
			{name: "broken_repr", code: "class R:\n    def __repr__(self): 1/0\nR()", err: "ZeroDivisionError", stderr: "Traceback…"},
			{name: "thread", code: "import threading\ndef fail(): 1/0\nt = threading.Thread(target=fail); t.start(); t.join()", stderr: "Exception in thread…"},
			{name: "warning", code: "import warnings; warnings.warn('careful')", stderr: "<cell 17>:1: UserWarning: careful\n…"},
			{name: "many_long_lines", code: `raise Exception("\n".join(["x" * 60000] * 300))`, err: "Exception", stderr: "Traceback…"},
			{name: "long_message", code: "raise Exception('\x01' * 20_000_000)", err: "Exception", stderr: "Traceback…"},
			{name: "long_farewell", code: "sys.exit('bye' * 10_000_000)", err: "SystemExit", stderr: "byebye…"},
			{name: "long_name", code: "raise type('E' * 20_000_000, (Exception,), {})", err: strings.Repeat("E", 256), stderr: "Traceback…"},
			{name: "line_beyond_all", code: "e = SyntaxError('s'); e.filename, e.lineno = '<cell 22>', 10**30\nraise e", err: "SyntaxError", stderr: "Traceback…"},
			{name: "line_of_any_type", code: "e.filename, e.lineno = '<cell 23>', {1}\nraise e", err: "SyntaxError", stderr: "SyntaxError\n"},
			{name: "text_of_any_type", code: "class S(str):\n    def __getitem__(self, i): return {1}\nclass T(Exception):\n    def __str__(self): return S('s')\nraise T", err: "T", stderr: "Traceback…"},
			{name: "alive", code: "sys.exit.__name__", results: []string{"'exit'"}},
		})
	})
}

func TestPython_errorIsTold(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		e := n.run(t, "def f():\n    raise ValueError('two\\nlines')\n\nf()").exit.Error
		want := []string{
			"Traceback (most recent call last):",
			`  File "<cell 1>", line 4, in <module>`, "    f()",
			`  File "<cell 1>", line 2, in f`, `    raise ValueError('two\nlines')`,
			"ValueError: two", "lines",
		}
		if e == nil || e.Message != "two\nlines" || e.LineNumber != 2 || !slices.Equal(e.Traceback, want) {
			t.Errorf("error is %+v, want traceback %q", e, want)
		}
		e = n.run(t, "f()").exit.Error
		if e == nil || e.LineNumber != 1 || !slices.Contains(e.Traceback, `  File "<cell 1>", line 2, in f`) {
			t.Errorf("an error in another cell's function is %+v", e)
		}
		e = n.run(t, "exit(3)").exit.Error
		if e == nil || e.Message != "3" || len(e.Traceback) != 0 {
			t.Errorf("exit(3) is %+v", e)
		}
		e = n.run(t, "\nx = = 1").exit.Error
		if e == nil || e.LineNumber != 2 {
			t.Errorf("a syntax error is %+v", e)
		}
	})
}

func TestPython_causesAreTold(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		chained := n.run(t, "try:\n    1/0\nexcept Exception as e:\n    raise ValueError('two') from e")
		if !strings.Contains(chained.stderr, "ZeroDivisionError: division by zero\n\nThe above exception was the direct cause") {
			t.Errorf("a cause is told as %q", chained.stderr)
		}
		group := n.run(t, "raise ExceptionGroup('g', [ValueError(1), TypeError('x')])")
		if !strings.Contains(group.stderr, "+---------------- 2 ----------------\n    | TypeError: x\n") {
			t.Errorf("a group is told as %q", group.stderr)
		}
		deep := n.run(t, "import sys; sys.setrecursionlimit(20000)\ndef a(): b()\ndef b(): a()\na()")
		if !strings.Contains(deep.stderr, "frames left out") || len(deep.stderr) > 64<<10 {
			t.Errorf("a deep stack is told in %d bytes", len(deep.stderr))
		}
		for _, o := range []outcome{chained, group, deep} {
			if strings.Contains(o.stderr, "sandgate_kernel") || strings.Contains(o.stderr, "/IPython/") {
				t.Errorf("frames that are not the user's in %q", o.stderr)
			}
		}
	})
}

func TestPython_await(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		n.expectAll(t, []answer{
			{name: "await", code: "import asyncio\nawait asyncio.sleep(0)\n7", results: []string{"7"}},
			{name: "value", code: "async def three(): return 3\nawait three()", results: []string{"3"}},
			{name: "run", code: "asyncio.run(three())", results: []string{"3"}},
			{name: "await_after_run", code: "await three()", results: []string{"3"}},
			{name: "comprehension", code: "[await three() for _ in range(2)]", results: []string{"[3, 3]"}},
			{name: "task", code: "async def tick():\n    await asyncio.sleep(.01)\n    print('tick')\n    return 'done'\ntask = asyncio.create_task(tick()); await asyncio.sleep(0)"},
			{name: "task_goes_on", code: "await task", stdout: "tick\n", results: []string{"'done'"}},
			{name: "error", code: "async def fail(): 1/0\nawait fail()", err: "ZeroDivisionError", stderr: "Traceback (most recent call last):\n  File \"<cell 8>\", line 2, in <module>\n…"},
			{name: "coroutine_is_a_value", code: "c = three(); c.close(); type(c).__name__", results: []string{"'coroutine'"}},
		})
	})
}

// What lies in the workspace cannot break the kernel by its name.
func TestPython_shadowedModules(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		n.run(t, "for name in 'json', 'traceback', 'linecache', 'tokenize', 'binascii', 're':\n    open(name + '.py', 'w').write('raise RuntimeError(__file__)')")
		other := n.beside("other")
		other.expect(t, answer{code: "{'a': 1}", results: []string{"{'a': 1}"}})
		other.expect(t, answer{code: "1/0", err: "ZeroDivisionError", stderr: "Traceback…"})
	})
}

// An interpreter that was replaced is told, and what it held is gone.
func TestPython_newKernelAfterDeath(t *testing.T) {
	eachEngine(t, func(t *testing.T, n *notebook) {
		n.expect(t, answer{code: "x = 1"})
		if o := n.run(t, "import os; os._exit(3)"); o.exit.KernelDied != "exited with status 3" {
			t.Errorf("exit is %+v", o.exit)
		}
		o := n.run(t, "x")
		if o.errorName() != "NameError" || !o.start.KernelStarted || o.start.Reason != "exited with status 3" {
			t.Errorf("the next cell: %+v, start %+v", o.exit, o.start)
		}
		if o.exit.ExecutionCount != 1 || o.exit.Status != wire.StatusExited {
			t.Errorf("the next cell: %+v", o.exit)
		}
	})
}
