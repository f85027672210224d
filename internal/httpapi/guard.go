package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"sandgate/sandboxclient"
)

// A Guard refuses requests that a web page of somebody else makes a browser
// send: those under a host name that is not ours (DNS rebinding), and unsafe
// ones from another origin (forgery).
type Guard struct {
	hosts  map[string]bool
	origin *http.CrossOriginProtection
}

// NewGuard makes a guard that knows the loopback host names and the given
// ones, each on any port.
func NewGuard(hosts []string) *Guard {
	g := &Guard{hosts: map[string]bool{"localhost": true}, origin: http.NewCrossOriginProtection()}
	for _, host := range hosts {
		g.hosts[hostName(host)] = true
	}
	return g
}

// Check says why a request is refused, nil if it is not.
func (g *Guard) Check(r *http.Request) error {
	if !g.knows(hostName(r.Host)) {
		return sandboxclient.Errorf(sandboxclient.CodeForbidden,
			"This gateway does not answer for the host %q; --allowed-hosts names those that it answers for", r.Host)
	}
	if err := g.origin.Check(r); err != nil {
		return &sandboxclient.Error{
			Code:    sandboxclient.CodeForbidden,
			Message: "Requests that change something are not taken from other origins",
			Err:     err,
		}
	}
	return nil
}

func (g *Guard) knows(host string) bool {
	addr, err := netip.ParseAddr(host)
	return g.hosts[host] || err == nil && addr.Unmap().IsLoopback()
}

// hostName reduces a Host header to the name or address in it; brackets that
// are not closed leave nothing of it.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	} else if inner, ok := strings.CutPrefix(host, "["); ok {
		if host, ok = strings.CutSuffix(inner, "]"); !ok {
			return ""
		}
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
