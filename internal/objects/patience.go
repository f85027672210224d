package objects

import (
	"context"
	"net"
	"time"
)

// sendTime is how long a server may take nothing of what it is sent. How long it may
// take to answer is bounded by the transport.
const sendTime = time.Minute

type dial func(ctx context.Context, network, address string) (net.Conn, error)

// patiently gives connections of which no write waits for longer: a server that
// hangs, and whose machine does not, would keep an upload for ever.
func patiently(connect dial, patience time.Duration) dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := connect(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return patient{conn, patience}, nil
	}
}

type patient struct {
	net.Conn
	patience time.Duration
}

// Write implements io.Writer. All of what a transport writes at once is little.
func (p patient) Write(data []byte) (int, error) {
	if err := p.SetWriteDeadline(time.Now().Add(p.patience)); err != nil {
		return 0, err
	}
	return p.Conn.Write(data)
}
