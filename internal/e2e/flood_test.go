package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	gosse "github.com/tmaxmax/go-sse"

	"sandgate/internal/sandboxtest"
)

const (
	floodLine  = 100 // bytes of each line, which is its number
	floodLines = 1 << 20
	floodBytes = floodLine * floodLines
	floodTime  = 10 * time.Minute
)

// flood prints lines from one number up to another.
func flood(from, to int) string {
	return fmt.Sprintf("seq -f '%%0%d.0f' %d %d\n", floodLine-1, from, to)
}

// A flooded one reads an execution that floods, and keeps nothing of it.
type flooded struct {
	*testing.T
	at     int64           // bytes before the next event
	offset map[int64]int64 // of the events that were seen
	gaps   int64           // bytes told as missing
	end    event
	step   func() // after each event
}

func newFlooded(t *testing.T) *flooded {
	return &flooded{T: t, offset: make(map[int64]int64), step: func() {}}
}

// read reads a stream to its end. What it gives must be what was printed, in
// order and to the byte.
func (f *flooded) read(method, target, body string, header ...string) (location string) {
	f.Helper()
	ctx, cancel := context.WithTimeout(f.Context(), floodTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
	if err != nil {
		f.Error(err)
		return ""
	}
	req.Header.Set("Accept", "text/event-stream")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		f.Error(err)
		return ""
	}
	defer resp.Body.Close()
	for e, err := range gosse.Read(resp.Body, &gosse.ReadConfig{MaxEventSize: 1 << 20}) {
		if err == nil {
			err = f.take(e)
		}
		if err != nil {
			f.Errorf("%s %s: %v", method, target, err)
			return ""
		}
	}
	if f.end.Type == "" {
		f.Errorf("%s %s: %s, no end", method, target, resp.Status)
	}
	return resp.Header.Get("Location")
}

func (f *flooded) take(sent gosse.Event) error {
	var e struct {
		event
		Bytes int64
	}
	if err := json.Unmarshal([]byte(sent.Data), &e); err != nil {
		return err
	}
	switch e.Type {
	case "stdout":
		seq, _ := strconv.ParseInt(sent.LastEventID, 10, 64)
		f.offset[seq] = f.at
		if err := f.compare([]byte(e.Data)); err != nil {
			return err
		}
	case "gap":
		f.gaps += e.Bytes
		f.at += e.Bytes
	case "complete", "error":
		f.end = e.event
	}
	f.step()
	return nil
}

// compare wants data to be what is printed next.
func (f *flooded) compare(data []byte) error {
	var line [floodLine]byte
	for len(data) > 0 {
		number, within := f.at/floodLine+1, f.at%floodLine
		want := fmt.Appendf(line[:0], "%0*d\n", floodLine-1, number)[within:]
		n := min(len(want), len(data))
		if !bytes.Equal(data[:n], want[:n]) {
			return fmt.Errorf("at %d it is %q, not %q", f.at, data[:n], want[:n])
		}
		data = data[n:]
		f.at += int64(n)
	}
	return nil
}

// wantAll wants everything to have been read, and the program to have ended well.
func (f *flooded) wantAll(bytes int64) {
	f.Helper()
	if f.at != bytes || f.gaps > 0 || f.end.Status != "exited" || f.end.ExitCode == nil || *f.end.ExitCode != 0 {
		f.Errorf("%d bytes of %d, %d told as missing, ended as %+v", f.at, bytes, f.gaps, f.end)
	}
}

// A program prints more than fits into any buffer: one viewer reads all of it,
// others come back in the middle when it has ended and read the rest, every
// byte is right, and neither gateway nor sandboxd holds more than a part of it.
func TestFlood_isReadWholeInBoundedMemory(t *testing.T) {
	t.Parallel()
	g := start(t, "--keep-output", "128MiB")
	run(t, g, "1")
	before := residentOf(t, g.PID())
	inside := residentInside(t, g)
	most := inside

	live := newFlooded(t)
	live.step = func() {
		if len(live.offset)%500 == 1 {
			most = max(most, residentInside(t, g))
		}
	}
	location := live.read(http.MethodPost, g.URL+"/run?language=bash&timeout=600", flood(1, floodLines))
	live.wantAll(floodBytes)

	var wg sync.WaitGroup
	for _, after := range []int64{0, int64(len(live.offset)) / 2} {
		wg.Go(func() {
			late := newFlooded(t)
			late.at = live.offset[after+1]
			late.read(http.MethodGet, g.URL+location+"/events", "", "Last-Event-ID", fmt.Sprint(after))
			late.wantAll(floodBytes)
		})
	}
	wg.Wait()
	most = max(most, residentInside(t, g))
	after := residentOf(t, g.PID())
	t.Logf("gateway: %d MiB, then %d; sandboxd: %d MiB, then %d", before>>20, after>>20, inside>>20, most>>20)
	if after-before > floodBytes/2 {
		t.Errorf("the gateway took %d MiB more", (after-before)>>20)
	}
	if most-inside > floodBytes*3/2 { // all of it, encoded and with its garbage, is more than twice as much
		t.Errorf("sandboxd took %d MiB more", (most-inside)>>20)
	}
}

// On a small disk, which the program fills as well, what is not kept is told to
// the byte. The program goes on, gets all of the disk, and sees nothing of ours.
func TestFlood_onAFullDiskIsToldAndGoesOn(t *testing.T) {
	t.Parallel()
	for _, runtime := range []string{"runsc", "runc"} { // which make unnamed files in different ways
		t.Run(runtime, func(t *testing.T) { floodAFullDisk(t, runtime) })
	}
}

func floodAFullDisk(t *testing.T, runtime string) {
	g := start(t, "--runtime", runtime, "--keep-output", "128MiB", "--workspace-size", "32MiB")
	const (
		lines  = floodLines * 5 / 8
		before = lines * 2 / 3
	)
	program := `
		free() { df --output=avail -B1 . | tail -1; }
		empty=$(free)
		` + flood(1, before) + `
		[ $(free) -lt $((empty - 2000000)) ] || exit 8 # some of it is on the disk
		dd if=/dev/zero of=hog bs=64k 2>/dev/null # until there is no space left
		` + flood(before+1, lines) + `
		until [ $(stat -c %s hog) -gt $((empty - 1000000)) ]; do
			dd if=/dev/zero bs=64k 2>/dev/null >>hog
			sleep 0.05
		done
		[ "$(ls -A)" = hog ] || exit 9`

	live := newFlooded(t)
	location := live.read(http.MethodPost, g.URL+"/run?language=bash&timeout=600", program)
	late := newFlooded(t)
	late.read(http.MethodGet, g.URL+location+"/events", "")
	for name, f := range map[string]*flooded{"live": live, "late": late} {
		if f.at != lines*floodLine || f.end.Status != "exited" || f.end.ExitCode == nil || *f.end.ExitCode != 0 {
			t.Errorf("%s: %d bytes of %d, %d of them told as missing, ended as %+v", name, f.at, lines*floodLine, f.gaps, f.end)
		}
	}
	if kept := lines*floodLine - late.gaps; kept < 16<<20 || late.gaps == 0 {
		t.Errorf("%d bytes are kept", kept)
	}
}

// residentOf is the most memory that a process of this host ever had.
func residentOf(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	return statusField(t, string(status), "VmHWM")
}

// residentInside is how much memory sandboxd has.
func residentInside(t *testing.T, g *sandboxtest.Gateway) int64 {
	t.Helper()
	got := run(t, g, "print(open('/proc/1/status').read())")
	if len(got.Output) != 1 {
		t.Fatalf("%+v", got)
	}
	return statusField(t, got.Output[0], "VmRSS")
}

func statusField(t *testing.T, status, field string) int64 {
	t.Helper()
	for line := range strings.Lines(status) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			kib, err := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Fatalf("no %s in %q", field, status)
	return 0
}
