package runs

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandgate/sandboxclient"
)

// start takes a run on, which must be taken.
func start(t *testing.T, e *Engine, req Request) Summary {
	t.Helper()
	if req.Repository == "" {
		req.Repository = repository
	}
	s, err := e.Start(t.Context(), owner, req)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// inBubble runs a test on a clock of its own.
func inBubble(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newWorld(t)) })
}

func want[T comparable](t *testing.T, what string, got, wanted T) {
	t.Helper()
	if got != wanted {
		t.Errorf("%s: %v, want %v", what, got, wanted)
	}
}

func wantTypes(t *testing.T, got watched, types ...string) {
	t.Helper()
	if got.err != nil {
		t.Errorf("the stream broke: %v", got.err)
	}
	if !slices.Equal(got.types(), types) {
		t.Errorf("events:\n got %q\nwant %q", got.types(), types)
	}
}

func TestRun_clonesInstallsAndTests(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		e := w.engine()
		begun := start(t, e, Request{})
		want(t, "status at first", begun.Status, StatusQueued)
		got := watchFrom(t.Context(), e, begun.ID, 0)
		wantTypes(t, got, "start",
			"clone started", "stderr", "clone ended",
			"install started", "stdout", "install ended",
			"test started", "stdout", "test ended", "complete")
		first, last := got.lines[0], got.last()
		want(t, "command", first.Command, DefaultCommand)
		want(t, "status", last.Status, "exited")
		want(t, "exit code", *last.ExitCode, 0)
		want(t, "phase", last.Phase, PhaseTest)
		want(t, "commit", got.lines[3].Commit, commit)

		s, err := e.Get(t.Context(), owner, begun.ID)
		if err != nil {
			t.Fatal(err)
		}
		want(t, "summary's status", s.Status, "exited")
		want(t, "summary's commit", s.Commit, commit)
		want(t, "summary's repository", s.Repository, repository)
		synctest.Wait()
		want(t, "sandboxes left", w.sandboxes(), 0)
		again := watchFrom(t.Context(), e, begun.ID, 0)
		if !slices.Equal(again.seqs, got.seqs) || again.output() != got.output() {
			t.Errorf("afterwards the events are others: %v", again.types())
		}
	})
}

func TestRun_ofAFailingProgramIsComplete(t *testing.T) {
	for phase, name := range map[string]string{PhaseInstall: "npm ci", PhaseTest: "npm test"} {
		inBubble(t, func(t *testing.T, w *world) {
			w.scripts[name] = func(p *program) { p.err("no\n"); p.exit(7) }
			e := w.engine()
			last := watchFrom(t.Context(), e, start(t, e, Request{}).ID, 0).last()
			want(t, "type", last.Type, "complete")
			want(t, "phase", last.Phase, phase)
			want(t, "exit code", *last.ExitCode, 7)
		})
	}
}

func TestRun_whoseCloneFailsIsAnError(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.scripts["clone"] = func(p *program) {
			p.err("fatal: Authentication failed for 'https://git.example/'\n")
			p.exit(128)
		}
		e := w.engine()
		id := start(t, e, Request{}).ID
		got := watchFrom(t.Context(), e, id, 0)
		wantTypes(t, got, "start", "clone started", "stderr", "clone ended", "error")
		want(t, "phase", got.last().Phase, PhaseClone)
		s, err := e.Get(t.Context(), owner, id)
		if err != nil || s.Status != StatusError || s.Error == nil || s.ExitCode != nil {
			t.Errorf("%+v, %v", s, err)
		}
	})
}

func TestRun_takesTheVisitorsCommand(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.scripts["make check"] = func(p *program) { p.out(p.cmd.Env["CI"] + p.cmd.Env["X"]) }
		e := w.engine()
		id := start(t, e, Request{Command: "make check", Env: map[string]string{"X": "y"}}).ID
		got := watchFrom(t.Context(), e, id, 0)
		s, err := e.Get(t.Context(), owner, id)
		if err != nil || !s.OwnCommand {
			t.Errorf("%+v, %v", s, err)
		}
		wantTypes(t, got, "start", "clone started", "stderr", "clone ended", "test started", "stdout", "test ended", "complete")
		want(t, "output", got.output(), "Cloning\ntruey")
	})
}

func TestRun_installsAsTheLockFileAsks(t *testing.T) {
	for _, c := range []struct{ lock, content, command, program, warning string }{
		{"", "", "npm install", "npm install", "no_lock_file"},
		{"package-lock.json", "{}", "npm ci", "npm ci", ""},
		{"npm-shrinkwrap.json", "{}", "npm ci", "npm ci", ""},
		{"pnpm-lock.yaml", "lockfileVersion: '9.0'", "pnpm install --frozen-lockfile", "install pnpm", "pnpm_lock"},
		{"yarn.lock", "# yarn lockfile v1", "yarn install --frozen-lockfile", "install yarn", "yarn_lock"},
		{"yarn.lock", "# by Yarn\n\n__metadata:\n  version: 8", "yarn install --immutable", "install berry", "yarn_lock"},
	} {
		inBubble(t, func(t *testing.T, w *world) {
			lock := c.lock
			w.files = map[string]string{lock: c.content}
			w.scripts[c.program] = func(*program) {}
			e := w.engine()
			id := start(t, e, Request{}).ID
			got := watchFrom(t.Context(), e, id, 0)
			at := slices.Index(got.types(), "install started")
			if at < 0 {
				t.Fatalf("%s: %v", lock, got.types())
			}
			want(t, lock, got.lines[at].Command, c.command)
			want(t, lock+": warned", c.warning == "" || slices.Contains(got.types(), "warning "+c.warning), true)
			s, err := e.Get(t.Context(), owner, id)
			if err != nil || s.Command != c.command+" && npm test" || s.OwnCommand {
				t.Errorf("%s: command %q, %v", lock, s.Command, err)
			}
		})
	}
}

func TestStart_refuses(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		e := w.engine()
		for _, c := range []struct {
			req  Request
			code sandboxclient.Code
		}{
			{Request{Repository: ""}, sandboxclient.CodeInvalid},
			{Request{Repository: "--upload-pack=x"}, sandboxclient.CodeInvalid},
			{Request{Repository: "file:///etc"}, sandboxclient.CodeForbidden},
			{Request{Repository: "EXT::sh -c x"}, sandboxclient.CodeInvalid},
			{Request{Repository: "http://git.example/x"}, sandboxclient.CodeForbidden},
			{Request{Repository: "https://git.forbidden/x"}, sandboxclient.CodeForbidden},
			{Request{Repository: repository, Ref: "-x"}, sandboxclient.CodeInvalid},
			{Request{Repository: repository, Command: "a\x00"}, sandboxclient.CodeInvalid},
			{Request{Repository: repository, Env: map[string]string{"A=": ""}}, sandboxclient.CodeInvalid},
			{Request{Repository: repository, Artifacts: []string{"../x"}}, sandboxclient.CodeInvalid},
			{Request{Repository: repository, Artifacts: []string{"/etc/*"}}, sandboxclient.CodeInvalid},
			{Request{Repository: repository, Artifacts: []string{"[a"}}, sandboxclient.CodeInvalid},
			{Request{Repository: repository, Artifacts: []string{strings.Repeat("{a,b}", 5)}}, sandboxclient.CodeInvalid},
		} {
			if _, err := e.Start(t.Context(), owner, c.req); sandboxclient.CodeOf(err) != c.code {
				t.Errorf("%+v: %v, want %s", c.req, err, c.code)
			}
		}
		want(t, "records of those refused", len(w.sorted(anyRecord)), 0)
		for _, allowed := range []string{" " + repository + "\n", "http://127.0.0.1:8080/x.git"} {
			start(t, e, Request{Repository: allowed})
		}
	})
}

func TestQueue_isBoundedAndTold(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.scripts["npm test"] = func(p *program) { p.sleep(time.Minute) }
		e := w.engine(func(o *Options) { o.MaxRuns, o.MaxQueued = 1, 2 })
		first, second, third := start(t, e, Request{}), start(t, e, Request{}), start(t, e, Request{})
		_, err := e.Start(t.Context(), owner, Request{Repository: repository})
		if full := public(err); full.Code != sandboxclient.CodeExhausted || full.RetryAfter == 0 {
			t.Errorf("the fourth: %v", err)
		}
		got := watchFrom(t.Context(), e, third.ID, 0)
		want(t, "events", strings.Join(got.types()[:4], ","), "start,queued,queued,clone started")
		for _, id := range []string{first.ID, second.ID, third.ID} {
			want(t, "end", watchFrom(t.Context(), e, id, 0).last().Status, "exited")
		}
	})
}

func TestCancel(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.scripts["npm test"] = func(p *program) { p.out("begun\n"); p.wait() }
		e := w.engine(func(o *Options) { o.MaxRuns = 1 })
		running, queued := start(t, e, Request{}), start(t, e, Request{})
		synctest.Wait()
		for _, s := range []Summary{queued, running} {
			if err := e.Cancel(t.Context(), owner, s.ID); err != nil {
				t.Fatal(err)
			}
			last := watchFrom(t.Context(), e, s.ID, 0).last()
			want(t, "type", last.Type, "complete")
			want(t, "status", last.Status, "canceled")
			if err := e.Cancel(t.Context(), owner, s.ID); err != nil {
				t.Errorf("once more: %v", err)
			}
		}
		if err := e.Cancel(t.Context(), "somebody", running.ID); sandboxclient.CodeOf(err) != sandboxclient.CodeNotFound {
			t.Errorf("somebody else's: %v", err)
		}
	})
}

func TestTimeout_endsAsTimedOut(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.scripts["npm test"] = func(p *program) { p.wait() }
		e := w.engine()
		began := time.Now()
		got := watchFrom(t.Context(), e, start(t, e, Request{Timeout: time.Minute}).ID, 0)
		want(t, "status", got.last().Status, "timed_out")
		want(t, "phase", got.last().Phase, PhaseTest)
		want(t, "after", time.Since(began), time.Minute)
	})
}

func TestSandbox_thatDiesEndsTheRunWithAnError(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.scripts["npm test"] = func(p *program) { p.out("begun\n"); p.wait() }
		e := w.engine()
		id := start(t, e, Request{}).ID
		synctest.Wait()
		w.kill(id)
		got := watchFrom(t.Context(), e, id, 0)
		want(t, "type", got.last().Type, "error")
		want(t, "code", got.last().Code, sandboxclient.CodeUnavailable)
		want(t, "phase", got.last().Phase, PhaseTest)
		want(t, "what it said before", got.output(), "Cloning\nadded 1 package\nbegun\n")
	})
}

func TestSandbox_thatDiesBetweenPhasesIsNotReplaced(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		e := w.engine()
		w.scripts["npm ci"] = func(p *program) { w.vanish(strings.TrimSuffix(p.cmd.Execution, "-install")) }
		got := watchFrom(t.Context(), e, start(t, e, Request{Artifacts: []string{"*"}}).ID, 0)
		want(t, "type", got.last().Type, "error")
		want(t, "code", got.last().Code, sandboxclient.CodeUnavailable)
		synctest.Wait()
		want(t, "sandboxes", w.sandboxes(), 0)
	})
}

func TestSandbox_thatCannotStartIsToldAsItIs(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.createErr = sandboxclient.Errorf(sandboxclient.CodeExhausted, "100 sandboxes run already")
		e := w.engine()
		got := watchFrom(t.Context(), e, start(t, e, Request{}).ID, 0)
		wantTypes(t, got, "start", "error")
		want(t, "code", got.last().Code, sandboxclient.CodeExhausted)
		want(t, "phase", got.last().Phase, PhaseClone)
	})
}

func TestStop_endsRunsAndKeepsTheQueue(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.scripts["npm test"] = func(p *program) { p.out("begun\n"); p.wait() }
		e := w.engine(func(o *Options) { o.MaxRuns = 1 })
		running, queued := start(t, e, Request{}), start(t, e, Request{})
		synctest.Wait()
		ended := make(chan watched, 1)
		go func() { ended <- watchFrom(context.Background(), e, running.ID, 0) }()
		synctest.Wait()
		if err := e.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := <-ended
		want(t, "type", got.last().Type, "error")
		want(t, "code", got.last().Code, sandboxclient.CodeUnavailable)
		if _, err := e.Start(t.Context(), owner, Request{Repository: repository}); sandboxclient.CodeOf(err) != sandboxclient.CodeUnavailable {
			t.Errorf("afterwards: %v", err)
		}

		w.does("npm test", func(p *program) { p.out("ok\n") })
		next := w.engine()
		want(t, "the queued one", watchFrom(t.Context(), next, queued.ID, 0).last().Status, "exited")
		want(t, "the other one", watchFrom(t.Context(), next, running.ID, 0).last().Code, sandboxclient.CodeUnavailable)
	})
}
