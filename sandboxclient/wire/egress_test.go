package wire

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestHello_egress(t *testing.T) {
	var b bytes.Buffer
	want := Hello{Version: Version, Token: "secret", Role: RoleEgress, Target: "[2001:db8::1]:443"}
	if err := WriteHello(&b, want); err != nil {
		t.Fatal(err)
	}
	b.WriteString("\x16\x03")
	got, err := ReadHello(&b)
	if err != nil || got != want {
		t.Errorf("ReadHello = %+v, %v", got, err)
	}
	if b.String() != "\x16\x03" {
		t.Errorf("read beyond the line: %q is left", b.String())
	}
}

func TestWriteHello_writesNothingThatReadsAsAnother(t *testing.T) {
	for _, target := range []string{"a:1 b:2", "a:1\nSANDGATE", strings.Repeat("x", maxHello)} {
		var b bytes.Buffer
		if err := WriteHello(&b, Hello{Version, "t", RoleEgress, target}); err == nil || b.Len() > 0 {
			t.Errorf("WriteHello(%.40q) = %v and wrote %q", target, err, b.String())
		}
	}
}

func TestEgressReply_roundTrip(t *testing.T) {
	long := strings.Repeat("é", maxEgressReply)
	for _, c := range []struct{ give, want *Error }{
		{nil, nil},
		{&Error{CodeForbidden, "no way: see the docs"}, &Error{CodeForbidden, "no way: see the docs"}},
		{&Error{CodeExhausted, "two\nlines"}, &Error{CodeExhausted, "two lines"}},
		{&Error{CodeUnavailable, long}, &Error{CodeUnavailable, long[:1010]}},
	} {
		var b bytes.Buffer
		if err := WriteEgressReply(&b, c.give); err != nil {
			t.Fatal(err)
		}
		b.WriteString("rest")
		err := ReadEgressReply(&b)
		got, _ := errors.AsType[*Error](err)
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want || got == nil && err != nil {
			t.Errorf("%.40v came back as %.40v", c.give, err)
		}
		if b.String() != "rest" {
			t.Errorf("read beyond the line: %q is left", b.String())
		}
	}
}

func TestEgressReply_refusals(t *testing.T) {
	for _, line := range []string{
		"", "\n", "connected", "connected \n", "forbidden\n", "forbidden \n", "internal oh\n", strings.Repeat("x", 1<<20),
	} {
		err := ReadEgressReply(strings.NewReader(line))
		if _, refused := errors.AsType[*Error](err); err == nil || refused {
			t.Errorf("ReadEgressReply(%.40q) = %v", line, err)
		}
	}
}

func FuzzReadEgressReply(f *testing.F) {
	f.Add([]byte("connected\n"))
	f.Add([]byte("forbidden no\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, refused := errors.AsType[*Error](ReadEgressReply(bytes.NewReader(data)))
		if refused && (strings.ContainsAny(e.Message, "\n\x00") || len(e.Message) > 2*maxEgressReply) {
			t.Errorf("%q", e.Message)
		}
	})
}
