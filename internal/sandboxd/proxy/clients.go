package proxy

import (
	"net"
	"sync"
)

// clients accepts a bounded number of connections at once; the next wait in
// the kernel's queue until one is closed.
type clients struct {
	*net.TCPListener
	slots  chan struct{}
	closed chan struct{}
	once   sync.Once
}

func newClients(l *net.TCPListener, most int) *clients {
	return &clients{TCPListener: l, slots: make(chan struct{}, most), closed: make(chan struct{})}
}

// Accept waits for a slot, then for a client.
func (c *clients) Accept() (net.Conn, error) {
	select {
	case c.slots <- struct{}{}:
	case <-c.closed:
		return nil, net.ErrClosed
	}
	conn, err := c.AcceptTCP()
	if err != nil {
		<-c.slots
		return nil, err
	}
	return &client{TCPConn: conn, leave: sync.OnceFunc(func() { <-c.slots })}, nil
}

// Close ends the waiting.
func (c *clients) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.TCPListener.Close()
}

// A client holds a slot until it is closed.
type client struct {
	*net.TCPConn
	leave func()
}

// Close gives the slot back.
func (c *client) Close() error {
	defer c.leave()
	return c.TCPConn.Close()
}
