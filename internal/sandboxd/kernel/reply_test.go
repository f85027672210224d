package kernel

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"sandgate/sandboxclient/wire"
)

func TestReplyReader(t *testing.T) {
	for name, c := range map[string]struct {
		stream string
		want   []reply
		fails  bool
	}{
		"nothing":          {stream: ""},
		"empty lines":      {stream: "\n \n\r\n"},
		"done":             {stream: "\n{\"id\":1,\"pid\":7,\"type\":\"done\"}\n", want: []reply{{ID: 1, PID: 7, Type: "done"}}},
		"two":              {stream: "{\"id\":1}\n{\"id\":2}\n", want: []reply{{ID: 1}, {ID: 2}}},
		"unknown fields":   {stream: "{\"id\":1,\"more\":[{}]}\n", want: []reply{{ID: 1}}},
		"result":           {stream: "{\"result\":{\"text\":\"t\",\"json\":\"[1]\"},\"dropped\":[\"html\"]}\n", want: []reply{{Result: fields{Text: "t", JSON: "[1]"}, Dropped: []string{"html"}}}},
		"error":            {stream: "{\"error\":{\"name\":\"E\",\"lineNumber\":3}}\n", want: []reply{{Error: &wire.CodeError{Name: "E", LineNumber: 3}}}},
		"cut":              {stream: "{\"id\":1}\n{\"id\":2}", want: []reply{{ID: 1}}},
		"garbage":          {stream: "{\"id\":1}\nxyz\n", want: []reply{{ID: 1}}, fails: true},
		"wrong type":       {stream: "{\"id\":[]}\n", fails: true},
		"number too large": {stream: "{\"id\":1e99}\n", fails: true},
		"not an object":    {stream: "[]\n", fails: true},
		"too long":         {stream: strings.Repeat(" ", maxReply+1) + "\n", fails: true},
		"endless":          {stream: strings.Repeat("x", maxReply+1), fails: true},
		"as long as may be": {
			stream: strings.Repeat(" ", maxReply-9) + "{\"id\":1}\n", want: []reply{{ID: 1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readAll(c.stream)
			if len(got) != len(c.want) {
				t.Fatalf("got %d replies, want %d", len(got), len(c.want))
			}
			for i := range got {
				if !reflect.DeepEqual(*got[i], c.want[i]) {
					t.Errorf("reply %d is %+v, want %+v", i, *got[i], c.want[i])
				}
			}
			if errors.Is(err, io.EOF) == c.fails {
				t.Errorf("it ends with %v", err)
			}
		})
	}
}

func readAll(stream string) ([]*reply, error) {
	var all []*reply
	for r := newReplyReader(strings.NewReader(stream)); ; {
		next, err := r.next()
		if err != nil {
			return all, err
		}
		all = append(all, next)
	}
}

// Whatever a program sends, it is decoded or refused, and what comes of it fits
// into an event.
func FuzzReplies(f *testing.F) {
	f.Add("\n{\"id\":1,\"pid\":7,\"type\":\"result\",\"result\":{\"text\":\"t\",\"json\":\"[1]\"}}\n")
	f.Add("{\"id\":1,\"pid\":7,\"type\":\"done\",\"error\":{\"name\":\"E\",\"traceback\":[\"a\"]}}\n")
	f.Fuzz(func(t *testing.T, stream string) {
		replies, err := readAll(stream)
		if err == nil {
			t.Fatal("no end")
		}
		for _, r := range replies {
			checkReply(t, r)
		}
	})
}

func checkReply(t *testing.T, r *reply) {
	t.Helper()
	var shown showcase
	shown.show(r, func(e wire.Event) {
		if _, err := wire.AppendEvent(nil, e); err != nil {
			t.Errorf("an event that cannot be sent: %v", err)
		}
	})
	exit := wire.Exit{Status: wire.StatusExited, Error: boundedError(r.Error)}
	if _, err := wire.AppendEvent(nil, wire.Event{Type: wire.EventComplete, Exit: &exit}); err != nil {
		t.Errorf("an end that cannot be sent: %v", err)
	}
}
