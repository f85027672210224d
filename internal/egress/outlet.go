package egress

import (
	"context"
	"net"
	"sync"
	"sync/atomic"

	"github.com/dustin/go-humanize"
	"github.com/prometheus/client_golang/prometheus"

	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

const (
	maxSandboxConns = 64
	maxTold         = 100 // refused targets of a sandbox that are logged
)

// An outlet is the way out of one run of one sandbox. What the sandbox has
// used up comes back when it is started anew.
type outlet struct {
	gate  *Gate
	id    sandboxclient.ID
	app   string
	slots chan struct{}
	left  atomic.Int64 // bytes

	mu   sync.Mutex
	told map[string]bool // what was logged
}

var _ sandboxclient.Outlet = (*outlet)(nil)

func newOutlet(g *Gate, id sandboxclient.ID, app string) *outlet {
	o := &outlet{gate: g, id: id, app: app, slots: make(chan struct{}, maxSandboxConns), told: map[string]bool{}}
	o.left.Store(g.opts.MaxBytes)
	return o
}

// Settings are what the sandbox is told.
func (o *outlet) Settings() wire.Egress { return o.gate.opts.Settings }

// Serve answers a connection that a sandbox opened for a target, and returns
// when that is over: at the latest soon after ctx has ended.
func (o *outlet) Serve(ctx context.Context, target string, inside net.Conn) {
	defer inside.Close()
	release, err := o.enter()
	if err != nil {
		o.refuse(inside, "", err)
		return
	}
	defer release()
	if o.gate.mirror != nil && target == wire.MirrorTarget {
		o.serveMirror(ctx, inside)
		return
	}
	t, malformation := ParseTarget(target)
	if malformation != nil {
		o.refuse(inside, "", malformed(malformation))
		return
	}
	outside, err := o.reach(ctx, t)
	if err != nil {
		o.refuse(inside, t.String(), err)
		return
	}
	defer outside.Close()
	if !o.agree(inside) {
		return
	}
	sent, received := o.counters()
	r := relay{inside: inside, outside: outside, left: &o.left, sent: sent, received: received}
	r.run(ctx)
}

// serveMirror answers a connection to the mirror of the npm registry.
func (o *outlet) serveMirror(ctx context.Context, inside net.Conn) {
	if !o.agree(inside) {
		return
	}
	sent, received := o.counters()
	serveSite(ctx, &counted{inside, &o.left, sent, received}, o.gate.mirror)
}

// agree tells the sandbox that it is connected.
func (o *outlet) agree(inside net.Conn) bool {
	o.count(outcomeConnected)
	return wire.WriteEgressReply(inside, nil) == nil
}

func (o *outlet) counters() (sent, received prometheus.Counter) {
	bytes := o.gate.metrics.bytes
	return bytes.WithLabelValues(o.app, "sent"), bytes.WithLabelValues(o.app, "received")
}

// enter takes a place among this sandbox's connections and among all. It comes
// before everything that costs something.
func (o *outlet) enter() (release func(), err *sandboxclient.Error) {
	if o.left.Load() < 0 {
		return nil, exhausted("The sandbox has sent and received as much as it may, %s; --egress-max-bytes allows more",
			humanize.IBytes(uint64(o.gate.opts.MaxBytes)))
	}
	select {
	case o.slots <- struct{}{}:
	default:
		return nil, exhausted("The sandbox has %d connections to the outside already, as many as it may", maxSandboxConns)
	}
	select {
	case o.gate.slots <- struct{}{}:
	default:
		<-o.slots
		return nil, exhausted("All sandboxes together have too many connections to the outside; try again soon")
	}
	o.gate.metrics.open.Inc()
	return func() {
		o.gate.metrics.open.Dec()
		<-o.gate.slots
		<-o.slots
	}, nil
}

// reach asks the policy, then connects.
func (o *outlet) reach(ctx context.Context, t Target) (net.Conn, *sandboxclient.Error) {
	p := o.gate.opts.Policy
	if err := p.permits(o.app, t); err != nil {
		return nil, err
	}
	dial := o.gate.dialer.dial
	switch {
	case p.private(t):
		dial = o.gate.dialer.private
	case p.listed(t):
		dial = o.gate.dialer.vouched
	}
	conn, err := dial(ctx, t)
	if err != nil {
		return nil, dialError(t, err)
	}
	return conn, nil
}

// refuse answers, counts, and logs a refusal once for a target.
func (o *outlet) refuse(inside net.Conn, target string, err *sandboxclient.Error) {
	outcome := outcomeOf(err)
	o.count(outcome)
	if outcome != outcomeFailed && o.first(target) {
		o.gate.opts.Logger.Warn("egress refused", "sandbox", o.id, "app", o.app, "target", target, "why", err)
	}
	_ = wire.WriteEgressReply(inside, &wire.Error{Code: string(err.Code), Message: err.Message}) // it may have left
}

func outcomeOf(err *sandboxclient.Error) string {
	switch err.Code {
	case sandboxclient.CodeExhausted:
		return outcomeExhausted
	case sandboxclient.CodeUnavailable:
		return outcomeFailed
	}
	return outcomeRefused
}

func (o *outlet) count(outcome string) {
	o.gate.metrics.total.WithLabelValues(o.app, outcome).Inc()
}

// first says whether a refusal is the first for its target, and still worth a line.
func (o *outlet) first(target string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.told[target] || len(o.told) >= maxTold {
		return false
	}
	o.told[target] = true
	return true
}

func exhausted(format string, args ...any) *sandboxclient.Error {
	return sandboxclient.Errorf(sandboxclient.CodeExhausted, format, args...)
}
