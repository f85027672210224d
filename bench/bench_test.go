package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// answering gives a server that gives every request the same answer.
func answering(t *testing.T, answer string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestMeasure_alternatesAfterWarmingUp(t *testing.T) {
	var order []string
	n := 0.0
	counting := func(name string) sample {
		return func(context.Context) (float64, error) {
			n++
			order = append(order, name)
			return n, nil
		}
	}
	c := comparison{rounds: 3, measured: counting("m"), reference: counting("r")}
	o, err := c.measure(t.Context(), 0.1)
	if want := []float64{3, 5, 7}; err != nil || !slices.Equal(o.measured, want) {
		t.Errorf("measured %v, %v, want %v", o.measured, err, want)
	}
	if got := strings.Join(order, ""); got != "mrmrmrmr" {
		t.Errorf("order %s", got)
	}
	once := comparison{rounds: 1, measured: counting("once")}
	if o, err := once.measure(t.Context(), 5); err != nil || len(o.measured) != 1 {
		t.Errorf("measured once: %v, %v", o.measured, err)
	}
}

func TestQuantile(t *testing.T) {
	values := []float64{5, 1, 4, 2, 3}
	for q, want := range map[float64]float64{0: 1, 0.5: 3, 0.95: 5, 1: 5} {
		if got := quantile(values, q); got != want {
			t.Errorf("quantile %v: %v, want %v", q, got, want)
		}
	}
}

func TestStream_wantsEveryEventOnce(t *testing.T) {
	l := &lab{http: newClient()}
	const first = "id: 1\ndata: {\"type\":\"stdout\",\"data\":\"x\"}\n\n: still here\n\n"
	for answer, fails := range map[string]string{
		first + "id: 2\ndata: {\"type\":\"complete\"}\n\n": "",
		first + "id: 3\ndata: {\"type\":\"complete\"}\n\n": "event 3 follows event 1",
		first + first: "event 1 follows event 1",
		first + "id: 1\ndata: {\"type\":\"error\",\"message\":\"it is gone\"}\n": "it is gone",
		first: "unexpected EOF",
	} {
		s, err := l.watch(t.Context(), http.MethodGet, answering(t, answer), "")
		if err != nil {
			t.Fatal(err)
		}
		err = s.until(complete)
		s.close()
		if fails == "" && err != nil || fails != "" && (err == nil || !strings.Contains(err.Error(), fails)) {
			t.Errorf("%q: %v, want %q", answer, err, fails)
		}
	}
}

// The answers are what go-judge's own manual shows.
func TestJudge_countsOnlyRunsThatSucceed(t *testing.T) {
	for answer, good := range map[string]bool{
		`[{"status":"Accepted","exitStatus":0,"time":303225231,"memory":32243712,"runTime":524177700,"files":{"stderr":""}}]`: true,
		`[{"status":"Internal Error","error":"no such file"}]`:                                                                false,
		`[]`: false,
		`no`: false,
	} {
		j := judge{url: answering(t, answer), http: newClient()}
		if err := j.runTrue(t.Context(), 0); (err == nil) != good {
			t.Errorf("%s: %v", answer, err)
		}
	}
}
