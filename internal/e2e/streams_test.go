package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sandgate/internal/sandboxtest"
)

// A rawViewer follows an execution on a connection of its own, as slowly or as
// rudely as it likes.
type rawViewer struct {
	conn  *net.TCPConn
	lines *bufio.Reader
}

// follow opens a stream and reads its first event.
func follow(ctx context.Context, g *sandboxtest.Gateway, location string) (*rawViewer, error) {
	host := strings.TrimPrefix(g.URL, "http://")
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, err
	}
	v := &rawViewer{conn.(*net.TCPConn), bufio.NewReaderSize(conn, 16)}
	if _, err = fmt.Fprintf(conn, "GET %s/events HTTP/1.1\r\nHost: %s\r\n\r\n", location, host); err == nil {
		err = v.skip("data: ")
	}
	if err != nil {
		v.vanish(true)
		return nil, err
	}
	return v, nil
}

// skip reads to a line that begins with a text.
func (v *rawViewer) skip(text string) error {
	_ = v.conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	for begins := true; ; {
		line, partial, err := v.lines.ReadLine()
		if err != nil {
			return err
		}
		if begins && strings.HasPrefix(string(line), text) {
			return nil
		}
		begins = !partial
	}
}

// vanish closes the connection, rudely or not.
func (v *rawViewer) vanish(rudely bool) {
	if rudely {
		_ = v.conn.SetLinger(0)
	}
	_ = v.conn.Close()
}

// One who reads a byte a second holds up neither the execution nor those who
// read as it comes.
func TestViewers_aSlowOneHarmsNobody(t *testing.T) {
	g := start(t)
	before := settled(t, g)
	const lines, length = 160, 50_000 // less than is kept
	v := watch(t, http.MethodPost, g.URL+"/run", fmt.Sprintf(
		"import os, time\nprint('begun')\nwhile not os.path.exists('/tmp/go-on'): time.sleep(0.05)\nfor i in range(%d): print('x' * %d)", lines, length-1))
	for v.next().Type != "stdout" {
	}
	slow, err := follow(t.Context(), g, v.location)
	if err != nil {
		t.Fatal(err)
	}
	left := make(chan struct{})
	reading := make(chan struct{})
	go func() { // ends with the test
		defer close(reading)
		for {
			select {
			case <-left:
				return
			case <-time.After(time.Second):
				_ = slow.conn.SetReadDeadline(time.Now().Add(time.Second))
				_, _ = slow.lines.Discard(1)
			}
		}
	}()
	ask(t, http.MethodPost, g.URL+"/run?language=bash", "touch /tmp/go-on").has(200)
	read := 0
	for end := ""; end == ""; {
		e := v.next()
		read += len(e.Data)
		if e.Type == "complete" || e.Type == "error" {
			end = e.Type + e.Status
			if end != "completeexited" {
				t.Errorf("ended as %+v", e)
			}
		}
	}
	if read != lines*length {
		t.Errorf("%d bytes came, want %d", read, lines*length)
	}
	if got := run(t, g, "print(1)"); !slices.Equal(got.Output, []string{"1\n"}) {
		t.Errorf("beside the slow one: %+v", got)
	}
	close(left)
	<-reading
	slow.vanish(true)
	backAtBaseline(t, g, before, 1)
}

// Two hundred who open a stream and leave in the middle of it leave nothing.
func TestViewers_vanish(t *testing.T) {
	g := start(t)
	run(t, g, "1")
	before := settled(t, g)
	v := watch(t, http.MethodPost, g.URL+"/run?timeout=5m", "import time\nwhile True: print('x' * 1000); time.sleep(0.01)")
	for v.next().Type != "stdout" {
	}
	var all sync.WaitGroup
	turns := make(chan int)
	for range 10 {
		all.Go(func() {
			for i := range turns {
				viewer, err := follow(t.Context(), g, v.location)
				if err != nil {
					t.Error(err)
					continue
				}
				viewer.vanish(i%2 == 0)
			}
		})
	}
	for i := range 200 {
		turns <- i
	}
	close(turns)
	all.Wait()
	if e := v.next(); e.Type != "stdout" { // the execution does not mind
		t.Errorf("%+v", e)
	}
	ask(t, http.MethodDelete, g.URL+v.location, "").has(http.StatusNoContent)
	if _, end := v.rest(); end.Status != "canceled" {
		t.Errorf("ended as %+v", end)
	}
	backAtBaseline(t, g, before, 0)
}

// backAtBaseline waits until the gateway holds what it held, and some more
// sandboxes' processes if they were started meanwhile.
func backAtBaseline(t *testing.T, g *sandboxtest.Gateway, before holdings, sandboxes int) {
	t.Helper()
	var after holdings
	eventually(t, "what is held is back at its baseline", func() bool {
		after = held(t, g)
		return after.goroutines <= before.goroutines+20+10*float64(sandboxes) && after.descriptors <= before.descriptors+20+10*float64(sandboxes)
	})
	t.Logf("%+v; before: %+v", after, before)
}

// Many short streams, some at once, and each has its whole output and exactly
// one end. There are more of them in a soak.
func TestSoak_shortStreams(t *testing.T) {
	g := shared(t)
	streams := min(max(200, soakRuns(t)), 1000)
	var all sync.WaitGroup
	turns := make(chan int)
	for worker := range 4 {
		all.Go(func() {
			for i := range turns {
				if err := shortStream(t, g, fmt.Sprint("short-", worker), i); err != nil {
					t.Errorf("stream %d: %v", i, err)
				}
			}
		})
	}
	for i := range streams {
		turns <- i
	}
	close(turns)
	all.Wait()
}

func shortStream(t *testing.T, g *sandboxtest.Gateway, name string, i int) error {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.URL+"/notebook?notebook="+name, strings.NewReader(fmt.Sprintf("print(%d)", i)))
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	text := string(body)
	ends := strings.Count(text, `"type":"complete"`) + strings.Count(text, `"type":"error"`)
	if resp.StatusCode != http.StatusOK || ends != 1 || !strings.Contains(text, fmt.Sprintf(`"data":"%d\n"`, i)) || !strings.Contains(text, `"status":"exited"`) {
		return fmt.Errorf("%s, %d ends: %s", resp.Status, ends, text)
	}
	return nil
}
