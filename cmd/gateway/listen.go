package main

import (
	"context"
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// listen takes an address. An empty one gives a listener that is closed.
func listen(ctx context.Context, flag, address string) (net.Listener, error) {
	if address == "" {
		return noListener{}, nil
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, unix.EADDRINUSE):
		return nil, fmt.Errorf("%s is taken by another program: stop it, or choose another address with --%s", address, flag)
	case errors.Is(err, unix.EADDRNOTAVAIL):
		return nil, fmt.Errorf("%s is no address of this machine: choose another one with --%s", address, flag)
	case err != nil:
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	return l, nil
}

// noListener is a listener that nobody asked for.
type noListener struct{}

func (noListener) Accept() (net.Conn, error) { return nil, net.ErrClosed }
func (noListener) Close() error              { return nil }
func (noListener) Addr() net.Addr            { return nil }
