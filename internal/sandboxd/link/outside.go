package link

import (
	"context"
	"net"
	"time"

	"sandgate/sandboxclient/wire"
)

// answerTimeout is longer than the gateway takes to look up and to connect.
const answerTimeout = 30 * time.Second

// DialOutside asks the gateway to connect to HOST:PORT, which it resolves. A
// refusal is a [*wire.Error].
func (l *Listener) DialOutside(ctx context.Context, target string) (net.Conn, error) {
	c, err := l.dial(ctx, wire.Hello{Role: wire.RoleEgress, Target: target})
	if err != nil {
		return nil, err
	}
	if err := awaitAnswer(ctx, c); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func awaitAnswer(ctx context.Context, c net.Conn) error {
	if err := c.SetReadDeadline(time.Now().Add(answerTimeout)); err != nil {
		return err
	}
	cut := context.AfterFunc(ctx, func() { c.Close() })
	err := wire.ReadEgressReply(c)
	if !cut() { // and closed it
		err = context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	return c.SetReadDeadline(time.Time{})
}
