package egress

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// relaying starts a relay between two pipes and gives their other ends; over
// is closed when it has returned.
func relaying(ctx context.Context) (inside, outside net.Conn, over chan struct{}) {
	inside, theirs := net.Pipe()
	outside, ours := net.Pipe()
	var left atomic.Int64
	left.Store(1 << 40)
	count := func() prometheus.Counter { return prometheus.NewCounter(prometheus.CounterOpts{Name: "bytes"}) }
	r := relay{inside: theirs, outside: ours, left: &left, sent: count(), received: count()}
	over = make(chan struct{})
	go func() { // ends with the relay
		r.run(ctx)
		close(over)
	}()
	return inside, outside, over
}

func TestRelay_endsInSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, _, over := relaying(t.Context())
		<-over
		if took := time.Since(began); took != idleTime {
			t.Errorf("it took %v", took)
		}
	})
}

// One direction that works keeps both, but not for ever.
func TestRelay_endsAtItsAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		inside, outside, over := relaying(t.Context())
		go func() { // ends with the relay
			for {
				if _, err := outside.Write([]byte("drip")); err != nil {
					return
				}
				time.Sleep(idleTime - time.Second)
			}
		}()
		go func() { _, _ = io.Copy(io.Discard, inside) }() // likewise
		<-over
		if took := time.Since(began); took != lifetime {
			t.Errorf("it took %v", took)
		}
		time.Sleep(idleTime) // for the goroutines
	})
}

func TestRelay_endsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		_, _, over := relaying(ctx)
		cancel()
		began := time.Now()
		<-over
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %v", took)
		}
	})
}

// Who does not read holds up nobody for longer than a connection may live.
func TestRelay_isNotHeldUpForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, outside, over := relaying(t.Context())
		go func() { _, _ = outside.Write(make([]byte, 1<<20)) }() // ends with the relay
		<-over
	})
}
