package sandboxclient

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A syncingEngine notes whose workspaces it was told to flush.
type syncingEngine struct {
	*archivingEngine
	synced []ID
	fails  error
}

func (e *syncingEngine) Sync(_ context.Context, id ID) error {
	e.synced = append(e.synced, id)
	return e.fails
}

// What is restored is on the disk before it is answered for; what is not, is not flushed.
func TestRestore_lasts(t *testing.T) {
	answer := `{"files":1}`
	e := &syncingEngine{archivingEngine: &archivingEngine{newEngine(), func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if answer == "" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		_, _ = io.WriteString(w, answer)
	}}}
	c := New(Options{Driver: e, Records: newMemory(), Key: []byte("key")})
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	s := c.Sandbox(Ref{Owner: "ada", App: "files", Name: "files"})
	restore := func() error {
		_, err := s.Restore(t.Context(), "", strings.NewReader("archive"), RestoreOptions{})
		return err
	}
	if err := restore(); err != nil || len(e.synced) != 1 || e.synced[0] != s.id {
		t.Errorf("%v, flushed %v", err, e.synced)
	}
	for failure, code := range map[error]Code{syscall.ENOSPC: CodeNoSpace, errors.New("broken"): CodeInternal} {
		if e.fails = failure; CodeOf(restore()) != code {
			t.Errorf("%v: want %s", failure, code)
		}
	}
	e.synced, answer = nil, ""
	if err := restore(); err == nil || len(e.synced) != 0 {
		t.Errorf("%v, flushed %v", err, e.synced)
	}
}

// While a long restore writes, what it has written goes to the disk already.
func TestRestore_flushesMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &syncingEngine{archivingEngine: &archivingEngine{newEngine(), func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			time.Sleep(flushPause * 7 / 2)
			_, _ = io.WriteString(w, `{"files":1}`)
		}}}
		c := New(Options{Driver: e, Records: newMemory(), Key: []byte("key")})
		defer func() { _ = c.Close(context.Background()) }()
		s := c.Sandbox(Ref{Owner: "ada", App: "files", Name: "files"})
		if _, err := s.Restore(t.Context(), "", strings.NewReader("archive"), RestoreOptions{}); err != nil || len(e.synced) != 3+1 {
			t.Errorf("%v, flushed %d times", err, len(e.synced))
		}
	})
}
