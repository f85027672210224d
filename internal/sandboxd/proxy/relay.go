package proxy

import (
	"context"
	"errors"
	"net"
	"time"

	"sandgate/sandboxclient/wire"
)

const (
	maxRelayed  = 64 // connections of programs; the next wait
	acceptPause = 50 * time.Millisecond
)

// Relay opens a port whose connections go to one target, without a word of HTTP
// read here: what npm asks costs the sandbox less so. It ends with the proxy,
// and gives its HOST:PORT.
func (p *Proxy) Relay(target string) (string, error) {
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return "", err
	}
	if !p.enter() {
		return "", errors.Join(net.ErrClosed, listener.Close())
	}
	accepting := newClients(listener, maxRelayed)
	go func() { // ends with the proxy
		defer p.wg.Done()
		p.accept(accepting, target)
	}()
	return listener.Addr().String(), nil
}

func (p *Proxy) accept(listener *clients, target string) {
	defer context.AfterFunc(p.ctx, func() { _ = listener.Close() })()
	for {
		inside, err := listener.Accept()
		if err != nil && p.ctx.Err() == nil {
			p.pause() // out of descriptors, say
			continue
		}
		if err != nil || !p.enter() {
			return
		}
		go func() { // ends with the proxy, at the latest
			defer p.wg.Done()
			p.relay(inside, target)
		}()
	}
}

func (p *Proxy) pause() {
	select {
	case <-time.After(acceptPause):
	case <-p.ctx.Done():
	}
}

func (p *Proxy) relay(inside net.Conn, target string) {
	defer inside.Close()
	outside, err := p.opts.Dial(p.ctx, target)
	if refusal, refused := errors.AsType[*wire.Error](err); refused {
		p.opts.Refused(target, refusal)
	}
	if err != nil {
		return
	}
	defer outside.Close()
	splice(p.ctx, inside, outside, inside)
}
