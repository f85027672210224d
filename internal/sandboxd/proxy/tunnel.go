package proxy

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
)

// copyBuffer is large because every call into gVisor's kernel is dear.
const copyBuffer = 64 << 10

const established = "HTTP/1.1 200 Connection established\r\n\r\n"

// connect makes a tunnel to the request's target, and returns when it has ended.
func (p *Proxy) connect(w http.ResponseWriter, r *http.Request) {
	// Not the request's context: a program may have said all it will already.
	outside, err := p.opts.Dial(p.ctx, r.Host)
	if err != nil {
		p.fail(w, r.Host, err)
		return
	}
	defer outside.Close()
	inside, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "This connection cannot become a tunnel", http.StatusInternalServerError)
		return
	}
	defer inside.Close()
	if _, err := io.WriteString(inside, established); err != nil {
		return
	}
	// What the program has sent already lies in the buffer.
	splice(p.ctx, inside, outside, io.MultiReader(io.LimitReader(buffered.Reader, int64(buffered.Reader.Buffered())), inside))
}

// splice copies in both directions until both have ended, or ctx.
func splice(ctx context.Context, inside, outside net.Conn, fromInside io.Reader) {
	defer context.AfterFunc(ctx, func() {
		_ = inside.Close()
		_ = outside.Close()
	})()
	var directions sync.WaitGroup
	directions.Go(func() { pass(outside, fromInside, inside) })
	directions.Go(func() { pass(inside, outside, outside) })
	directions.Wait()
}

// pass copies one direction. At its end the other may go on; after a failure
// neither can.
func pass(to net.Conn, from io.Reader, source net.Conn) {
	// Not io.Copy, which would splice: gVisor's costs more than it spares.
	_, err := io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, copyBuffer))
	half, ok := to.(interface{ CloseWrite() error })
	if err == nil && ok && half.CloseWrite() == nil {
		return
	}
	_ = to.Close()
	_ = source.Close()
}
