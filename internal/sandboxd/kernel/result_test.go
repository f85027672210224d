package kernel

import (
	"slices"
	"strings"
	"testing"

	"sandgate/sandboxclient/wire"
)

// showAll shows results and gives what was emitted: texts, and codes of warnings.
func showAll(s *showcase, replies ...*reply) (texts, codes []string) {
	for _, r := range replies {
		s.show(r, func(e wire.Event) {
			if e.Result != nil {
				texts = append(texts, e.Result.Text)
			} else {
				codes = append(codes, e.Code)
			}
		})
	}
	return texts, codes
}

func result(f fields, dropped ...string) *reply { return &reply{Result: f, Dropped: dropped} }

func TestShowcase_count(t *testing.T) {
	var s showcase
	replies := slices.Repeat([]*reply{result(fields{Text: "t"})}, maxResults+10)
	texts, codes := showAll(&s, replies...)
	if len(texts) != maxResults || !slices.Equal(codes, []string{codeTooManyResults}) {
		t.Errorf("%d results, warnings %q", len(texts), codes)
	}
}

func TestShowcase_bytes(t *testing.T) {
	var s showcase
	half := result(fields{Text: "t", HTML: strings.Repeat("h", maxResultBytes/2)})
	texts, codes := showAll(&s, half, half, half)
	if len(texts) != 3 || !slices.Equal(codes, []string{codeResultTooLarge, codeResultTooLarge}) {
		t.Errorf("%d results, warnings %q", len(texts), codes)
	}
	texts, codes = showAll(&s, slices.Repeat([]*reply{result(fields{Text: strings.Repeat("t", maxText)})}, 10)...)
	if len(texts) == 10 || !slices.Equal(codes, []string{codeTooManyResults}) {
		t.Errorf("%d results, warnings %q", len(texts), codes)
	}
}

func TestShowcase_dropped(t *testing.T) {
	var s showcase
	warnings := 0
	s.show(result(fields{Text: "t"}, "png", "png", "nonsense"), func(e wire.Event) {
		if e.Type == wire.EventWarning && strings.HasSuffix(e.Message, "of its png") {
			warnings++
		}
	})
	if warnings != 1 {
		t.Errorf("%d warnings", warnings)
	}
}

func TestBounded(t *testing.T) {
	const room = maxResultBytes
	long := strings.Repeat("☕", maxText)
	got, cut := fields{Text: long, SVG: "s"}.bounded(room)
	if len(got.Text) != maxText/3*3 || got.SVG != "s" || !slices.Equal(cut, []string{"text"}) {
		t.Errorf("a long text becomes %d bytes, cut %q", len(got.Text), cut)
	}
	got, cut = fields{Text: "t", HTML: strings.Repeat("<", 5<<20)}.bounded(room)
	if got.HTML != "" || len(cut) != 1 {
		t.Errorf("what grows beyond an event is kept: %d bytes, cut %q", len(got.HTML), cut)
	}
	got, cut = fields{Text: "t", HTML: strings.Repeat("h", 5<<20)}.bounded(room)
	if len(got.HTML) != 5<<20 || cut != nil {
		t.Errorf("what fits is cut: %d bytes, cut %q", len(got.HTML), cut)
	}
	for raw, kept := range map[string]bool{
		`[1,{"a":"["}]`: true,
		`"\"["`:         true,
		`[1`:            false,
		`NaN`:           false,
		`1 2`:           false,
		strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth):     true,
		strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1): false,
	} {
		if got, _ := (fields{JSON: raw}).bounded(room); (got.JSON != nil) != kept {
			t.Errorf("JSON %.20s kept: %v", raw, got.JSON != nil)
		}
	}
}

func TestBoundedError(t *testing.T) {
	if boundedError(nil) != nil {
		t.Error("an error comes from nothing")
	}
	got := boundedError(&wire.CodeError{
		Name: strings.Repeat("n", 1<<20), Message: strings.Repeat("m", 1<<20),
		Traceback: slices.Repeat([]string{strings.Repeat("x", 1000)}, 10000), LineNumber: -1,
	})
	total := len(strings.Join(got.Traceback, "\n"))
	if len(got.Name) != maxErrorName || len(got.Message) != maxErrorMessage || total > maxTraceback || got.LineNumber != 0 {
		t.Errorf("name %d, message %d, traceback %d, line %d", len(got.Name), len(got.Message), total, got.LineNumber)
	}
	if got := boundedError(&wire.CodeError{}); got.Traceback == nil {
		t.Error("a traceback is null")
	}
}

func TestBacklog(t *testing.T) {
	var b backlog
	b.add(wire.EventStdout, []byte("one"))
	b.add(wire.EventStderr, []byte("two"))
	events := b.take()
	if output(events, true) != "onetwo" || events[1].Type != wire.EventStderr || len(b.take()) != 0 {
		t.Errorf("events are %+v", events)
	}
	b.add(wire.EventStdout, []byte("oldest"))
	b.add(wire.EventStdout, []byte(strings.Repeat("x", maxBacklog-3)))
	events = b.take()
	if got := output(events, true); len(got) != maxBacklog || !strings.HasPrefix(got, "estx") {
		t.Errorf("kept are %d bytes from %.8q", len(got), got)
	}
	if events[0].Type != wire.EventWarning || events[0].Code != codeOutputDropped {
		t.Errorf("the first event is %+v", events[0])
	}
}
