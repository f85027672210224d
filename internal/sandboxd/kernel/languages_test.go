package kernel_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"sandgate/internal/sandboxtest"
	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

// A step is a cell of JavaScript or bash, and what comes of it.
type step struct {
	code   string
	stdin  string
	stdout string
	texts  []string
	json   string // of the last result
	error  string // its name
	said   string // in stderr
	line   int    // of the error
	exit   int
}

func runSteps(t *testing.T, language string, steps []step) {
	t.Helper()
	box := sandboxtest.Client(t).Sandbox(sandboxclient.Ref{Owner: "t", App: "kernel", Name: t.Name()})
	for _, s := range steps {
		run, err := box.RunCode(t.Context(), s.code, sandboxclient.RunOptions{Language: language, Stdin: []byte(s.stdin)})
		if err != nil {
			t.Fatalf("%q: %v", s.code, err)
		}
		s.check(t, run)
	}
}

func (s step) check(t *testing.T, run *sandboxclient.Run) {
	t.Helper()
	var texts []string
	var json string
	for _, r := range run.Results {
		texts, json = append(texts, r.Text), string(r.JSON)
	}
	var name string
	var line int
	if e := run.Exit.Error; e != nil {
		name, line = e.Name, e.LineNumber
	}
	if run.Stdout != s.stdout || !slices.Equal(texts, s.texts) || name != s.error || run.Exit.ExitCode != s.exit ||
		json != s.json || !strings.Contains(run.Stderr, s.said) || (s.line != 0 && line != s.line) || run.Exit.KernelDied != "" {
		t.Errorf("%q:\n got %+v %+v\nwant %+v", s.code, run, run.Exit.Error, s)
	}
}

func TestJavaScript_cells(t *testing.T) {
	needs(t, "node")
	runSteps(t, wire.JavaScript, []step{
		{code: "const q = 3"},
		{code: "q + 1", texts: []string{"4"}},
		{code: "const q = 4; q", texts: []string{"4"}},
		{code: "let y = await new Promise(r => setTimeout(() => r(5), 10)); y * 2", texts: []string{"10"}},
		{code: "({a: 1, b: [1, 'x']})", texts: []string{"{ a: 1, b: [ 1, 'x' ] }"}, json: `{"a":1,"b":[1,"x"]}`},
		{code: "'s'", texts: []string{"'s'"}},
		{code: "null", texts: []string{"null"}},
		{code: "undefined"},
		{code: "NaN", texts: []string{"NaN"}},
		{code: "10n ** 20n", texts: []string{"100000000000000000000n"}},
		{code: "const c = {}; c.c = c; c", texts: []string{"<ref *1> { c: [Circular *1] }"}},
		{code: "console.log('out'); console.error('err'); process.stdout.write('☕\\n')", stdout: "out\n☕\n", said: "err\n", texts: []string{"true"}, json: ""},
		{code: "display('d'); display({'text/html': '<b>x</b>'}); 3", texts: []string{"'d'", "{ 'text/html': '<b>x</b>' }", "3"}},
		{code: "1;\nthrow new TypeError('bad')", error: "TypeError", said: "TypeError: bad", line: 2, exit: 1},
		{code: "function f() { g() }\nf()", error: "ReferenceError", said: "at f (cell-", exit: 1},
		{code: "throw 'text'", error: "Uncaught", said: "Uncaught 'text'", exit: 1},
		{code: "let x = {", error: "SyntaxError", said: "SyntaxError", exit: 1},
		{code: "await Promise.reject(new RangeError('r'))", error: "RangeError", said: "RangeError: r", exit: 1},
		{code: "await import('node:fs')", error: "TypeError", said: "use require()", exit: 1},
		{code: "require('node:fs').readFileSync(0, 'utf8')", stdin: "hi", texts: []string{"'hi'"}},
		{code: "require('node:fs').readFileSync(0, 'utf8')", texts: []string{"''"}},
		{code: "require('node:child_process').execFileSync('echo', ['hi'], {stdio: 'inherit'})", stdout: "hi\n", texts: []string{"null"}},
		{code: "globalThis.z = 1; setTimeout(() => { throw new Error('later') }, 0); await new Promise(r => setTimeout(r, 50))", said: "Error: later"},
		{code: "z", texts: []string{"1"}},
	})
}

// What no frame could hold is cut or left out, and the kernel lives on.
func TestJavaScript_tooMuch(t *testing.T) {
	needs(t, "node")
	box := sandboxtest.Client(t).Sandbox(sandboxclient.Ref{Owner: "t", App: "kernel", Name: t.Name()})
	n := &notebook{sandbox: box, opts: sandboxclient.RunOptions{Language: wire.JavaScript}}
	n.expect(t, answer{code: "let x = 3"})
	const mib = "const mib = '\\x01'.repeat(1 << 20);"
	for _, c := range []struct {
		code     string
		err      string
		results  []string
		warnings []string
	}{
		{code: `throw new Error("x".repeat(9 << 20))`, err: "Error"},
		{code: `throw new Error("x\n".repeat(9 << 20))`, err: "Error"},
		{code: `throw "x".repeat(9 << 20)`, err: "Uncaught"},
		{code: `throw Object.assign(new Error(), { name: "N".repeat(18 << 20) })`, err: strings.Repeat("N", 256)},
		{code: `throw Object.assign(new Error("x"), { stack: "at cell-1.js:9".padEnd(40, "9") + ":1" })`, err: "Error"},
		{code: `throw Object.assign(new Error(), { message: Object.create(null) })`, err: "Error"},
		{code: `throw Object.defineProperty(new Error(), "stack", { get() { throw 1 } })`, err: "Error"},
		{code: `display({ "text/html": "x".repeat(18 << 20), "text/plain": "t" })`, results: []string{"t"}, warnings: []string{"result_too_large"}},
		{code: mib + `display({ "text/html": mib, "image/svg+xml": mib, "text/markdown": mib, "text/plain": "t" })`, results: []string{"t"}, warnings: []string{"result_too_large"}},
		{code: `display({ "text/plain": "t".repeat(18 << 20) })`, results: []string{strings.Repeat("t", 1<<20)}, warnings: []string{"result_too_large"}},
		{code: `display({ "text/html": "x", get "text/plain"() { return this.n = (this.n ?? 0) + 1 > 1 ? 1n : "t" } })`, results: []string{"t"}},
		{code: `({ [require("util").inspect.custom]() { throw { get name() { throw 1 } } } })`, results: []string{"[object that cannot be inspected]"}},
	} {
		o := n.run(t, c.code)
		if o.errorName() != c.err || !slices.Equal(o.texts(), append([]string{}, c.results...)) || !slices.Equal(o.warnings, c.warnings) || o.exit.KernelDied != "" {
			t.Errorf("%s: error %q, %d results, warnings %q, died %q", c.code, o.errorName(), len(o.results), o.warnings, o.exit.KernelDied)
		}
		n.expectVariable(t, "3")
	}
}

func TestBash_cells(t *testing.T) {
	runSteps(t, wire.Bash, []step{
		{code: "echo out; echo err >&2", stdout: "out\n", said: "err\n"},
		{code: "x='a b'; f() { echo \"f:$1\"; }; declare -A m=([k]=v); cd /tmp"},
		{code: "f \"$x\"; echo ${m[k]}; pwd", stdout: "f:a b\nv\n/tmp\n"},
		{code: "false", exit: 1},
		{code: "(exit 7)", exit: 7},
		{code: "echo $?", stdout: "0\n"},
		{code: "no-such-command", said: "no-such-command: command not found", exit: 127},
		{code: "if", said: "syntax error", exit: 2},
		{code: "cat", stdin: "hi", stdout: "hi"},
		{code: "cat", stdout: ""},
		{code: "echo \"it's \\$HOME \\\\ ☕\"\necho two", stdout: "it's $HOME \\ ☕\ntwo\n"},
		{code: "for i in 1 2 3; do break 1000; done; echo on", stdout: "on\n"},
		{code: "return 3 2>/dev/null; true"},
		{code: "read -r a b <<< 'one two'; echo $b", stdout: "two\n"},
		{code: "echo $x", stdout: "a b\n"},
	})
}

func TestLanguages_interruptKeepsTheState(t *testing.T) {
	needs(t, "node")
	box := sandboxtest.Client(t).Sandbox(sandboxclient.Ref{Owner: "t", App: "kernel", Name: t.Name()})
	for _, c := range []struct{ language, set, get, want string }{
		{wire.JavaScript, "const kept = 1", "console.log(kept)", "1\n"},
		{wire.Bash, "kept=1", "echo $kept", "1\n"},
	} {
		options := sandboxclient.RunOptions{Language: c.language, Timeout: 500 * time.Millisecond}
		loops := map[string][]string{
			wire.JavaScript: {"while (true) {}", "await new Promise(() => {})"},
			wire.Bash:       {"while :; do :; done", "sleep 600", "f() { while :; do :; done; }; while :; do f; done", "sleep 600 | cat"},
		}[c.language]
		if _, err := box.RunCode(t.Context(), c.set, sandboxclient.RunOptions{Language: c.language}); err != nil {
			t.Fatal(err)
		}
		for _, loop := range loops {
			run, err := box.RunCode(t.Context(), loop, options)
			if err != nil || run.Exit.Status != wire.StatusTimedOut || run.Exit.KernelDied != "" {
				t.Fatalf("%s: %+v, %v", loop, run, err)
			}
			run, err = box.RunCode(t.Context(), c.get, sandboxclient.RunOptions{Language: c.language})
			if err != nil || run.Stdout != c.want {
				t.Errorf("after %s: %+v, %v", loop, run, err)
			}
		}
	}
}

func TestLanguages_aDeathIsToldAndTheNextCellRuns(t *testing.T) {
	needs(t, "node")
	box := sandboxtest.Client(t).Sandbox(sandboxclient.Ref{Owner: "t", App: "kernel", Name: t.Name()})
	for language, cells := range map[string][2]string{
		wire.JavaScript: {"process.exit(3)", "console.log(1)"},
		wire.Bash:       {"exit 3", "echo 1"},
	} {
		run, err := box.RunCode(t.Context(), cells[0], sandboxclient.RunOptions{Language: language})
		if err != nil || run.Exit.KernelDied == "" || run.Exit.ExitCode != 3 {
			t.Errorf("%s: %+v, %v", cells[0], run, err)
		}
		run, err = box.RunCode(t.Context(), cells[1], sandboxclient.RunOptions{Language: language})
		if err != nil || run.Stdout != "1\n" || run.Start != sandboxclient.StartRestarted {
			t.Errorf("%s: %+v, %v", cells[1], run, err)
		}
	}
}

// needs skips, or in CI fails, a test on a machine without a program in /usr.
func needs(t *testing.T, program string) {
	t.Helper()
	if path, err := exec.LookPath(program); err != nil || !strings.HasPrefix(path, "/usr/") {
		sandboxtest.Missing(t, program+" is not in /usr")
	}
}
