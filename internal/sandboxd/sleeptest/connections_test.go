package sleeptest

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"sandgate/sandboxclient/wire"
)

// A reader that is there when the sandbox falls asleep loses its connection, and
// nothing else: it reads on from the number that it came to.
func TestWake_readersResume(t *testing.T) {
	t.Parallel()
	s := newHost(t).start()
	code := "import time\nfor i in range(200): print(i, flush=True); time.sleep(0.02)"
	id, seen := s.begin(wire.RunRequest{Context: context0(wire.Python), Code: code}, func(e wire.Event) bool { return e.Type == wire.EventStdout })
	var lost []wire.Event
	var reading sync.WaitGroup
	body := s.do(http.MethodGet, "/v1/executions/"+id+"/events?after="+jsonText(seen.last), nil)
	reading.Go(func() {
		defer body.Close()
		for events := wire.NewEventReader(body, seen.last); ; {
			e, err := events.Next()
			if err != nil || e.Terminal() {
				return
			}
			lost = append(lost, e)
		}
	})
	s.host.sleepUnderReaders(s)
	reading.Wait()
	s.wake()
	got, last := seen.output, seen.last
	for _, e := range lost {
		got, last = got+string(e.Data), e.Seq
	}
	rest := s.follow(id, last)
	want := s.run(wire.Python, "for i in range(200): print(i)").output
	if got+rest.output != want || rest.exit.ExitCode != 0 {
		t.Errorf("read %q, then %q, %+v", got, rest.output, rest.exit)
	}
}

// sleepUnderReaders puts a sandbox to sleep whose connections are in use.
func (h *host) sleepUnderReaders(s *sandbox) {
	h.Helper()
	inUse := s.http
	h.Cleanup(inUse.CloseIdleConnections)
	s.http = nil
	s.must(h.driver.Hibernate(s.within(), s.id, nil))
}

// echoes answers for the outside: it connects everybody to themselves, until the
// link ends.
func echoes(ctx context.Context, _ string, conn net.Conn) {
	unbind := context.AfterFunc(ctx, func() { conn.Close() })
	defer unbind()
	if wire.WriteEgressReply(conn, nil) == nil {
		_, _ = io.Copy(conn, conn)
	}
}

// A connection to the outside breaks, as any does when its other end is gone, and
// the way out is there again.
func TestWake_wayOut(t *testing.T) {
	t.Parallel()
	s := newHost(t).start()
	open := func() {
		t.Helper()
		s.must(s.host.driver.Egress(s.id, echoes))
		s.call(http.MethodPut, "/v1/egress", wire.Egress{}, nil)
	}
	open()
	s.cell(prelude + `
def call():
    host, _, port = os.environ["http_proxy"].removeprefix("http://").rpartition(":")
    conn = socket.create_connection((host, int(port)), timeout=60)
    conn.sendall(b"CONNECT echo.example:443 HTTP/1.1\r\nHost: echo.example:443\r\n\r\n")
    head = b""
    while b"\r\n\r\n" not in head:
        head += conn.recv(1)
    return conn

def echo(conn):
    conn.sendall(b"hello")
    return conn.recv(5)

conn = call()
assert echo(conn) == b"hello"`)
	s.sleepFor(500 * time.Millisecond)
	open()
	got := s.cell(`
try:
    ended = conn.recv(1) == b""
except ConnectionError:
    ended = True
ended, echo(call())`)
	if got != "(True, b'hello')" {
		t.Errorf("it gives %s", got)
	}
}

// However many connections are open when a sandbox falls asleep, parked or in
// use, it has as many as are needed when it wakes.
func TestWake_connectionsAfterManySleeps(t *testing.T) {
	t.Parallel()
	s := newHost(t).start()
	for range 6 {
		var asking sync.WaitGroup
		for range 4 { // beyond those that are kept parked
			conn, err := s.host.driver.Dial(s.within(), s.id)
			s.must(err)
			t.Cleanup(func() { conn.Close() })
			asking.Go(func() { ask(t, conn) })
		}
		asking.Wait() // and they are still open
		s.sleep()
		s.wake()
	}
}

// ask makes one request on a connection and leaves it open.
func ask(t *testing.T, conn net.Conn) {
	_ = conn.SetDeadline(time.Now().Add(hang))
	if _, err := io.WriteString(conn, "GET /v1/health HTTP/1.1\r\nHost: sandbox\r\n\r\n"); err != nil {
		t.Error(err)
		return
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Error(err)
		return
	}
	defer resp.Body.Close()
	var health wire.Health
	if err := json.NewDecoder(resp.Body).Decode(&health); err != nil || health.Version != wire.Version {
		t.Errorf("got %+v, %v", health, err)
	}
}
