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

// transfers lists what files cost on their way in and out.
func (l *lab) transfers() []comparison {
	return []comparison{
		{
			name: "PUT of 1 KiB", against: "ping", aim: "≤ 3", unit: "ms", rounds: 200,
			measured: l.put(l.standard, kiB), reference: l.ping,
		},
		{
			name: "GET of 1 KiB", against: "ping", aim: "≤ 3", unit: "ms", rounds: 200,
			measured: l.stored(kiB), reference: l.ping,
		},
		{
			name: "PUT of 256 MiB, speed", against: "plain", aim: "≥ 0.5", unit: "ms", rounds: 5, inverse: true,
			measured: l.put(l.standard, 256*miB), reference: l.putPlain(256 * miB),
		},
		{
			name: "GET of 256 MiB, speed", against: "plain", aim: "≥ 0.35", unit: "ms", rounds: 5, inverse: true,
			measured: l.stored(256 * miB), reference: prepared(l.putPlain(256*miB), l.get(l.plain.url)),
		},
		{
			name: "gateway's memory growth in that", aim: "< 32 MiB", unit: "MiB", rounds: 3,
			measured: growthIn(l.standard.PID, l.put(l.standard, 256*miB), l.stored(256*miB)),
		},
	}
}

// put uploads size bytes to one and the same file.
func (l *lab) put(g *sandboxtest.Gateway, size int64) sample {
	target := fileURL(g, fmt.Sprint("bench-", size))
	return timed(func(ctx context.Context) error {
		return l.request(ctx, http.MethodPut, target, zeros(size), size, io.Discard)
	})
}

// stored downloads a file of size bytes, which is uploaded the first time.
func (l *lab) stored(size int64) sample {
	return prepared(l.put(l.standard, size), l.get(fileURL(l.standard, fmt.Sprint("bench-", size))))
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
