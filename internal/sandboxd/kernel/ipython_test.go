package kernel_test

import (
	"slices"
	"strings"
	"testing"
)

func TestIPython(t *testing.T) {
	n := newNotebook(t, "ipython")
	n.expectAll(t, []answer{
		{name: "no_noise", code: "6 * 7", results: []string{"42"}},
		{name: "out", code: "_, _1, Out[1]", results: []string{"(42, 42, 42)"}},
		{name: "in", code: "In[1], _i1", results: []string{"('6 * 7', '6 * 7')"}},
		{name: "command", code: "!echo out; echo err >&2", stdout: "out\n", stderr: "err\n"},
		{name: "command_in_order", code: "print('a')\n!echo b\nprint('c')", stdout: "a\nb\nc\n"},
		{name: "command_captured", code: "files = !printf 'a\\nb'\nlist(files)", results: []string{"['a', 'b']"}},
		{name: "command_fails", code: "!exit 3"},
		{name: "exit_code", code: "_exit_code", results: []string{"3"}},
		{name: "variable_in_command", code: "word = 'hi'\n!echo $word {1+1}", stdout: "hi 2\n"},
		{name: "magic", code: "%pwd", results: []string{"'/workspace'"}},
		{name: "automagic", code: "pwd", results: []string{"'/workspace'"}},
		{name: "variable_before_automagic", code: "ls = 3"},
		{name: "variable_not_automagic", code: "ls", results: []string{"3"}},
		{name: "magic_assigned", code: "here = %pwd\nhere", results: []string{"'/workspace'"}},
		{name: "capture", code: "%%capture captured\nprint('hidden')"},
		{name: "captured", code: "captured.stdout", results: []string{"'hidden\\n'"}},
		{name: "unknown_magic", code: "%nonsense", err: "UsageError", stderr: "Traceback (most recent call last):\n  File \"<cell 17>\", line 1…"},
		{name: "magic_fails", code: "%time 1/0", err: "ZeroDivisionError", stderr: "Traceback…"},
		{name: "semicolon", code: "5;"},
		{name: "semicolon_and_comment", code: "5; # hidden"},
		{name: "semicolon_in_string", code: "'a;'", results: []string{"'a;'"}},
		{name: "exit", code: "exit", results: []string{"Use exit() or Ctrl-D (i.e. EOF) to exit"}},
		{name: "get_ipython", code: "type(get_ipython()).__name__ != ''", results: []string{"True"}},
		{name: "run_cell", code: "r = get_ipython().run_cell('8')", results: []string{"8"}},
		{name: "script", code: "%%bash\necho out\necho err >&2", stdout: "out\n", stderr: "err\n"},
		{name: "recursion_limit", code: "import sys; sys.getrecursionlimit()", results: []string{"1000"}},
		{name: "autoreload", code: "%load_ext autoreload\n%autoreload 2"},
		{name: "after_autoreload", code: "1", results: []string{"1"}},
		{name: "reset", code: "%reset -f"},
		{name: "after_reset", code: "7", results: []string{"7"}},
	})
}

func TestIPython_timing(t *testing.T) {
	n := newNotebook(t, "ipython")
	if o := n.run(t, "%time sum(range(10))"); !strings.Contains(o.stdout, "Wall time") || !slices.Equal(o.texts(), []string{"45"}) {
		t.Errorf("%%time gives %q, %q", o.stdout, o.texts())
	}
	if o := n.run(t, "%%timeit -n1 -r1\n1+1"); !strings.Contains(o.stdout, "per loop") {
		t.Errorf("%%%%timeit gives %q, %+v", o.stdout, o.exit.Error)
	}
	if o := n.run(t, "len?"); len(o.results) != 1 || !strings.Contains(o.results[0].Text, "number of items") || strings.Contains(o.results[0].Text, "\x1b") {
		t.Errorf("len? gives %q", o.texts())
	}
}

func TestIPython_display(t *testing.T) {
	n := newNotebook(t, "ipython")
	o := n.run(t, "from IPython.display import HTML, Markdown, display, clear_output\ndisplay(HTML('<b>1</b>'), Markdown('**2**')); clear_output(); HTML('<i>3</i>')")
	if len(o.results) != 3 || o.results[0].HTML != "<b>1</b>" || o.results[1].Markdown != "**2**" || o.results[2].HTML != "<i>3</i>" {
		t.Errorf("results are %+v", o.results)
	}
	if o.stdout != "" || !strings.HasPrefix(o.results[0].Text, "<IPython.core.display.HTML object") {
		t.Errorf("stdout %q, text %q", o.stdout, o.results[0].Text)
	}
	registered := n.run(t, "get_ipython().display_formatter.formatters['text/html'].for_type(int, lambda i: f'<b>{i}</b>')\n7")
	if len(registered.results) != 1 || registered.results[0].HTML != "<b>7</b>" || registered.results[0].Text != "7" {
		t.Errorf("a registered formatter gives %+v", registered.results)
	}
	inline := n.run(t, "%matplotlib inline\nimport matplotlib.pyplot as plt\na = plt.plot([1, 2])")
	if forms(inline.results) != "p" || inline.stderr != "" {
		t.Errorf("inline gives %q, stderr %q, %+v", inline.texts(), inline.stderr, inline.exit.Error)
	}
	events := n.run(t, "def before(info): print('before', info.raw_cell)\nget_ipython().events.register('pre_run_cell', before)")
	if events.exit.Error != nil {
		t.Errorf("register: %+v", events.exit.Error)
	}
	n.expect(t, answer{code: "1", stdout: "before 1\n", results: []string{"1"}})
}
