package sleeptest

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"sandgate/sandboxclient/wire"
)

// preloaded are modules that draw random numbers, or could. Every Python has them
// but for the last.
var preloaded = []string{"random", "tempfile", "uuid", "secrets", "hashlib", "ssl", "multiprocessing.process", "numpy"}

// template gives a sandbox that sleeps with an interpreter that has run nothing.
func (h *host) template(engine string) *sandbox {
	h.Helper()
	return h.becomeTemplate(h.start(), engine)
}

func (h *host) becomeTemplate(s *sandbox, engine string, modules ...string) *sandbox {
	h.Helper()
	req := wire.WarmRequest{ContextSpec: warmSpec(engine), Preload: slices.Concat(modules, preloaded, []string{"no.such.module"})}
	var warmed wire.Warmed
	s.call(http.MethodPost, "/v1/contexts", req, &warmed)
	if warmed.Context.State != wire.ContextIdle || warmed.Context.Engine != engine || warmed.Context.ExecutionCount != 0 {
		h.Errorf("warm, it is %+v", warmed.Context)
	}
	failed := slices.DeleteFunc(warmed.Failed, func(f wire.FailedPreload) bool { return f.Module == "numpy" })
	if len(failed) != 1 || failed[0].Module != "no.such.module" || !strings.HasPrefix(failed[0].Message, "ModuleNotFoundError: ") {
		h.Errorf("failed: %+v", warmed.Failed)
	}
	for _, language := range []string{wire.JavaScript, wire.Bash} {
		s.call(http.MethodPost, "/v1/contexts", wire.WarmRequest{ContextSpec: context0(language)}, nil)
	}
	s.sleep()
	return s
}

func warmSpec(engine string) wire.ContextSpec {
	spec := context0(wire.Python)
	spec.Env = map[string]string{"SANDGATE_PYTHON_ENGINE": engine, "GONE": "soon", "PYTHONPATH": "/tmp/modules"}
	return spec
}

// first runs the first cell of a clone.
func (s *sandbox) first(engine, code string) outcome {
	s.Helper()
	spec := warmSpec(engine)
	delete(spec.Env, "GONE")
	spec.Env["NEW"] = "here"
	_, o := s.begin(wire.RunRequest{Context: spec, Code: code}, never)
	if !o.start.KernelStarted || o.start.Reason != "" || o.exit.ExecutionCount != 1 {
		s.Errorf("the first cell is told of %+v, and ends as %+v", o.start, o.exit)
	}
	return o
}

// draws are what two clones must not have in common.
const draws = `import os, random, ssl, tempfile, uuid, secrets, multiprocessing.process
try:
    import numpy.random as more
except ImportError:
    more = random
print(more.random(), random.random(), ssl.RAND_bytes(16).hex(), tempfile.mktemp(), uuid.uuid4(), uuid.getnode(), secrets.token_hex(),
    os.urandom(8).hex(), bytes(multiprocessing.process.current_process().authkey).hex())`

func TestClone(t *testing.T) {
	for _, engine := range []string{"ipython", "python"} {
		t.Run(engine, func(t *testing.T) { testClone(t, engine) })
	}
}

func testClone(t *testing.T, engine string) {
	h := newHost(t)
	// A module that draws from OpenSSL when it is imported.
	s := h.start()
	s.sh("mkdir /tmp/modules; echo 'import ssl; ssl.RAND_bytes(16)' > /tmp/modules/drawing.py")
	template := h.becomeTemplate(s, engine, "drawing")
	one, other := h.clone(template, nil), h.clone(template, nil)

	t.Run("random_numbers_differ", func(t *testing.T) {
		mine, theirs := strings.Fields(one.first(engine, draws).output), strings.Fields(other.first(engine, draws).output)
		if len(mine) != 9 || len(theirs) != 9 {
			t.Fatalf("drawn: %q, %q", mine, theirs)
		}
		for _, drawn := range mine {
			if slices.Contains(theirs, drawn) {
				t.Errorf("both have drawn %s", drawn)
			}
		}
	})
	t.Run("names_and_environment", func(t *testing.T) {
		code := "import os, sys\nos.environ.get('GONE'), os.environ['NEW'], sys.path[0], 'import_module' in dir(), os.getcwd()"
		if got := one.cell(code); got != "(None, 'here', '', False, '/workspace')" {
			t.Errorf("it is %s", got)
		}
	})
	t.Run("workspaces_are_apart", func(t *testing.T) {
		for name, s := range map[string]*sandbox{"one": one, "other": other} {
			s.do(http.MethodPut, "/v1/files?path=by-sandboxd", strings.NewReader(name)).Close()
			s.cell("open('by-kernel', 'w').write('" + name + "')")
		}
		for name, s := range map[string]*sandbox{"one": one, "other": other} {
			if got := s.sh("cat by-sandboxd by-kernel; ls -A"); got != name+name+"by-kernel\nby-sandboxd" {
				t.Errorf("%s has %q", name, got)
			}
		}
	})
	t.Run("other_languages_start_anew", func(t *testing.T) {
		for language, draw := range map[string]string{
			wire.JavaScript: "[Math.random(), require('crypto').randomBytes(16).toString('hex')].join()",
			wire.Bash:       "echo $RANDOM $RANDOM $RANDOM",
		} {
			mine, theirs := one.run(language, draw), other.run(language, draw)
			if !mine.start.KernelStarted || mine.start.Reason != "" || mine.exit.ExecutionCount != 1 {
				t.Errorf("%s is told of %+v, %+v", language, mine.start, mine.exit)
			}
			if mine.result+mine.output == theirs.result+theirs.output {
				t.Errorf("%s has drawn %s%s in both", language, mine.result, mine.output)
			}
		}
	})
	t.Run("what_runs_is_not_reseeded", func(t *testing.T) {
		want := one.cell("import random; random.seed(42); [random.random() for _ in range(4)]")
		one.cell("random.seed(42); drawn = [random.random(), random.random()]")
		one.sleep()
		one.wake()
		if got := one.cell("drawn + [random.random(), random.random()]"); got != want {
			t.Errorf("it goes on with %s, want %s", got, want)
		}
	})
}

// A template's clone may be given a workspace that others with the same memory
// have left.
func TestClone_onAWorkspaceThatExists(t *testing.T) {
	h := newHost(t)
	template := h.template("python")
	s := h.clone(template, func(s *sandbox) {
		s.sh("mkdir -p a/b; echo kept > a/b/file; echo 'raise SystemExit' > random.py; ln -s a link")
		for _, name := range []string{".sandgate-AAAA-left", "a/.sandgate-BBBB-left"} {
			s.sh("echo half > " + name)
		}
	})
	if got := s.first("python", "import random, json, os\n(open('a/b/file').read(), open('link/b/file').read(), random.__file__ is not None)").result; got != "('kept\\n', 'kept\\n', True)" {
		t.Errorf("the first cell gives %s", got)
	}
	swept := `for i in $(seq 600); do [ -z "$(find /workspace -name '.sandgate-*')" ] && echo swept && exit; sleep 0.1; done; find /workspace`
	if got := s.sh(swept); got != "swept" {
		t.Errorf("the workspace holds %s", got)
	}
	var listing wire.Listing
	s.call(http.MethodGet, "/v1/files?path=.", nil, &listing)
	var names []string
	for _, entry := range listing.Entries {
		names = append(names, entry.Name)
	}
	if !slices.Equal(names, []string{"a", "link", "random.py"}) {
		t.Errorf("listed: %q", names)
	}
}
