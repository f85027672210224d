package link

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"sandgate/sandboxclient/wire"
)

// answering is a gateway that does something with each connection.
func answering(t *testing.T, dir string, answer func(wire.Hello, net.Conn)) {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(dir, wire.SocketName))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { // ends with the listener
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			h, err := wire.ReadHello(c)
			if err == nil && h.Check("secret") == nil && h.Role == wire.RoleEgress {
				answer(h, c)
			}
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
}

// outside is a listener that parks nothing: there is no server behind it.
func outside(dir string) *Listener { return &Listener{dir: dir} }

func TestDialOutside(t *testing.T) {
	dir := newDir(t)
	answering(t, dir, func(h wire.Hello, c net.Conn) {
		switch h.Target {
		case "good.example:443":
			_ = wire.WriteEgressReply(c, nil)
			_, _ = io.WriteString(c, "early")
			_, _ = io.Copy(c, c)
		case "evil.example:443":
			_ = wire.WriteEgressReply(c, &wire.Error{Code: wire.CodeForbidden, Message: "no"})
		}
	})
	c, err := outside(dir).DialOutside(t.Context(), "good.example:443")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, " late")
	_ = c.(*net.UnixConn).CloseWrite()
	if got, err := io.ReadAll(c); err != nil || string(got) != "early late" {
		t.Errorf("%q, %v", got, err)
	}
	c.Close()

	_, err = outside(dir).DialOutside(t.Context(), "evil.example:443")
	if e, ok := errors.AsType[*wire.Error](err); !ok || e.Code != wire.CodeForbidden || e.Message != "no" {
		t.Error(err)
	}
	for _, target := range []string{"odd.example:443", "two words:443", "a\nSANDGATE:1"} {
		if _, err := outside(dir).DialOutside(t.Context(), target); err == nil {
			t.Errorf("%q was connected", target)
		}
	}
	if _, err := outside(newDir(t)).DialOutside(t.Context(), "good.example:443"); err == nil {
		t.Error("connected without a gateway")
	}
}

func TestDialOutside_endsWithItsContext(t *testing.T) {
	dir := newDir(t)
	release := make(chan struct{})
	answering(t, dir, func(wire.Hello, net.Conn) { <-release })
	defer close(release)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := outside(dir).DialOutside(ctx, "slow.example:443"); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
