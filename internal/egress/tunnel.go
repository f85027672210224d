package egress

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// maxProxyAnswer bounds the header with which a proxy answers.
const maxProxyAnswer = 64 << 10

// A proxyError is the answer of a proxy that did not connect.
type proxyError struct{ status string }

func (e *proxyError) Error() string { return "proxy answered " + e.status }

// tunnel connects to a target through an HTTP proxy.
func (d *dialer) tunnel(ctx context.Context, proxy *url.URL, target string) (_ net.Conn, err error) {
	conn, err := d.dialProxy(ctx, proxy)
	if err != nil {
		return nil, fmt.Errorf("dial proxy: %w", err)
	}
	cut := context.AfterFunc(ctx, func() { _ = conn.Close() })
	rest, err := connect(conn, proxy, target)
	if !cut() { // and closed it
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("connect through proxy: %w", err)
	}
	if len(rest) == 0 {
		return conn, nil
	}
	return &resumed{conn, io.MultiReader(bytes.NewReader(rest), conn)}, nil
}

func (d *dialer) dialProxy(ctx context.Context, proxy *url.URL) (net.Conn, error) {
	port := proxy.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[proxy.Scheme]
	}
	address := net.JoinHostPort(proxy.Hostname(), port)
	plain := &net.Dialer{Resolver: d.resolver}
	if proxy.Scheme != "https" {
		return plain.DialContext(ctx, "tcp", address)
	}
	secure := tls.Dialer{NetDialer: plain, Config: &tls.Config{RootCAs: d.roots, MinVersion: tls.VersionTLS12}}
	return secure.DialContext(ctx, "tcp", address)
}

// connect asks for the target and gives what the target has said already.
func connect(conn net.Conn, proxy *url.URL, target string) ([]byte, error) {
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: target}, Host: target, Header: http.Header{}}
	if user := proxy.User; user != nil {
		password, _ := user.Password()
		credentials := base64.StdEncoding.EncodeToString([]byte(user.Username() + ":" + password))
		request.Header.Set("Proxy-Authorization", "Basic "+credentials)
	}
	if err := request.Write(conn); err != nil {
		return nil, err
	}
	reader := bufio.NewReader(io.LimitReader(conn, maxProxyAnswer))
	answer, err := http.ReadResponse(reader, request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, &proxyError{strings.ToValidUTF8(fmt.Sprintf("%.60s", answer.Status), "")}
	}
	return reader.Peek(reader.Buffered())
}

// A resumed connection has been read from already.
type resumed struct {
	net.Conn
	from io.Reader
}

func (r *resumed) Read(p []byte) (int, error) { return r.from.Read(p) }

// CloseWrite passes on that nothing more will be sent.
func (r *resumed) CloseWrite() error { return closeWrite(r.Conn) }
