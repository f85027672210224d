package egress

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// names is a DNS server of the test's own. Each name has answers that it gives
// one after the other, the last for ever.
type names struct {
	conn net.PacketConn

	mu      sync.Mutex
	answers map[string][]netip.Addr
	asked   []string
}

// serveNames starts a server that ends with the test.
func serveNames(t *testing.T, answers map[string][]netip.Addr) *names {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &names{conn: conn, answers: answers}
	var serving sync.WaitGroup
	serving.Go(n.serve)
	t.Cleanup(func() { _ = conn.Close(); serving.Wait() })
	return n
}

// resolver asks this server and no other.
func (n *names) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", n.conn.LocalAddr().String())
	}}
}

func (n *names) questions() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.asked, " ")
}

func (n *names) serve() {
	buffer := make([]byte, 2048)
	for {
		size, from, err := n.conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		var query dnsmessage.Message
		if query.Unpack(buffer[:size]) != nil || len(query.Questions) != 1 {
			continue
		}
		if reply, err := n.answer(query).Pack(); err == nil {
			_, _ = n.conn.WriteTo(reply, from)
		}
	}
}

func (n *names) answer(query dnsmessage.Message) *dnsmessage.Message {
	q := query.Questions[0]
	reply := &dnsmessage.Message{
		Header:    dnsmessage.Header{ID: query.ID, Response: true, Authoritative: true},
		Questions: query.Questions,
	}
	name := strings.TrimSuffix(q.Name.String(), ".")
	addr, known := n.next(name, q.Type)
	header := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET}
	switch {
	case !known:
		reply.RCode = dnsmessage.RCodeNameError
	case q.Type == dnsmessage.TypeA && addr.Is4():
		reply.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AResource{A: addr.As4()}}}
	case q.Type == dnsmessage.TypeAAAA && addr.Is6():
		reply.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}}}
	}
	return reply
}

// next gives a name's present answer; a question for another type of address
// does not use it up.
func (n *names) next(name string, kind dnsmessage.Type) (netip.Addr, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, name)
	left := n.answers[name]
	if len(left) == 0 {
		return netip.Addr{}, false
	}
	if len(left) > 1 && (kind == dnsmessage.TypeA) == left[0].Is4() {
		n.answers[name] = left[1:]
	}
	return left[0], true
}
