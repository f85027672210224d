package httpapi

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
)

// between is how much fits between server and client.
const between = 256 << 10

// connect starts a server and connects a client.
func connect(t *testing.T, h http.Handler) net.Conn {
	t.Helper()
	server := httptest.NewUnstartedServer(h)
	server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		_ = c.(*net.TCPConn).SetWriteBuffer(between)
		return ctx
	}
	server.Start()
	t.Cleanup(server.Close)
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.(*net.TCPConn).SetReadBuffer(between); err != nil {
		t.Fatal(err)
	}
	return conn
}

// large fits into no buffer.
var large = strings.Repeat("x", 16<<20)

// answers are all the ways in which handlers of ours write.
var answers = map[string]echo.HandlerFunc{
	"json": func(c echo.Context) error { return JSON(c, http.StatusOK, large) },
	"text": func(c echo.Context) error { return Text(c, http.StatusOK, large) },
	"copy": func(c echo.Context) error {
		_, err := io.Copy(c.Response(), strings.NewReader(large))
		return err
	},
	"flush": func(c echo.Context) error {
		for range len(large) / 1000 {
			if _, err := io.WriteString(c.Response(), large[:1000]); err != nil {
				return err
			}
			if err := Flush(c); err != nil {
				return err
			}
		}
		return nil
	},
}

// A client that reads nothing of its answer holds nobody up for long.
func TestAnswer_toAClientThatDoesNotRead(t *testing.T) {
	for name, handler := range answers {
		t.Run(name, func(t *testing.T) {
			d := newDesk()
			d.patience = 50 * time.Millisecond
			ended := make(chan error, 1)
			d.Handle("GET", "/x", "", func(c echo.Context) error {
				err := handler(c)
				ended <- err
				return err
			})
			conn := connect(t, d)
			fmt.Fprint(conn, "GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n")
			select {
			case err := <-ended:
				if err == nil {
					t.Error("it was read: nothing is tested")
				}
			case <-time.After(20 * time.Second):
				t.Error("the handler still waits")
			}
		})
	}
}

// A client that reads, however slowly, gets it all: it is silence that has a
// bound, and no answer as a whole.
func TestAnswer_toASlowClient(t *testing.T) {
	d := newDesk()
	d.patience = time.Second
	d.Handle("GET", "/x", "", answers["json"])
	conn := connect(t, d)
	fmt.Fprint(conn, "GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	const steps = 25
	got := int64(0)
	for began, tick := time.Now(), time.NewTicker(d.patience/10); err == nil; <-tick.C {
		var n int64
		n, err = io.CopyN(io.Discard, resp.Body, int64(len(large)/steps))
		got += n
		if err == io.EOF && time.Since(began) < 2*d.patience {
			t.Error("it was not slow: nothing is tested")
		}
	}
	if want := int64(len(large) + len("\"\"\n")); err != io.EOF || got != want || resp.ContentLength != want {
		t.Errorf("%d bytes of %d, %v, want %d", got, resp.ContentLength, err, want)
	}
}

// A deadline that has passed since an answer ends neither the next on the same
// connection nor a handler that takes its time after a first piece.
func TestAnswer_leavesNoDeadline(t *testing.T) {
	d := newDesk()
	d.patience = 50 * time.Millisecond
	d.Handle("GET", "/x", "", func(c echo.Context) error {
		if _, err := io.WriteString(c.Response(), "a"); err != nil {
			return err
		}
		if err := Flush(c); err != nil {
			return err
		}
		<-time.After(2 * d.patience)
		_, err := io.WriteString(c.Response(), "b")
		return err
	})
	server := httptest.NewServer(d)
	defer server.Close()
	for range 3 { // on one connection
		resp, err := http.Get(server.URL + "/x")
		if err != nil {
			t.Fatal(err)
		}
		if got := bodyOf(t, resp); got != "ab" {
			t.Errorf("%q", got)
		}
		_ = resp.Body.Close()
		<-time.After(2 * d.patience)
	}
}

// The server still learns of a body that is too large, and closes the connection.
func TestAnswer_toABodyThatIsTooLarge(t *testing.T) {
	d := newDesk()
	d.Handle("POST", "/x", "", func(c echo.Context) error {
		_, err := ReadBody(c, 10)
		return err
	})
	conn := connect(t, d)
	fmt.Fprintf(conn, "POST /x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n%s\r\n", large[:20])
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusRequestEntityTooLarge || !resp.Close {
		t.Errorf("%d, close %v", resp.StatusCode, resp.Close)
	}
}
