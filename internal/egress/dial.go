package egress

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"sandgate/sandboxclient"
)

// dialTime bounds a lookup with all attempts at its addresses.
const dialTime = 20 * time.Second

// A dialer connects to targets that the policy permits.
type dialer struct {
	guard    guard
	resolver *net.Resolver
	proxy    func(*url.URL) (*url.URL, error) // the gateway's own way out; a nil URL: direct
	roots    *x509.CertPool                   // for a proxy that is spoken to over TLS
}

// dial connects to a target of which nothing is known but that the policy
// permits it.
func (d *dialer) dial(ctx context.Context, t Target) (net.Conn, error) {
	return d.through(ctx, t, func(ctx context.Context) (string, error) {
		if t.Addr.IsValid() {
			return t.String(), d.guard.check(netip.AddrPortFrom(t.Addr, t.Port))
		}
		// The proxy would look the name up once more, so it is given the address.
		addr, err := d.lookup(ctx, t)
		return netip.AddrPortFrom(addr, t.Port).String(), err
	})
}

// vouched connects to a target that a rule allows. If there is a proxy it gets
// the name: where it leads is then the proxy's to know, and perhaps nobody
// else's.
func (d *dialer) vouched(ctx context.Context, t Target) (net.Conn, error) {
	return d.through(ctx, t, func(context.Context) (string, error) { return t.String(), nil })
}

// trusted connects to a target that the gateway itself wants to reach.
func (d *dialer) trusted(ctx context.Context, t Target) (net.Conn, error) {
	proxy, err := d.proxy(proxied(t))
	switch {
	case err != nil:
		return nil, fmt.Errorf("proxy: %w", err)
	case proxy == nil:
		return d.private(ctx, t)
	}
	return d.tunnel(ctx, proxy, t.String())
}

// through connects directly, or through the proxy to what address gives.
func (d *dialer) through(ctx context.Context, t Target, address func(context.Context) (string, error)) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	proxy, err := d.proxy(proxied(t))
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	if proxy == nil {
		guarded := net.Dialer{Resolver: d.resolver, Control: d.guard.control}
		return guarded.DialContext(ctx, "tcp", t.String())
	}
	to, err := address(ctx)
	if err != nil {
		return nil, err
	}
	return d.tunnel(ctx, proxy, to)
}

// private connects to a target that may lead anywhere. It is in the house, so
// no proxy is between.
func (d *dialer) private(ctx context.Context, t Target) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	plain := net.Dialer{Resolver: d.resolver}
	return plain.DialContext(ctx, "tcp", t.String())
}

// lookup gives the first address of a name that may be connected to.
func (d *dialer) lookup(ctx context.Context, t Target) (netip.Addr, error) {
	addrs, err := d.resolver.LookupNetIP(ctx, "ip", t.Host)
	if err != nil {
		return netip.Addr{}, err
	}
	refused := fmt.Errorf("%w: it has no address", errNotPublic)
	for _, addr := range addrs {
		if refused = d.guard.check(netip.AddrPortFrom(addr, t.Port)); refused == nil {
			return addr.Unmap(), nil
		}
	}
	return netip.Addr{}, refused
}

// proxied is a target as NO_PROXY and its kin know it.
func proxied(t Target) *url.URL {
	scheme := "https"
	if t.Port == 80 {
		scheme = "http"
	}
	return &url.URL{Scheme: scheme, Host: t.String()}
}

// dialError words why a target was not reached.
func dialError(t Target, err error) *sandboxclient.Error {
	if errors.Is(err, errNotPublic) {
		e := notPublic(t)
		e.Err = err
		return e
	}
	e := sandboxclient.Errorf(sandboxclient.CodeUnavailable, "%s cannot be reached: %s", t, why(err))
	e.Err = err
	return e
}

func why(err error) string {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		if dns.IsNotFound {
			return "there is no such host"
		}
		return "its name could not be looked up"
	}
	if refused, ok := errors.AsType[*proxyError](err); ok {
		return "the gateway's own proxy answered " + refused.status
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "it refuses the connection"
	case errors.Is(err, context.DeadlineExceeded):
		return "it does not answer"
	}
	return "the connection failed"
}
