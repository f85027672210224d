package main

import (
	"errors"
	"net/netip"
)

// parseProxy reads the address of a proxy, or the net that several are in.
func parseProxy(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil {
		return address.Unmap().Prefix(address.Unmap().BitLen())
	}
	net, err := netip.ParsePrefix(text)
	if mapped := 128 - 32; err == nil && net.Addr().Is4In6() && net.Bits() >= mapped {
		net = netip.PrefixFrom(net.Addr().Unmap(), net.Bits()-mapped)
	}
	if err == nil && net.Bits() == 0 {
		err = errEverybody
	}
	return net, err
}

var errEverybody = errors.New("everybody would be a proxy, whose word is taken for where a request comes from")

// trustedProxies are those whose word is taken for where a request comes from. The
// settings were checked.
func (c Config) trustedProxies() []netip.Prefix {
	var nets []netip.Prefix
	for _, text := range c.TrustedProxies {
		net, _ := parseProxy(text)
		nets = append(nets, net)
	}
	return nets
}

func checkProxies(wrong *problems, c Config) {
	for _, text := range c.TrustedProxies {
		switch _, err := parseProxy(text); {
		case errors.Is(err, errEverybody):
			wrong.addf("trusted-proxies: with %q %v: name the addresses of the proxies alone", text, err)
		case err != nil:
			wrong.addf("trusted-proxies: %q is no address of a proxy, such as 10.0.0.7, and no net of some, such as 10.0.0.0/24", text)
		}
	}
}
