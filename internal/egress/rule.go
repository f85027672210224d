package egress

import (
	"fmt"
	"net"
	"strings"
)

// defaultPort is that of a rule which names none.
const defaultPort = "443"

// A Rule allows one name, or all names below one, on one port.
type Rule struct {
	target Target
	below  bool // *.name: not the name itself
}

// ParseRule reads HOST, HOST:PORT, *.SUFFIX or *.SUFFIX:PORT; without a port it
// is 443.
func ParseRule(text string) (Rule, error) {
	if !hasPort(text) {
		text = net.JoinHostPort(strings.Trim(text, "[]"), defaultPort)
	}
	rest, below := strings.CutPrefix(text, "*.")
	target, err := ParseTarget(rest)
	if err != nil {
		return Rule{}, fmt.Errorf("%q allows no host: %w", text, err)
	}
	if below && target.Addr.IsValid() {
		return Rule{}, fmt.Errorf("%q allows no host: nothing is below an address", text)
	}
	return Rule{target, below}, nil
}

// hasPort says whether what follows the host, an address in brackets perhaps,
// is a port.
func hasPort(text string) bool {
	_, _, err := net.SplitHostPort(text)
	return err == nil
}

func (r Rule) allows(t Target) bool {
	if r.target.Port != t.Port {
		return false
	}
	if r.below {
		return !t.Addr.IsValid() && strings.HasSuffix(t.Host, "."+r.target.Host)
	}
	return r.target.Host == t.Host
}

// String gives the rule as ParseRule reads it.
func (r Rule) String() string {
	if r.below {
		return "*." + r.target.String()
	}
	return r.target.String()
}
