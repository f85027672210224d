package proxy

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
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
		},
		FlushInterval: -1,
		ErrorHandler:  func(w http.ResponseWriter, r *http.Request, err error) { p.fail(w, r.URL.Host, err) },
		ErrorLog:      slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}
}
