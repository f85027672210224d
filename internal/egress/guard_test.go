package egress

import (
	"errors"
	"net"
	"net/netip"
	"testing"
)

func TestGuard(t *testing.T) {
	g := guard{private: newPolicy(t, "", "127.0.0.1:4873 [fd00::5]:443").Private, own: func() ([]net.Addr, error) {
		return []net.Addr{
			&net.IPNet{IP: net.IPv4(93, 184, 216, 1), Mask: net.CIDRMask(24, 32)},
			&net.IPNet{IP: net.ParseIP("2606:2800::1"), Mask: net.CIDRMask(64, 128)},
		}, nil
	}}
	for address, allowed := range map[string]bool{
		"93.184.216.34:443":      true,
		"[2606:2800::2]:443":     true,
		"192.0.2.1:443":          true, // documentation: closed networks put registries there
		"198.51.100.1:443":       true,
		"203.0.113.80:443":       true,
		"[2001:db8::80]:443":     true,
		"127.0.0.1:4873":         true, // named as private
		"[::ffff:7f00:1]:4873":   true,
		"[fd00::5]:443":          true,
		"127.0.0.1:4874":         false, // its neighbours
		"127.0.0.2:4873":         false,
		"[fd00::5]:80":           false,
		"[fd00::6]:443":          false,
		"93.184.216.1:80":        false, // this host's own
		"[2606:2800::1]:80":      false,
		"[::ffff:5db8:d801]:80":  false,
		"10.0.0.1:80":            false,
		"172.16.0.1:80":          false,
		"192.168.0.1:80":         false,
		"100.64.0.1:80":          false,
		"169.254.169.254:80":     false,
		"127.0.0.1:80":           false,
		"0.0.0.0:80":             false,
		"224.0.0.1:80":           false,
		"240.0.0.1:80":           false,
		"255.255.255.255:80":     false,
		"192.0.0.192:80":         false, // a metadata service
		"168.63.129.16:80":       false, // another
		"[::]:80":                false,
		"[::1]:80":               false,
		"[fe80::1]:80":           false,
		"[fe80::1%eth0]:80":      false,
		"[fc00::1]:80":           false,
		"[fd00:ec2::254]:80":     false,
		"[ff02::1]:80":           false,
		"[::ffff:10.0.0.1]:80":   false,
		"[::10.0.0.1]:80":        false,
		"[64:ff9b::a00:1]:80":    false, // NAT64
		"[64:ff9b:1::a00:1]:80":  false,
		"[2002:a00:1::1]:80":     false, // 6to4
		"[2001:0:a00:1::1]:80":   false, // Teredo
		"[2001:0:4136:e378::]:1": false,
		"nonsense":               false,
		"":                       false,
	} {
		if err := g.control("tcp", address, nil); (err == nil) != allowed || err != nil && !errors.Is(err, errNotPublic) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestGuard_refusesWhenItCannotTell(t *testing.T) {
	g := guard{own: func() ([]net.Addr, error) { return nil, errors.New("no netlink") }}
	if err := g.check(netip.MustParseAddrPort("93.184.216.34:443")); !errors.Is(err, errNotPublic) {
		t.Error(err)
	}
}
