package runs

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

// An owner whose objects fill what they may keeps what still fits, and is told.
func TestArtifacts_haveTheRoomOfTheirOwner(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		maps.Copy(w.files, map[string]string{"a.txt": "four", "b.txt": "more than that"})
		e := w.engine(func(o *Options) { o.Quota = byName{} })
		id := start(t, e, Request{Artifacts: []string{"*.txt"}}).ID
		got := watchFrom(t.Context(), e, id, 0)
		if kept := got.last().Artifacts; len(kept) != 1 || kept[0].Name != "a.txt" {
			t.Errorf("kept %v", kept)
		}
		var told []string
		for _, line := range got.lines {
			if line.Code == "artifacts_quota" {
				told = append(told, line.Message)
			}
		}
		want(t, "told", strings.Join(told, "; "), "Your backups and what runs left leave room for 5 B of this run's")
	})
}

// What counts of a run that has ended is all that is kept of it; until then nothing
// does.
func TestRecord_countsWhatIsKept(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.files["a.txt"] = "four"
		w.scripts["npm test"] = func(p *program) { p.out("much\n"); p.sleep(time.Minute) }
		id := start(t, w.engine(), Request{Artifacts: []string{"*.txt"}}).ID
		synctest.Wait()
		want(t, "bytes while it runs", w.record(id).ObjectBytes, 0)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		var kept int64
		for info, err := range w.objects.List(t.Context(), objectPrefix(id)) {
			if err != nil {
				t.Fatal(err)
			}
			kept += info.Size
		}
		want(t, "bytes on record", w.record(id).ObjectBytes, kept)
		want(t, "log and artifact are kept", kept > 4, true)
	})
}

// Who may keep nothing more is told so before anything begins.
func TestStart_isRefusedWhereNothingCanBeKept(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		e := w.engine(func(o *Options) { o.Quota = byName{} })
		_, err := e.Start(t.Context(), "", Request{Repository: repository})
		want(t, "code", sandboxclient.CodeOf(err), sandboxclient.CodeNoSpace)
		start(t, e, Request{})
	})
}

// byName is a quota of a byte for each letter of the owner's name.
type byName struct{}

func (byName) Room(_ context.Context, who string) (int64, error) { return int64(len(who)), nil }
func (byName) NoRoom(string) error {
	return sandboxclient.Errorf(sandboxclient.CodeNoSpace, "full")
}

func TestArtifacts_areWhatTheGlobsMean(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		maps.Copy(w.files, map[string]string{
			"coverage/index.html": "<p>", "coverage/deep/er/a.json": "{}", "é, odd?#%41 name.txt": "odd",
			"link.txt": "-> /etc/passwd", "large.txt": strings.Repeat("x", 100), "other.md": "no",
			"bad\nname.txt": "x",
		})
		w.scripts["npm test"] = func(p *program) { p.exit(1) }
		e := w.engine(func(o *Options) { o.MaxArtifacts = 50 })
		id := start(t, e, Request{Artifacts: []string{"coverage/**", "*.txt"}}).ID
		got := watchFrom(t.Context(), e, id, 0)
		var names []string
		for _, a := range got.last().Artifacts {
			names = append(names, a.Name)
		}
		if wanted := []string{"coverage/deep/er/a.json", "coverage/index.html", "é, odd?#%41 name.txt"}; !slices.Equal(names, wanted) {
			t.Errorf("kept %q, want %q", names, wanted)
		}
		var skipped []string
		for _, line := range got.lines {
			if line.Code == "artifact_skipped" {
				skipped = append(skipped, line.Message)
			}
		}
		want(t, "told of", strings.Join(skipped, "; "),
			"large.txt is not kept: it does not fit with the others into what may be kept; link.txt is not kept: it is a link")

		a, err := e.Artifact(t.Context(), owner, id, "é, odd?#%41 name.txt", 0)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(a.Body)
		if err != nil || string(content) != "odd" || a.Size != 3 || a.URL != "/tests/"+id+"/artifacts/%C3%A9%2C%20odd%3F%23%2541%20name.txt" {
			t.Errorf("%q, %v, %+v", content, err, a.Artifact)
		}
		_ = a.Body.Close()
		for who, name := range map[string]string{owner: "other.md", "somebody": "coverage/index.html"} {
			if _, err := e.Artifact(t.Context(), who, id, name, 0); sandboxclient.CodeOf(err) != sandboxclient.CodeNotFound {
				t.Errorf("%s gets %s: %v", who, name, err)
			}
		}
	})
}

func TestFindArgv_looksAtInstalledFilesOnlyWhenAsked(t *testing.T) {
	for glob, pruned := range map[string]bool{"**/*.xml": true, "node_modules/x/y": false} {
		argv := findArgv([]string{glob})
		if slices.Contains(argv, "node_modules") != pruned || !slices.Contains(argv, ".git") {
			t.Errorf("%s: %q", glob, argv)
		}
	}
}

const nodeSummary = "✔ adds (1ms)\nℹ tests 1\nℹ suites 0\nℹ pass 1\nℹ fail 0\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0\nℹ duration_ms 5\n"

func TestResults_thatDisagreeAreNeverASuccess(t *testing.T) {
	for code, disagree := range map[int]bool{0: false, 1: true} {
		inBubble(t, func(t *testing.T, w *world) {
			w.scripts["npm test"] = func(p *program) { p.out(nodeSummary); p.exit(code) }
			e := w.engine()
			last := watchFrom(t.Context(), e, start(t, e, Request{}).ID, 0).last()
			if last.Results == nil || last.Results.Passed != 1 || last.ResultsDisagree != disagree || last.Status != "exited" || *last.ExitCode != code {
				t.Errorf("exit %d: %+v %+v", code, last, last.Results)
			}
		})
	}
}

// A program that printed its summary and lives on is ended, and told; one that
// goes on printing is let be.
func TestHanging_isEndedAfterTheSummary(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.scripts["npm test"] = func(p *program) {
			p.out(nodeSummary)
			for range 3 {
				p.sleep(20 * time.Second)
				p.out("still here\n")
			}
			p.wait()
		}
		e := w.engine()
		began := time.Now()
		got := watchFrom(t.Context(), e, start(t, e, Request{}).ID, 0)
		want(t, "status", got.last().Status, "timed_out")
		want(t, "warned", slices.Contains(got.types(), "warning did_not_exit"), true)
		want(t, "after", time.Since(began), 90*time.Second+idleWatch)
		want(t, "has results", got.last().Results != nil, true)
	})
}

// Silence after a summary is no hang while something works, as a compiler for
// the tests that come next.
func TestHanging_isNotWhatWorksInSilence(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.busy = idleTicks
		w.scripts["npm test"] = func(p *program) {
			p.out(nodeSummary)
			p.sleep(5 * time.Minute)
			p.out(nodeSummary)
		}
		e := w.engine()
		got := watchFrom(t.Context(), e, start(t, e, Request{}).ID, 0)
		want(t, "status", got.last().Status, "exited")
	})
}

func TestOutput_isKeptUpToALimitAndTold(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.scripts["npm ci"] = func(p *program) { p.out(strings.Repeat("x", 60)) }
		w.scripts["npm test"] = func(p *program) {
			for range 10 {
				p.out(strings.Repeat("y", 10))
			}
		}
		e := w.engine(func(o *Options) { o.Keep = 100 })
		got := watchFrom(t.Context(), e, start(t, e, Request{}).ID, 0)
		want(t, "output", len(got.output()), 98)
		want(t, "truncated", got.last().Truncated, true)
		want(t, "warnings", strings.Count(strings.Join(got.types(), ","), "warning output_truncated"), 1)
		want(t, "status", got.last().Status, "exited")
	})
}

func TestGap_isToldAsALoss(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.scripts["npm test"] = func(p *program) {
			p.emit(sandboxclient.Event{Type: wire.EventGap, Gap: &wire.Gap{From: 2, To: 9, Bytes: 77}})
		}
		e := w.engine()
		got := watchFrom(t.Context(), e, start(t, e, Request{}).ID, 0)
		want(t, "warned", slices.Contains(got.types(), "warning output_lost"), true)
		want(t, "truncated", got.last().Truncated, true)
	})
}

func TestRetention_forgetsRunsWithTheirObjects(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.files["a.txt"] = "a"
		e := w.engine(func(o *Options) { o.KeepFor = time.Hour })
		old := start(t, e, Request{Artifacts: []string{"*.txt"}}).ID
		time.Sleep(50 * time.Minute)
		recent := start(t, e, Request{}).ID
		synctest.Wait()
		orphan := objectPrefix("00000000-0000-4000-8000-000000000000") + "log"
		if _, err := w.objects.Put(t.Context(), orphan, strings.NewReader("x")); err != nil {
			t.Fatal(err)
		}
		reap(t, e, 20*time.Minute)
		for id, there := range map[string]bool{old: false, recent: true} {
			_, err := e.Get(t.Context(), owner, id)
			want(t, "is there", err == nil, there)
		}
		var keys []string
		for info, err := range w.objects.List(t.Context(), "") {
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, info.Key)
		}
		want(t, "objects", strings.Join(keys, ","), logKey(recent))
	})
}

// reap has the reaper work for a while.
func reap(t *testing.T, e *Engine, d time.Duration) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), d)
	defer stop()
	e.Reap(ctx)
}

func TestList_isNewestFirstAndPaged(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		e := w.engine()
		var ids []string
		for range 5 {
			ids = append(ids, start(t, e, Request{}).ID)
			time.Sleep(time.Second)
		}
		slices.Reverse(ids)
		var got []string
		for after, more := (Position{}), true; more; more = after != (Position{}) {
			page, next, err := e.List(t.Context(), owner, after, 2)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range page {
				got = append(got, s.ID)
			}
			after = next
		}
		if !slices.Equal(got, ids) {
			t.Errorf("got %v, want %v", got, ids)
		}
		if page, _, err := e.List(t.Context(), "somebody", Position{}, 2); err != nil || len(page) != 0 {
			t.Errorf("somebody else sees %v, %v", page, err)
		}
	})
}

func TestSumTicks_readsWhatItCan(t *testing.T) {
	const line = "9 (%s) S 1 9 9 0 -1 0 0 0 0 0 1 2 4 8 20 0 1 0\n"
	for stats, wanted := range map[string]int64{
		"":                            0,
		fmt.Sprintf(line, "node"):     15,
		fmt.Sprintf(line, "a) b (c)"): 15,
		fmt.Sprintf(line, "sandboxd"): 0,
		fmt.Sprintf(line, "exe"):      0,
		"9 (node) S 1":                0,
		"(((":                         0,
		")) x y":                      0,
		strings.Replace(fmt.Sprintf(line, "node"), "1 2", "x 2", 1): 14,
		fmt.Sprintf(line, "node") + fmt.Sprintf(line, "sh"):         30,
	} {
		want(t, stats, sumTicks(stats), wanted)
	}
}
