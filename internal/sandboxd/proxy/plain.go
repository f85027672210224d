package proxy

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
)

// newPlain passes requests for http: URLs on. A redirect goes back to the
// program: if it follows, that is another request.
func (p *Proxy) newPlain() *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.RawQuery = r.In.URL.RawQuery // as it came, odd or not
		},
		Transport: &http.Transport{
			DialContext:            func(ctx context.Context, _, target string) (net.Conn, error) { return p.opts.Dial(ctx, target) },
			DisableCompression:     true,
			MaxIdleConnsPerHost:    maxIdle,
			MaxIdleConns:           4 * maxIdle,
			IdleConnTimeout:        idleTime,
			MaxResponseHeaderBytes: maxHeader,
			ReadBufferSize:         copyBuffer,
		},
		BufferPool:    &buffers{},
		FlushInterval: -1,
		ErrorHandler:  func(w http.ResponseWriter, r *http.Request, err error) { p.fail(w, r.URL.Host, err) },
		ErrorLog:      slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}
}

// buffers are used again and again.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte {
	if buffer, ok := b.pool.Get().(*[]byte); ok {
		return *buffer
	}
	return make([]byte, copyBuffer)
}

func (b *buffers) Put(buffer []byte) { b.pool.Put(&buffer) }
