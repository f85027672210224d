package egress

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// Transport makes requests of the gateway's own to a registry that the operator
// chose, wherever it is, and from there, as registries redirect, to public
// addresses alone.
func (g *Gate) Transport(registry Target) *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			t, err := ParseTarget(address)
			switch {
			case err != nil:
				return nil, malformed(err)
			case t == registry:
				return g.dialer.trusted(ctx, t)
			case !public(t):
				return nil, notPublic(t)
			}
			return g.dialer.dial(ctx, t)
		},
		TLSClientConfig:     &tls.Config{RootCAs: g.opts.Roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: dialTime,
		ForceAttemptHTTP2:   true,
		MaxConnsPerHost:     16,
		MaxIdleConnsPerHost: 16,
		IdleConnTimeout:     90 * time.Second,
	}
}
