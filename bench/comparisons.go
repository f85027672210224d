package main

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"sandgate/internal/sandboxtest"
)

const (
	kiB = 1 << 10
	miB = 1 << 20
)

// comparisons lists what is measured, in the order of the table.
func (l *lab) comparisons(cold bool) []comparison {
	all := []comparison{
		l.warmRun("warm POST /run, standard library", l.standard, "≤ 0.15"),
		l.warmRun("warm POST /run, IPython", l.ipython, "≤ 0.25"),
		{
			name: "exec of true", against: "P", aim: "no aim yet", unit: "ms", rounds: 40,
			measured: l.execTrue, reference: python,
		},
		{
			name: "first cell of a new notebook", against: "P", aim: "no aim yet", unit: "ms", rounds: 10,
			measured: func(ctx context.Context) (float64, error) {
				return l.post(l.newNotebook(l.standard), "print(1)", `"1\n"`)(ctx)
			},
			reference: python,
		},
		{
			name: "PUT of 1 KiB", against: "ping", aim: "≤ 3", unit: "ms", rounds: 200,
			measured: l.put(l.standard, kiB), reference: l.ping,
		},
		{
			name: "GET of 1 KiB", against: "ping", aim: "≤ 3", unit: "ms", rounds: 200,
			measured: l.get(fileURL(l.standard, "bench-1024")), reference: l.ping,
		},
		{
			name: "PUT of 256 MiB, speed", against: "plain", aim: "≥ 0.5", unit: "ms", rounds: 5, inverse: true,
			measured: l.put(l.standard, 256*miB), reference: l.putPlain(256 * miB),
		},
		{
			name: "GET of 256 MiB, speed", against: "plain", aim: "≥ 0.35", unit: "ms", rounds: 5, inverse: true,
			measured: l.get(fileURL(l.standard, fmt.Sprint("bench-", 256*miB))), reference: l.get(l.plain.url),
		},
		{
			name: "gateway's memory growth in that", aim: "< 32 MiB", unit: "MiB", rounds: 3,
			measured: l.growth,
		},
		{
			name: "GET /search over 2,000 files", against: "grep", aim: "no aim yet", unit: "ms", rounds: 20,
			measured: l.search, reference: l.grepInside,
		},
		{
			name: "gateway's memory, idle", aim: "no aim yet", unit: "MiB", rounds: 3,
			measured: func(context.Context) (float64, error) { return memory(l.standard.PID(), "VmRSS") },
		},
	}
	if cold {
		all = append(all, comparison{
			name: "cold make run, clone to answer", against: "build of runsc alone", aim: "no aim yet", unit: "ms", rounds: 1,
			measured: l.coldRun, reference: l.coldRunsc,
		})
	}
	return all
}

func (l *lab) warmRun(name string, g *sandboxtest.Gateway, aim string) comparison {
	return comparison{
		name: name, against: "P", aim: aim, unit: "ms", rounds: 200,
		measured: l.post(g.URL+"/run", `print("hello")`, `"hello\n"`), reference: python,
	}
}

// put uploads size bytes to one and the same file.
func (l *lab) put(g *sandboxtest.Gateway, size int64) sample {
	target := fileURL(g, fmt.Sprint("bench-", size))
	return timed(func(ctx context.Context) error {
		return l.request(ctx, http.MethodPut, target, zeros(size), size, io.Discard)
	})
}

func (l *lab) putPlain(size int64) sample {
	return timed(func(ctx context.Context) error {
		return l.request(ctx, http.MethodPut, l.plain.url, zeros(size), size, io.Discard)
	})
}

// zeros is a body of size bytes.
func zeros(size int64) io.Reader { return io.LimitReader(zeroReader{}, size) }

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// growth transfers a large file both ways and says by how much the gateway's
// memory rose at its highest.
func (l *lab) growth(ctx context.Context) (float64, error) {
	if err := resetPeak(l.standard.PID()); err != nil {
		return 0, err
	}
	before, err := memory(l.standard.PID(), "VmRSS")
	if err != nil {
		return 0, err
	}
	const size = 256 * miB
	for _, transfer := range []sample{l.put(l.standard, size), l.get(fileURL(l.standard, fmt.Sprint("bench-", int64(size))))} {
		if _, err := transfer(ctx); err != nil {
			return 0, err
		}
	}
	peak, err := memory(l.standard.PID(), "VmHWM")
	return max(0, peak-before), err
}
