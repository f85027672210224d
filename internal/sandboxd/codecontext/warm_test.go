package codecontext

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandgate/sandboxclient/wire"
)

// changesText tells changes of an environment in one word.
func changesText(env map[string]*string) string {
	var changes []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if value := env[name]; value != nil {
			changes = append(changes, name+"="+*value)
		} else {
			changes = append(changes, "-"+name)
		}
	}
	return strings.Join(changes, ",")
}

func spec(language string, env ...string) wire.ContextSpec {
	s := wire.ContextSpec{ID: "a", Language: language, Dir: "/", Env: make(map[string]string)}
	for i := 0; i < len(env); i += 2 {
		s.Env[env[i]] = env[i+1]
	}
	return s
}

func (r *rig) warm(s wire.ContextSpec, modules ...string) (wire.Warmed, error) {
	return r.set.Warm(r.Context(), wire.WarmRequest{ContextSpec: s, Preload: modules})
}

func (r *rig) mustWarm(s wire.ContextSpec, modules ...string) wire.Warmed {
	r.Helper()
	warmed, err := r.warm(s, modules...)
	if err != nil {
		r.Fatal(err)
	}
	return warmed
}

func (r *rig) wantJournal(want string) {
	r.Helper()
	if got := r.text(); got != want {
		r.Errorf("got %s, want %s", got, want)
	}
}

func TestWarm_firstCellIsToldOfAFreshKernel(t *testing.T) {
	inBubble(t, func(r *rig) {
		warmed := r.mustWarm(spec(wire.Python), "numpy", "broken")
		info := warmed.Context
		if info.State != wire.ContextIdle || info.Engine != "engine" || info.Starts != 1 || info.ExecutionCount != 0 {
			r.Errorf("warm, it is %+v", info)
		}
		if len(warmed.Failed) != 1 || warmed.Failed[0].Module != "broken" {
			r.Errorf("failed: %+v", warmed.Failed)
		}
		time.Sleep(time.Hour)
		began := time.Now()
		for i := range 2 {
			x := r.must(r.request(wire.RunRequest{Context: spec(wire.Python), Code: "x"}))
			if s := r.started(x); s.KernelStarted != (i == 0) || s.KernelStarts != 1 || s.Reason != "" {
				r.Errorf("cell %d starts in %+v", i, s)
			}
			if exit := r.exit(x); exit.ExecutionCount != i+1 {
				r.Errorf("cell %d: %+v", i, exit)
			}
		}
		if made := r.set.List()[0].CreatedAt; made.Before(began) {
			r.Errorf("it is told to be older than its first cell: %v", made)
		}
		r.wantJournal("start:python import:numpy run:x renewed: run:x")
	})
}

func TestWarm_cellsWaitForIt(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.startup = time.Second
		go func() { _, _ = r.warm(spec(wire.Python), "numpy") }()
		synctest.Wait()
		r.exit(r.must(r.request(wire.RunRequest{Context: spec(wire.Python), Code: "x"})))
		r.wantJournal("start:python import:numpy run:x renewed:")
	})
}

// A cell that is ended while it waits takes nothing with it.
func TestWarm_firstCellIsCanceled(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.startup = time.Second
		go func() { _, _ = r.warm(spec(wire.Python), "numpy") }()
		synctest.Wait()
		first := r.must(r.request(wire.RunRequest{Context: spec(wire.Python, "A", "1"), Code: "x"}))
		first.Cancel(wire.StatusCanceled)
		r.wantStatus(first, wire.StatusCanceled)
		x := r.must(r.request(wire.RunRequest{Context: spec(wire.Python, "A", "1"), Code: "y"}))
		if s := r.started(x); !s.KernelStarted || s.Reason != "" {
			r.Errorf("the next cell starts in %+v", s)
		}
		r.wantJournal("start:python import:numpy run:y renewed:A=1")
	})
}

func TestWarm_refused(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.mustWarm(spec(wire.Python))
		_, err := r.warm(spec(wire.Python))
		r.wantCode(err, wire.CodeConflict)
		for _, modules := range [][]string{{""}, {"a/b"}, {"a\x00"}, {strings.Repeat("a", maxModule+1)}, make([]string, maxPreload+1)} {
			s := spec(wire.Python)
			s.ID = "b"
			_, err := r.warm(s, modules...)
			r.wantCode(err, wire.CodeInvalid)
		}
		if n := len(r.set.List()); n != 1 {
			r.Errorf("%d contexts", n)
		}
	})
}

func TestWarm_failure(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.fails = errors.New("broken")
		_, err := r.warm(spec(wire.Python))
		r.wantCode(err, wire.CodeUnavailable)
		synctest.Wait()
		if n := len(r.set.List()); n != 0 {
			r.Errorf("%d contexts are left of it", n)
		}
		r.fails = nil
		r.exit(r.must(r.request(wire.RunRequest{Context: spec(wire.Python), Code: "x"})))
	})
}

// Nobody has lost anything with an interpreter that nobody used.
func TestWarm_deathBeforeTheFirstCell(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.mustWarm(spec(wire.Python), "deadly")
		time.Sleep(time.Minute)
		x := r.must(r.request(wire.RunRequest{Context: spec(wire.Python), Code: "x"}))
		if s := r.started(x); !s.KernelStarted || s.Reason != "" {
			r.Errorf("the first cell starts in %+v", s)
		}
	})
}

func TestWarm_deletedBeforeTheFirstCell(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.mustWarm(spec(wire.Python))
		if err := r.set.Delete(r.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		x := r.must(r.request(wire.RunRequest{Context: spec(wire.Python), Code: "x"}))
		if s := r.started(x); !s.KernelStarted || s.Reason != "" {
			r.Errorf("the first cell starts in %+v", s)
		}
	})
}

func TestWarm_environmentOfTheFirstCell(t *testing.T) {
	for name, tt := range map[string]struct {
		warm, cell wire.ContextSpec
		want       string
	}{
		"same":          {spec(wire.Python, "A", "1"), spec(wire.Python, "A", "1"), "start:python run:x renewed:"},
		"changed":       {spec(wire.Python, "A", "1", "B", "2", "C", "3"), spec(wire.Python, "A", "0", "C", "3", "D", "4"), "start:python run:x renewed:A=0,-B,D=4"},
		"of javascript": {spec(wire.JavaScript), spec(wire.JavaScript, "A", "1"), "start:javascript close start:javascript run:x"},
		"same of bash":  {spec(wire.Bash, "A", "1"), spec(wire.Bash, "A", "1"), "start:bash run:x renewed:"},
		"directory":     {spec(wire.Python), wire.ContextSpec{ID: "a", Language: wire.Python, Dir: "/usr"}, "start:python close start:python run:x"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				r.mustWarm(tt.warm)
				r.exit(r.must(r.request(wire.RunRequest{Context: tt.cell, Code: "x"})))
				synctest.Wait()
				if fmt.Sprint(sorted(r.text())) != fmt.Sprint(sorted(tt.want)) { // the end of one, and what follows it, go on beside each other
					r.Errorf("got %s, want %s", r.text(), tt.want)
				}
			})
		})
	}
}

func sorted(words string) []string { return slices.Sorted(strings.FieldsSeq(words)) }

func TestWarm_languageOfTheFirstCell(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.mustWarm(spec(wire.Python))
		_, err := r.request(wire.RunRequest{Context: spec(wire.Bash), Code: "x"})
		r.wantCode(err, wire.CodeConflict)
	})
}

func TestMoved_endsWhatCannotBeOneOfMany(t *testing.T) {
	inBubble(t, func(r *rig) {
		for _, language := range []string{wire.Python, wire.JavaScript, wire.Bash} {
			s := spec(language)
			s.ID = language
			r.mustWarm(s)
		}
		used := spec(wire.Bash)
		used.ID = "used"
		r.exit(r.must(r.request(wire.RunRequest{Context: used, Code: "x"})))
		r.set.Moved()
		synctest.Wait()
		var left []string
		for _, info := range r.set.List() {
			left = append(left, info.ID)
		}
		if !slices.Equal(left, []string{wire.Python, "used"}) {
			r.Errorf("%q are left", left)
		}
		again := spec(wire.JavaScript)
		again.ID = wire.JavaScript
		x := r.must(r.request(wire.RunRequest{Context: again, Code: "x"}))
		if s := r.started(x); !s.KernelStarted || s.Reason != "" {
			r.Errorf("then a first cell starts in %+v", s)
		}
	})
}
