package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
)

// What cannot be encoded is a failure of ours with an answer of its own, and
// not half an answer that says 200.
func TestJSON_whatCannotBeEncoded(t *testing.T) {
	d := newDesk()
	d.Handle("GET", "/x", "", func(c echo.Context) error {
		return JSON(c, http.StatusOK, []any{strings.Repeat("x", 1<<20), make(chan int)})
	})
	resp := d.serve(t, "GET", "/x", "")
	if body := bodyOf(t, resp); resp.StatusCode != 500 || !strings.HasPrefix(body, "Something went wrong on our side") {
		t.Errorf("%d %.80q", resp.StatusCode, body)
	}
}

// A short answer can be had before its handler returns.
func TestFlush(t *testing.T) {
	d := newDesk()
	read := make(chan struct{})
	d.Handle("GET", "/x", "", func(c echo.Context) error {
		if err := JSON(c, http.StatusOK, "<short>"); err != nil {
			return err
		}
		if err := Flush(c); err != nil {
			return err
		}
		select {
		case <-read:
		case <-time.After(20 * time.Second):
			t.Error("the client has no answer yet")
		}
		return nil
	})
	server := httptest.NewServer(d)
	defer server.Close()
	resp, err := http.Get(server.URL + "/x")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got := bodyOf(t, resp); got != "\"<short>\"\n" {
		t.Errorf("%q", got)
	}
	close(read)
}
