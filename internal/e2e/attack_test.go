package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"sandgate/internal/sandboxtest"
)

// Whatever one sandbox does, others answer beside it, soon and right; and it
// answers again itself afterwards. Not parallel: times are compared.
func TestAttack_harmsNobodyElse(t *testing.T) {
	g := start(t, "--memory", "512MiB", "--workspace-size", "64MiB", "--tmp-size", "64MiB")
	notebook(t, g, "neighbour", "x = 1")
	ask(t, http.MethodPut, file(g, "kept.txt"), "needle\nhay\n").has(200)
	calm := besides(t, g, func(round int) bool { return round < 5 })
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			a.run(t, g, calm)
			afterwards(t, g)
		})
	}
}

const (
	// attackTime is how long an attack goes on at least, proofTime how long it may
	// take to do its worst, and endTime how long to end when it is told to.
	attackTime = time.Second
	proofTime  = 30 * time.Second
	endTime    = 30 * time.Second

	// neighbourPatience catches a neighbour that hangs, on however slow a machine;
	// slower is how much slower than in calm half of the rounds may be.
	neighbourPatience = 10 * time.Second
	slower            = 2 * time.Second
)

// run attacks from a notebook, asks others meanwhile, and ends the attack.
func (a attack) run(t *testing.T, g *sandboxtest.Gateway, calm rounds) {
	language, code := a.cell()
	attacker := watch(t, http.MethodPost, g.URL+"/notebook?notebook=attacker&timeout=2m&language="+language, code)
	for attacker.next().Type != "start" {
	}
	done := attacker.follow(a)
	began := time.Now()
	took := besides(t, g, func(int) bool {
		return !done.ended() && (time.Since(began) < attackTime || !done.proven() && time.Since(began) < proofTime)
	})
	ask(t, http.MethodDelete, g.URL+attacker.location, "")
	told := time.Now()
	took = append(took, besides(t, g, func(int) bool { return !done.ended() && time.Since(told) < endTime })...)
	end := done.end()
	if end.Type == "" {
		t.Fatal("the attack has no end")
	}
	if !done.proven() && end.Status != "oom_killed" && end.Code != "unavailable" {
		t.Errorf("the attack did not do its worst, nothing is tested: %q %+v", done.words, end)
	}
	t.Logf("%v, and ended as %s%s in %v; %d rounds beside it, median %v, longest %v", told.Sub(began),
		end.Status, end.Code, time.Since(told), len(took), took.median(), took.longest())
	if bound := calm.median() + slower; took.median() > bound {
		t.Errorf("half of the rounds took longer than %v: %v", bound, took)
	}
}

// afterwards wants an attacked sandbox to answer again, and to say why if its
// variables are gone. What the attack left in its pipes comes first, and what it
// held may take a moment to be given back. It is cleared for the next attack.
func afterwards(t *testing.T, g *sandboxtest.Gateway) {
	t.Helper()
	again := func() answer {
		return ask(t, http.MethodPost, g.URL+"/notebook?notebook=attacker", "import os; print(1); os.system('rm -rf /workspace/* /dev/shm/*')")
	}
	answered := again()
	for began := time.Now(); answered.status == http.StatusServiceUnavailable && time.Since(began) < neighbourPatience; answered = again() {
		time.Sleep(100 * time.Millisecond)
	}
	got := answered.cell()
	if len(got.Output) != 1 || !strings.HasSuffix(got.Output[0], "1\n") || got.Start == "restarted" && got.Restart == "" {
		t.Errorf("the attacked sandbox afterwards: %.1000s", fmt.Sprintf("%+v", got))
	}
}

// An outcome is what an attack came to so far.
type outcome struct {
	worst chan struct{} // closed when it has done its worst
	over  chan struct{} // closed at the stream's end
	last  event         // the terminal one, once over
	words string        // what it printed last, once over
}

// follow reads an attack's stream to its end, and keeps little of it.
func (v *viewer) follow(a attack) *outcome {
	o := &outcome{worst: make(chan struct{}), over: make(chan struct{})}
	go func() { // ends with the stream
		defer close(o.over)
		missing := a.times
		for e := range v.events {
			if before := missing; before > 0 {
				if missing -= strings.Count(e.Data, a.proof); missing <= 0 {
					close(o.worst)
				}
			}
			if e.Type == "complete" || e.Type == "error" {
				o.last = e
			}
			if e.Data != "" {
				o.words = e.Data[max(0, len(e.Data)-1000):]
			}
		}
	}()
	return o
}

func (o *outcome) proven() bool { return closed(o.worst) }
func (o *outcome) ended() bool  { return closed(o.over) }

// end gives the terminal event; an empty one if there is none yet.
func (o *outcome) end() event {
	if !o.ended() {
		return event{}
	}
	return o.last
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// rounds are how long the requests of each round took together.
type rounds []time.Duration

// besides asks the neighbours while more says so, and at least once.
func besides(t *testing.T, g *sandboxtest.Gateway, more func(round int) bool) (took rounds) {
	t.Helper()
	for len(took) == 0 || more(len(took)) {
		began := time.Now()
		askNeighbours(t, g)
		took = append(took, time.Since(began))
	}
	return took
}

// askNeighbours has one sandbox run a cell, and another store, give and search a
// file. All of it has to be right.
func askNeighbours(t *testing.T, g *sandboxtest.Gateway) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), neighbourPatience)
	defer cancel()
	one := func(method, target, body string) answer {
		t.Helper()
		return askContext(ctx, t, method, target, strings.NewReader(body))
	}
	got := one(http.MethodPost, g.URL+"/notebook?notebook=neighbour", "print(x)").cell()
	if !slices.Equal(got.Output, []string{"1\n"}) {
		t.Errorf("the neighbour's cell: %+v", got)
	}
	now := time.Now().String()
	one(http.MethodPut, file(g, "beside.txt"), now).has(200)
	one(http.MethodGet, file(g, "beside.txt"), "").is(200, now)
	one(http.MethodGet, search(g, "needle"), "").is(200, "/workspace/kept.txt:1:needle\n")
}

func (r rounds) median() time.Duration {
	sorted := slices.Sorted(slices.Values(r))
	return sorted[len(sorted)/2]
}

func (r rounds) longest() time.Duration { return slices.Max(r) }
