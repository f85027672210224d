package egress

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"syscall"

	"code.dny.dev/ssrf"
)

// documentation are ranges that are no place on the internet; closed networks
// use them for what they offer.
var (
	documentation4 = []netip.Prefix{
		netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"),
	}
	documentation6 = []netip.Prefix{netip.MustParsePrefix("2001:db8::/32")}
)

// azure is the metadata service of a cloud that did not put it on a link-local
// address.
var azure = netip.MustParsePrefix("168.63.129.16/32")

var guardian = ssrf.New(
	ssrf.WithAnyPort(), // ports are for the policy
	ssrf.WithDeniedV4Prefixes(azure),
	ssrf.WithAllowedV4Prefixes(documentation4...),
	ssrf.WithAllowedV6Prefixes(documentation6...),
)

// errNotPublic marks an address that nobody is connected to.
var errNotPublic = errors.New("not a public address")

// publicAddr refuses an address that is not public.
func publicAddr(addr netip.Addr) error {
	if err := guardian.SafeAddr(addr.Unmap()); err != nil {
		return errors.Join(errNotPublic, err)
	}
	return nil
}

// A guard judges addresses at the last moment, when a socket is about to
// connect to one.
type guard struct {
	private []Target
	own     func() ([]net.Addr, error) // the addresses of this host
}

// control is for [net.Dialer].
func (g *guard) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return errors.Join(errNotPublic, err)
	}
	return g.check(to)
}

func (g *guard) check(to netip.AddrPort) error {
	addr := to.Addr().Unmap()
	if slices.Contains(g.private, Target{Host: addr.String(), Addr: addr, Port: to.Port()}) {
		return nil
	}
	if err := publicAddr(addr); err != nil {
		return err
	}
	return g.notOurs(addr)
}

// notOurs refuses the addresses of this host, which may be public: what listens
// there is the gateway's, or its neighbour's.
func (g *guard) notOurs(addr netip.Addr) error {
	own, err := g.own()
	if err != nil {
		return errors.Join(errNotPublic, err)
	}
	for _, a := range own {
		prefix, err := netip.ParsePrefix(a.String())
		if err == nil && prefix.Addr().Unmap() == addr {
			return errors.Join(errNotPublic, errors.New(addr.String()+" is this host's"))
		}
	}
	return nil
}
