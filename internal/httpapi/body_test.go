package httpapi

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/labstack/echo/v4"

	"sandgate/sandboxclient"
)

func sent(body io.Reader) echo.Context {
	return echo.New().NewContext(httptest.NewRequest("POST", "/", body), httptest.NewRecorder())
}

func TestReadBody(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for name, body := range map[string]io.Reader{
		"announced":   bytes.NewReader(every),
		"unannounced": iotest.OneByteReader(bytes.NewReader(every)),
	} {
		got, err := ReadBody(sent(body), 256)
		if err != nil || !bytes.Equal(got, every) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

func TestReadBody_tooLarge(t *testing.T) {
	for name, body := range map[string]io.Reader{
		"announced":   strings.NewReader("12345"),
		"unannounced": iotest.OneByteReader(strings.NewReader("12345")),
	} {
		got, err := ReadBody(sent(body), 4)
		if sandboxclient.CodeOf(err) != sandboxclient.CodeTooLarge {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestBody_remembersWhatBrokeIt(t *testing.T) {
	broken := io.MultiReader(strings.NewReader("ab"), iotest.ErrReader(errors.New("connection reset")))
	body, err := OpenBody(sent(broken), 100)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(body); sandboxclient.CodeOf(err) != sandboxclient.CodeInvalid || body.Err() == nil {
		t.Errorf("%v, remembered %v", err, body.Err())
	}
	if n, err := body.Read(make([]byte, 1)); n != 0 || !errors.Is(err, body.Err()) {
		t.Errorf("after the end: %d, %v", n, err)
	}
}

// A body that breaks off is not taken for a short one, announced or chunked.
func TestBody_breaksOff(t *testing.T) {
	for name, rest := range map[string]string{
		"announced": "Content-Length: 10\r\n\r\nabc",
		"chunked":   "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n5\r\nab",
	} {
		d := newDesk()
		result := make(chan error, 1)
		d.Handle("POST", "/x", "", func(c echo.Context) error {
			_, err := ReadBody(c, 100)
			result <- err
			return err
		})
		server := httptest.NewServer(d)
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST /x HTTP/1.1\r\nHost: localhost\r\n%s", rest)
		_ = conn.Close()
		if err := <-result; err == nil {
			t.Errorf("%s: no error", name)
		}
		server.Close()
	}
}

// A client that falls silent within its body is not waited for.
func TestBody_silence(t *testing.T) {
	d := newDesk()
	d.Handle("POST", "/x", "", func(c echo.Context) error {
		body, err := OpenBody(c, 100)
		if err != nil {
			return err
		}
		body.silence = 50 * time.Millisecond
		_, err = io.ReadAll(body)
		return err
	})
	server := httptest.NewServer(d)
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := bodyOf(t, resp); resp.StatusCode != 400 || got != "The body did not go on for 50ms, or came too slowly" || !resp.Close {
		t.Errorf("%d %q, close %v", resp.StatusCode, got, resp.Close)
	}
}

// A body that trickles is not waited for either, though it is never silent.
func TestBody_trickle(t *testing.T) {
	d := newDesk()
	d.Handle("POST", "/x", "", func(c echo.Context) error {
		body, err := OpenBody(c, 1<<20)
		if err != nil {
			return err
		}
		body.silence = 200 * time.Millisecond
		_, err = io.ReadAll(body)
		return err
	})
	server := httptest.NewServer(d)
	defer server.Close()
	slow, feed := io.Pipe()
	go func() { // ends when the server has had enough
		for tick := time.Tick(20 * time.Millisecond); ; <-tick {
			if _, err := feed.Write([]byte("x")); err != nil {
				return
			}
		}
	}()
	defer slow.Close()
	resp, err := http.Post(server.URL+"/x", "text/plain", slow)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got := bodyOf(t, resp); resp.StatusCode != 400 || !strings.Contains(got, "too slowly") {
		t.Errorf("%d %q", resp.StatusCode, got)
	}
}

// Nor is one whose body no handler wants, by the server that would read the
// rest of it to use the connection again.
func TestBody_silenceOfTheUnread(t *testing.T) {
	d := newDesk()
	d.silence = 50 * time.Millisecond
	server := httptest.NewServer(d)
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != 404 || !resp.Close {
		t.Errorf("%d, close %v", resp.StatusCode, resp.Close)
	}
}

// Reading a body to its end leaves no deadline that would end the request.
func TestBody_leavesNoDeadline(t *testing.T) {
	d := newDesk()
	d.Handle("POST", "/x", "", func(c echo.Context) error {
		body, err := ReadBody(c, 100)
		if err != nil {
			return err
		}
		return Text(c, http.StatusOK, string(body))
	})
	server := httptest.NewServer(d)
	defer server.Close()
	for range 3 { // on one connection
		resp, err := http.Post(server.URL+"/x", "text/plain", strings.NewReader("abc"))
		if err != nil {
			t.Fatal(err)
		}
		if got := bodyOf(t, resp); got != "abc" || resp.StatusCode != 200 {
			t.Errorf("%d %q", resp.StatusCode, got)
		}
		_ = resp.Body.Close()
	}
}

func FuzzReadBody(f *testing.F) {
	f.Add([]byte("print(1)"), int64(4))
	f.Fuzz(func(t *testing.T, data []byte, limit int64) {
		got, err := ReadBody(sent(bytes.NewReader(data)), limit)
		if fits := int64(len(data)) <= limit; fits != (err == nil) && limit >= 0 {
			t.Errorf("%d bytes of at most %d: %v", len(data), limit, err)
		}
		if err == nil && !bytes.Equal(got, data) {
			t.Errorf("%q became %q", data, got)
		}
	})
}
