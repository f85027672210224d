package egress

import (
	"crypto/x509"
	"log/slog"
	"net"
	"net/http"
	"net/url"

	"github.com/prometheus/client_golang/prometheus"

	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

// maxConns bounds the connections of all sandboxes at once.
const maxConns = 1024

// Options say how a Gate works. Policy, Logger and Registry are required.
type Options struct {
	Policy   *Policy
	Settings wire.Egress // what sandboxes are told; Mirror is set by the method
	MaxBytes int64       // that one run of a sandbox may send and receive, together; 0: 4 GiB

	// Proxy is the gateway's own way out, as in [http.Transport]; nil: direct.
	Proxy    func(*url.URL) (*url.URL, error)
	Roots    *x509.CertPool // authorities to trust; nil: the host's
	Resolver *net.Resolver  // nil: the host's

	Logger   *slog.Logger
	Registry prometheus.Registerer
}

// A Gate gives sandboxes their way out. It holds nothing of a sandbox that has
// ended and needs no closing.
type Gate struct {
	opts    Options
	mirror  http.Handler // nil: npm asks the registry itself
	dialer  dialer
	slots   chan struct{}
	metrics *metrics
}

var _ sandboxclient.Egress = (*Gate)(nil)

// New makes a gate.
func New(opts Options) *Gate {
	if opts.MaxBytes == 0 {
		opts.MaxBytes = 4 << 30
	}
	if opts.Proxy == nil {
		opts.Proxy = func(*url.URL) (*url.URL, error) { return nil, nil }
	}
	if opts.Resolver == nil {
		opts.Resolver = net.DefaultResolver
	}
	return &Gate{
		opts: opts,
		dialer: dialer{
			guard:    guard{private: opts.Policy.Private, own: net.InterfaceAddrs},
			resolver: opts.Resolver,
			proxy:    opts.Proxy,
			roots:    opts.Roots,
		},
		slots:   make(chan struct{}, maxConns),
		metrics: newMetrics(opts.Registry),
	}
}

// Mirror has sandboxes ask a mirror of the npm registry. It is called before the
// first sandbox starts, if at all.
func (g *Gate) Mirror(mirror http.Handler) {
	g.mirror = mirror
	g.opts.Settings.Mirror = true
}

// Open gives the way out of a sandbox that has started, or was taken over; nil
// when its app has none.
func (g *Gate) Open(id sandboxclient.ID, ref sandboxclient.Ref) sandboxclient.Outlet {
	if g.opts.Policy.Mode(ref.App) == None {
		return nil
	}
	return newOutlet(g, id, ref.App)
}
