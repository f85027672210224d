package runs

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"sandgate/sandboxclient"
)

// counting prints numbers, one a second.
func counting(n int) script {
	return func(p *program) {
		for i := range n {
			if p.ctx.Err() != nil {
				return
			}
			p.out(fmt.Sprintln(i))
			p.sleep(time.Second)
		}
	}
}

// In whatever moment the gateway is killed, the next one takes the run up where
// it was, and the log is as if nothing had happened.
func TestResume_goesOnFromAnyMoment(t *testing.T) {
	for second := range 10 {
		inBubble(t, func(t *testing.T, w *world) {
			slow := func(then script) script {
				return func(p *program) { p.sleep(1500 * time.Millisecond); then(p); p.sleep(time.Second) }
			}
			w.scripts["clone"] = slow(w.scripts["clone"])
			w.scripts["npm ci"] = slow(counting(2))
			w.scripts["npm test"] = counting(3)
			id := start(t, w.engine(), Request{}).ID
			time.Sleep(time.Duration(second)*time.Second + 100*time.Millisecond)
			w.crash()
			time.Sleep(1100 * time.Millisecond) // it goes on while nobody looks
			next := w.engine()
			got := watchFrom(t.Context(), next, id, 0)
			if got.err != nil || got.last().Type != "complete" || got.last().ExitCode == nil || *got.last().ExitCode != 0 {
				t.Fatalf("after %d s: %v %+v", second, got.types(), got.last())
			}
			want(t, fmt.Sprintf("output, killed after %d s", second), got.output(), "Cloning\n0\n1\n0\n1\n2\n")
			want(t, "commit", got.lines[slices.Index(got.types(), "clone ended")].Commit, commit)
			s, err := next.Get(t.Context(), owner, id)
			if err != nil || s.Commit != commit || s.Status != "exited" {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
}

func TestResume_saysWhatCannotGoOn(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.scripts["npm test"] = func(p *program) { p.out("begun\n"); p.wait() }
		e := w.engine(func(o *Options) { o.MaxRuns = 1 })
		running := start(t, e, Request{})
		secret := start(t, e, Request{Repository: "https://me:hunter2@git.example/you/project.git"})
		queued := start(t, e, Request{})
		synctest.Wait()
		w.crash()
		w.killAll()
		w.does("npm test", func(p *program) { p.out("ok\n") })
		next := w.engine(func(o *Options) { o.MaxRuns = 1 })
		for id, what := range map[string]string{
			running.ID: "did not survive the restart",
			secret.ID:  "credentials are not kept",
		} {
			last := watchFrom(t.Context(), next, id, 0).last()
			if last.Type != "error" || last.Code != sandboxclient.CodeUnavailable || !strings.Contains(last.Message, what) {
				t.Errorf("%s: %+v", what, last)
			}
		}
		want(t, "the queued one", watchFrom(t.Context(), next, queued.ID, 0).last().Status, "exited")
		for _, r := range w.sorted(anyRecord) {
			if strings.Contains(string(r.Progress)+string(r.Summary), "hunter2") {
				t.Errorf("a password was written down: %s", r.Progress)
			}
		}
	})
}

// A gateway that is killed between a run's last event and its record makes up
// for it.
func TestResume_writesTheRecordOfAnEndedLog(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.files["out/a.txt"] = "a"
		w.scripts["npm test"] = func(p *program) { p.sleep(2 * time.Second); p.exit(3) }
		e := w.engine()
		id := start(t, e, Request{Artifacts: []string{"out/*"}}).ID
		time.Sleep(time.Second)
		w.failSaves(errDead)
		told := watchFrom(t.Context(), e, id, 0)
		synctest.Wait()
		want(t, "state", w.record(id).State, StateRunning)
		w.crash()
		w.failSaves(nil)
		next := w.engine()
		synctest.Wait()
		want(t, "state afterwards", w.record(id).State, StateEnded)
		s, err := next.Get(t.Context(), owner, id)
		if err != nil || s.Status != "exited" || s.ExitCode == nil || *s.ExitCode != 3 || len(s.Artifacts) != 1 || s.Commit != commit {
			t.Errorf("%+v, %v", s, err)
		}
		again := watchFrom(t.Context(), next, id, 0)
		want(t, "events", strings.Join(again.types(), ","), strings.Join(told.types(), ","))
		want(t, "sandboxes left", w.sandboxes(), 0)
	})
}

// What is damaged, or was taken away, ends the run with words, and the gateway
// starts all the same.
func TestResume_bearsDamage(t *testing.T) {
	for name, damage := range map[string]func(w *world, id string) error{
		"no log":      func(w *world, id string) error { return os.Remove(w.log(id)) },
		"a cut log":   func(w *world, id string) error { return os.Truncate(w.log(id), 0) },
		"a wrong log": func(w *world, id string) error { return os.WriteFile(w.log(id), []byte("1 0 {\n2 0 {\n"), 0o600) },
		"no summary": func(w *world, id string) error {
			r := w.record(id)
			r.Summary = nil
			return w.SaveRun(context.Background(), r)
		},
	} {
		inBubble(t, func(t *testing.T, w *world) {
			w.scripts["npm test"] = func(p *program) { p.out("begun\n"); p.wait() }
			id := start(t, w.engine(), Request{}).ID
			synctest.Wait()
			w.crash()
			if err := damage(w, id); err != nil {
				t.Fatal(err)
			}
			next := w.engine()
			last := watchFrom(t.Context(), next, id, 0).last()
			want(t, name+": type", last.Type, "error")
			want(t, name+": code", last.Code, sandboxclient.CodeUnavailable)
			synctest.Wait()
			want(t, name+": state", w.record(id).State, StateEnded)
			want(t, name+": sandboxes left", w.sandboxes(), 0)
			want(t, name+": another", watchFrom(t.Context(), next, start(t, next, Request{Command: "npm ci"}).ID, 0).last().Status, "exited")
		})
	}
}

// Whatever viewers do, and whenever the gateway is killed, each of them reads
// every event once, in its order.
func TestViewers_loseAndRepeatNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lines := rapid.IntRange(0, 30).Draw(rt, "lines")
		killAt := rapid.IntRange(-1, 35).Draw(rt, "killed after, s")
		stay := rapid.SliceOfN(rapid.IntRange(0, 12), 1, 12).Draw(rt, "viewer stays for, s")
		var wrong string
		synctest.Test(t, func(t *testing.T) { wrong = viewing(t, newWorld(t), lines, killAt, stay) })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// viewing runs a program that prints so many lines, kills the gateway after so
// many seconds, and has a viewer come and go. It tells what is wrong with what
// the viewer read.
func viewing(t *testing.T, w *world, lines, killAt int, stay []int) string {
	w.scripts["npm test"] = counting(lines)
	e := w.engine()
	id := start(t, e, Request{}).ID
	var seen watched
	watch := func(d time.Duration) (ended bool) {
		ctx, leave := context.WithTimeout(t.Context(), d)
		defer leave()
		var after int64
		if n := len(seen.seqs); n > 0 {
			after = seen.seqs[n-1]
		}
		part := watchFrom(ctx, e, id, after)
		seen.seqs, seen.lines = append(seen.seqs, part.seqs...), append(seen.lines, part.lines...)
		return part.err == nil
	}
	killed := killAt < 0
	began := time.Now()
	for i := 0; ; i++ {
		d := time.Duration(stay[i%len(stay)]) * time.Second
		if left := time.Duration(killAt)*time.Second - time.Since(began); !killed && d >= left {
			if watch(left) {
				break
			}
			synctest.Wait()
			w.crash()
			killed, e = true, w.engine()
			continue
		}
		if watch(d + time.Millisecond) {
			break
		}
	}
	return seen.complaint(watchFrom(t.Context(), e, id, 0))
}

// complaint compares what was read in parts with the whole.
func (w watched) complaint(whole watched) string {
	for i, seq := range w.seqs {
		if seq != int64(i+1) {
			return fmt.Sprintf("event %d is the viewer's %dth", seq, i+1)
		}
	}
	if !slices.Equal(w.types(), whole.types()) || w.output() != whole.output() {
		return fmt.Sprintf("the viewer read %q %q, and there is %q %q", w.types(), w.output(), whole.types(), whole.output())
	}
	return ""
}
