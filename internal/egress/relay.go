package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	idleTime    = 5 * time.Minute // without a byte in either direction
	lifetime    = time.Hour
	relayBuffer = 32 << 10
)

// A relay passes bytes between a sandbox and the outside.
type relay struct {
	inside, outside net.Conn
	left            *atomic.Int64 // bytes that may still pass, in both directions together
	sent, received  prometheus.Counter

	idle *time.Timer
}

// run returns when both directions have ended, or were cut: by ctx, by silence,
// by age, or because no bytes are left.
func (r *relay) run(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lifetime)
	defer cancel()
	defer context.AfterFunc(ctx, r.cut)()
	r.idle = time.AfterFunc(idleTime, r.cut)
	defer r.idle.Stop()
	var directions sync.WaitGroup
	directions.Go(func() { r.copy(r.outside, r.inside, r.sent) })
	directions.Go(func() { r.copy(r.inside, r.outside, r.received) })
	directions.Wait()
}

func (r *relay) cut() {
	_ = r.inside.Close()
	_ = r.outside.Close()
}

// copy ends one direction, and after a failure both.
func (r *relay) copy(to, from net.Conn, counter prometheus.Counter) {
	buffer := make([]byte, relayBuffer)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			r.idle.Reset(idleTime)
			counter.Add(float64(n))
			if r.left.Add(-int64(n)) < 0 {
				r.cut()
				return
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				r.cut()
				return
			}
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, io.EOF) || closeWrite(to) != nil {
			r.cut()
		}
		return
	}
}

// closeWrite tells the peer that nothing more will come, while it may go on.
func closeWrite(conn net.Conn) error {
	half, ok := conn.(interface{ CloseWrite() error })
	if !ok {
		return conn.Close()
	}
	return half.CloseWrite()
}
