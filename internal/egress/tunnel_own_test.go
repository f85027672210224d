package egress

import (
	"errors"
	"net"
	"net/url"
	"testing"
)

// This host's own addresses are not reached by way of the proxy either.
func TestTunnel_refusesOwnAddress(t *testing.T) {
	d := dialer{
		guard: guard{own: func() ([]net.Addr, error) {
			return []net.Addr{&net.IPNet{IP: net.IPv4(93, 184, 216, 1), Mask: net.CIDRMask(24, 32)}}, nil
		}},
		proxy: func(*url.URL) (*url.URL, error) { return &url.URL{Scheme: "http", Host: "127.0.0.1:1"}, nil },
	}
	own, err := ParseTarget("93.184.216.1:443")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.dial(t.Context(), own); !errors.Is(err, errNotPublic) {
		t.Errorf("the proxy was asked: %v", err)
	}
}
