package local

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"sandgate/sandboxclient/wire"
)

func (l *link) asking(target string) string {
	return "SANDGATE 1 " + l.token + " egress " + target + "\n"
}

func TestLink_closesWhatNobodyAnswersFor(t *testing.T) {
	l, dir := newLink(t)
	closedByGateway(t, greet(t, dir, l.asking("example.org:443")))
}

func TestLink_handsTheOutsideOver(t *testing.T) {
	l, dir := newLink(t)
	answered := make(chan string, 10)
	l.open(func(_ context.Context, target string, conn net.Conn) {
		defer conn.Close()
		answered <- target
		_ = wire.WriteEgressReply(conn, nil)
		_, _ = io.Copy(conn, conn)
	})
	conn := greet(t, dir, l.asking("example.org:443")+"early")
	if err := wire.ReadEgressReply(conn); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 5)
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "early" || <-answered != "example.org:443" {
		t.Errorf("%q, %v", got, err)
	}
	if len(l.parked) > 0 {
		t.Error("it is parked as well")
	}
	greet(t, dir, l.hello())
	take(t, l)

	closedByGateway(t, greet(t, dir, "SANDGATE 1 wrong egress example.org:443\n"))
	closedByGateway(t, greet(t, dir, "SANDGATE 1 "+l.token+" egress\n"))
	if len(answered) > 0 {
		t.Error("a stranger was answered for", <-answered)
	}
}

func TestLink_boundsTheOutside(t *testing.T) {
	l, dir := newLink(t)
	l.open(func(ctx context.Context, _ string, conn net.Conn) {
		defer conn.Close()
		<-ctx.Done()
	})
	for i := range maxEgress {
		greet(t, dir, l.asking("example.org:443"))
		eventually(t, func() bool { return len(l.egress) > i })
	}
	closedByGateway(t, greet(t, dir, l.asking("example.org:443")))
	greet(t, dir, l.hello())
	take(t, l) // the gateway's own go on

	ended := make(chan struct{})
	go func() { l.close(); close(ended) }() // ends with the test: close is idempotent
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the link does not end while somebody is outside")
	}
}
