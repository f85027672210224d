package objects

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// What is sent to a server that takes nothing of it ends.
func TestPatiently(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // nobody accepts: the kernel alone answers
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	transport := &http.Transport{DialContext: patiently((&net.Dialer{}).DialContext, 50*time.Millisecond)}
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // catches a hang
	defer cancel()
	endless := io.MultiReader(strings.NewReader("begins"), zeroes{})
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://"+l.Addr().String()+"/key", endless)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: transport}).Do(r)
	if err == nil {
		_ = resp.Body.Close()
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) || ctx.Err() != nil {
		t.Errorf("got %v", err)
	}
}

type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) { clear(p); return len(p), nil }
