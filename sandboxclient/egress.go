package sandboxclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"sandgate/sandboxclient/wire"
)

// Egress gives sandboxes their way out. Methods may be called from many
// goroutines.
type Egress interface {
	// Open gives the way out of a sandbox that has just started, or was taken
	// over; nil when its app has none. It does not block.
	Open(id ID, ref Ref) Outlet
}

// An Outlet is the way out of one sandbox, for as long as it runs.
type Outlet interface {
	// Settings are what programs inside must know.
	Settings() wire.Egress
	// Serve answers a connection whose hello asks for target, which is as the
	// sandbox spelled it and not to be trusted. It closes conn, and returns soon
	// after ctx has ended: then the sandbox has.
	Serve(ctx context.Context, target string, conn net.Conn)
}

// An Egresser is the power of a driver to hand over the connections with which
// a sandbox asks for the outside.
type Egresser interface {
	// Egress has serve called for each such connection of a sandbox that runs, in
	// a goroutine of its own, until the sandbox ends. Before it is called they
	// are closed, and a new call replaces the one before.
	Egress(id ID, serve func(ctx context.Context, target string, conn net.Conn)) error
}

// egressTimeout bounds how long a sandboxd that answers may take to listen.
const egressTimeout = 10 * time.Second

// openEgress gives a sandbox that has just answered its way out, if its app has
// one.
func (c *Client) openEgress(ctx context.Context, id ID, ref Ref, l *link) error {
	if c.opts.Egress == nil {
		return nil
	}
	outlet := c.opts.Egress.Open(id, ref)
	if outlet == nil {
		return nil
	}
	if c.egresser == nil {
		return errors.New("open egress: the driver lacks the power")
	}
	if err := c.egresser.Egress(id, outlet.Serve); err != nil {
		return fmt.Errorf("open egress: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, egressTimeout)
	defer cancel()
	if err := l.call(ctx, http.MethodPut, "/v1/egress", nil, outlet.Settings(), nil); err != nil {
		return fmt.Errorf("open egress: %w", err)
	}
	return nil
}
