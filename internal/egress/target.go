package egress

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// maxName is what DNS allows.
const maxName = 253

// A Target is where a connection is to go: a name or an address, and a port.
type Target struct {
	Host string     // lower case, without a dot at its end; an address as netip spells it
	Addr netip.Addr // valid when Host is an address
	Port uint16
}

// ParseTarget reads HOST:PORT. Only a plain host name or a plain address is
// taken, so that nobody further on reads it as something else: no zones, no
// 127.1 or 0x7f000001, no letters beyond ASCII.
func ParseTarget(text string) (Target, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return Target{}, errors.New("it is not HOST:PORT")
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 || strconv.FormatUint(number, 10) != port {
		return Target{}, errors.New("its port is not a number from 1 to 65535")
	}
	if strings.Contains(host, ":") != strings.HasPrefix(text, "[") {
		return Target{}, errors.New("its host is not well formed")
	}
	return newTarget(host, uint16(number))
}

func newTarget(host string, port uint16) (Target, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" {
			return Target{}, errors.New("its address has a zone")
		}
		addr = addr.Unmap()
		return Target{Host: addr.String(), Addr: addr, Port: port}, nil
	}
	name, err := plainName(host)
	return Target{Host: name, Port: port}, err
}

// plainName gives a host name its one spelling.
func plainName(name string) (string, error) {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if name == "" || len(name) > maxName {
		return "", errors.New("its host name is empty or too long")
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if !plainLabel(label) {
			return "", errors.New("its host is neither a plain name nor a plain address")
		}
	}
	if numeric(labels[len(labels)-1]) {
		return "", errors.New("its host is an address in an unusual spelling")
	}
	return name, nil
}

func plainLabel(label string) bool {
	if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	for _, c := range []byte(label) {
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return true
}

// numeric says whether some resolver would read a name that ends like this as
// an address.
func numeric(label string) bool {
	if rest, hex := strings.CutPrefix(label, "0x"); hex {
		return strings.Trim(rest, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// String gives HOST:PORT, with brackets where they belong.
func (t Target) String() string {
	return net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port)))
}
