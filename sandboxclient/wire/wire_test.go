package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestHello_roundTrip(t *testing.T) {
	var b bytes.Buffer
	want := Hello{Version: Version, Token: "secret", Role: RoleServe}
	if err := WriteHello(&b, want); err != nil {
		t.Fatal(err)
	}
	b.WriteString("GET / HTTP/1.1")
	got, err := ReadHello(&b)
	if err != nil || got != want {
		t.Fatalf("ReadHello = %+v, %v", got, err)
	}
	if b.String() != "GET / HTTP/1.1" {
		t.Fatalf("read beyond the line: %q is left", b.String())
	}
}

func TestHello_refusals(t *testing.T) {
	for _, line := range []string{
		"", "\n", "SANDGATE\n", "SANDGATE 1 t\n", "SANDGATE x t serve\n", "SANDGATE 1  serve\n",
		"GET / HTTP/1.1\r\n", "SANDGATE 1 t serve", "SANDGATE 1 t a b\n", strings.Repeat("x", 1<<20),
		"SANDGATE 1 t serve a:1\n", "SANDGATE 1 t egress\n", "SANDGATE 1 t egress \n", "SANDGATE 1 t egress a:1 b:2\n",
	} {
		if h, err := ReadHello(strings.NewReader(line)); err == nil {
			t.Errorf("ReadHello(%.40q) = %+v", line, h)
		}
	}
	if err := (Hello{Version: Version, Token: "a", Role: RoleServe}).Check("b"); err == nil {
		t.Error("a wrong token passes")
	}
	if err := (Hello{Version: Version + 1, Token: "a", Role: RoleServe}).Check("a"); !errors.Is(err, ErrVersion) {
		t.Errorf("another version gives %v", err)
	}
	if err := (Hello{Version: Version, Token: "a", Role: RoleServe}).Check("a"); err != nil {
		t.Errorf("the right hello gives %v", err)
	}
}

// Whatever an execution said, in whatever pieces it arrives, is read again.
func TestEventReader_roundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []Event
		var stream []byte
		n := rapid.IntRange(0, 20).Draw(t, "n")
		for i := range n {
			e := Event{Seq: int64(i + 1), Type: EventStdout, Data: rapid.SliceOfN(rapid.Byte(), 1, 200).Draw(t, "data")}
			want = append(want, e)
		}
		want = append(want, Event{Seq: int64(n + 1), Type: EventComplete, Exit: &Exit{Status: StatusExited}})
		for _, e := range want {
			var err error
			if stream, err = AppendEvent(stream, e); err != nil {
				t.Fatal(err)
			}
		}
		var r io.Reader = bytes.NewReader(stream)
		if rapid.Bool().Draw(t, "slow") {
			r = iotest.OneByteReader(r)
		}
		got, err := readAll(NewEventReader(r, 0))
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
		cut := rapid.IntRange(0, len(stream)-1).Draw(t, "cut")
		if _, err := readAll(NewEventReader(bytes.NewReader(stream[:cut]), 0)); !errors.Is(err, ErrUnterminated) {
			t.Fatalf("a stream cut at %d of %d ends with %v", cut, len(stream), err)
		}
	})
}

// Frames around the sizes at which they are read in another way follow one another.
func TestEventReader_framesOfAnyLength(t *testing.T) {
	var want []Event
	var stream []byte
	for _, size := range []int{readBuffer - 1, 1, readBuffer, readBuffer + 1, 1, 3 * keptFrame, keptFrame, 2} {
		message := strings.Repeat("x", size-min(size-1, len(`{"seq":1,"type":"warning","time":"0001-01-01T00:00:00Z","message":""}`)))
		e := Event{Seq: int64(len(want) + 1), Type: EventWarning, Message: message}
		want = append(want, e)
		var err error
		if stream, err = AppendEvent(stream, e); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readAll(NewEventReader(bytes.NewReader(stream), 0))
	if diff := cmp.Diff(want, got); diff != "" || !errors.Is(err, ErrUnterminated) {
		t.Error(err, diff)
	}
}

func TestEventReader_refusals(t *testing.T) {
	end := `{"seq":9,"type":"complete","exit":{"status":"exited"}}` + "\n"
	for name, stream := range map[string]string{
		"not JSON":             "hello\n" + end,
		"an empty line":        "\n" + end,
		"an unknown type":      `{"seq":1,"type":"what"}` + "\n" + end,
		"number zero":          `{"seq":0,"type":"stdout"}` + "\n" + end,
		"a number twice":       `{"seq":1,"type":"stdout"}` + "\n" + `{"seq":1,"type":"stdout"}` + "\n" + end,
		"an end without exit":  `{"seq":1,"type":"complete"}` + "\n",
		"an exit of no status": `{"seq":1,"type":"complete","exit":{}}` + "\n",
		"an error of no code":  `{"seq":1,"type":"error"}` + "\n",
		"a frame too large":    `{"seq":1,"type":"stdout","message":"` + strings.Repeat("x", MaxFrame) + `"}` + "\n",
	} {
		if _, err := readAll(NewEventReader(strings.NewReader(stream), 0)); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s is accepted (%v)", name, err)
		}
	}
}

func readAll(r *EventReader) ([]Event, error) {
	var events []Event
	for {
		e, err := r.Next()
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
}

// FuzzEventReader holds that a hostile stream never panics, and that what is
// accepted is in order, whole, and ends where it says.
func FuzzEventReader(f *testing.F) {
	f.Add([]byte(`{"seq":1,"type":"stdout","data":"aGk="}` + "\n" + `{"seq":2,"type":"complete","exit":{"status":"exited"}}` + "\n"))
	f.Add([]byte(`{"seq":5,"type":"gap","gap":{"from":1,"to":5,"bytes":7}}` + "\n"))
	f.Add([]byte("{}\n\n\x00\xff"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		events, err := readAll(NewEventReader(bytes.NewReader(stream), 0))
		if err == nil {
			t.Fatal("no end")
		}
		var last int64
		for i, e := range events {
			if e.Seq <= last || (e.Terminal() && i != len(events)-1) {
				t.Fatalf("event %d of %d: %+v after %d", i, len(events), e, last)
			}
			last = e.Seq
		}
		whole := len(events) > 0 && events[len(events)-1].Terminal()
		if whole != errors.Is(err, io.EOF) {
			t.Fatalf("ended with %v after %d events", err, len(events))
		}
	})
}

// FuzzReadHello holds that a hostile opening never panics nor passes a check,
// and that what is read would be written so.
func FuzzReadHello(f *testing.F) {
	f.Add([]byte("SANDGATE 1 token serve\n"))
	f.Add([]byte("SANDGATE -1  \n"))
	f.Add([]byte("SANDGATE 1 token egress example.org:443\nmore"))
	f.Fuzz(func(t *testing.T, line []byte) {
		h, err := ReadHello(bytes.NewReader(line))
		if err != nil {
			return
		}
		if h.Check("a token that is not guessed") == nil {
			t.Fatalf("%q passed", line)
		}
		var b bytes.Buffer
		if err := WriteHello(&b, h); err != nil {
			t.Fatalf("%+v was read and cannot be written: %v", h, err)
		}
		if again, err := ReadHello(&b); err != nil || again != h {
			t.Errorf("%+v was read again as %+v, %v", h, again, err)
		}
	})
}
