package sandboxclient

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"sandgate/sandboxclient/wire"
)

// An archivingEngine's sandboxes answer for archives as they are told to.
type archivingEngine struct {
	*engine
	archive http.HandlerFunc
}

func (e *archivingEngine) Create(ctx context.Context, spec Spec) error {
	if err := e.engine.Create(ctx, spec); err != nil {
		return err
	}
	e.engine.mu.Lock()
	defer e.engine.mu.Unlock()
	b := e.boxes[spec.ID]
	mux := http.NewServeMux()
	mux.Handle("/", b.handler())
	mux.HandleFunc("/v1/archive", func(w http.ResponseWriter, r *http.Request) { e.archive(w, r) })
	b.server.Handler = mux // nobody has dialled yet
	return nil
}

func archivingSandbox(t *testing.T, archive http.HandlerFunc) *Sandbox {
	t.Helper()
	c := New(Options{Driver: &archivingEngine{newEngine(), archive}, Records: newMemory(), Key: []byte("key")})
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	s := c.Sandbox(Ref{Owner: "ada", App: "files", Name: "files"})
	if _, err := s.Archive(t.Context(), "dir", ArchiveOptions{}); CodeOf(err) != CodeNotFound {
		t.Errorf("one that does not exist: %v", err)
	}
	if err := s.Wake(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// ended answers with some bytes and an end.
func ended(end string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if end != "" {
			w.Header().Set("Trailer", wire.ArchiveTrailer)
		}
		_, _ = io.WriteString(w, "bytes")
		if end != "" {
			w.Header().Set(wire.ArchiveTrailer, end)
		}
	}
}

// Only an archive whose end says so is whole.
func TestArchive_mustEnd(t *testing.T) {
	for end, code := range map[string]Code{
		`{"info":{"files":3}}`: "",
		"":                     CodeBadGateway,
		"nonsense":             CodeBadGateway,
		`{"error":{"code":"too_large","message":"much"}}`:         CodeTooLarge,
		`{"error":{"code":"made up","message":"what"}}`:           CodeBadGateway,
		`{"info":{"files":3},"error":{"code":"internal"}}`:        CodeInternal,
		`{"info":{"files":"` + strings.Repeat("9", 20000) + `"}}`: CodeBadGateway,
	} {
		a, err := archivingSandbox(t, ended(end)).Archive(t.Context(), "dir", ArchiveOptions{})
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(a)
		if got := observed(err); got != code && !(code == CodeBadGateway && got == CodeUnavailable) {
			t.Errorf("%.60s: %v, want %s", end, err, code)
		}
		if code == "" && (string(content) != "bytes" || a.Info().Files != 3) {
			t.Errorf("%q, %+v", content, a.Info())
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestArchive_brokenOff(t *testing.T) {
	s := archivingSandbox(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 100_000))
		panic(http.ErrAbortHandler)
	})
	a, err := s.Archive(t.Context(), "dir", ArchiveOptions{})
	if err == nil {
		_, err = io.Copy(io.Discard, a)
		_ = a.Close()
	}
	if CodeOf(err) != CodeUnavailable {
		t.Errorf("%v", err)
	}
}

// What the body failed with is told, and not what that broke.
func TestRestore_tellsWhyTheBodyFailed(t *testing.T) {
	whole := make(chan bool, 1)
	s := archivingSandbox(t, func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		whole <- err == nil
		_ = json.NewEncoder(w).Encode(ArchiveInfo{Files: 2})
	})
	info, err := s.Restore(t.Context(), "dir", strings.NewReader("archive"), RestoreOptions{})
	if err != nil || info.Files != 2 || !<-whole {
		t.Errorf("%+v, %v", info, err)
	}
	damaged := Errorf(CodeBadGateway, "The backup is damaged")
	body := io.MultiReader(strings.NewReader("arch"), iotest.ErrReader(damaged))
	if _, err := s.Restore(t.Context(), "dir", body, RestoreOptions{}); CodeOf(err) != CodeBadGateway || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("%v", err)
	}
	if <-whole {
		t.Error("sandboxd took a broken body for a whole one")
	}
	if _, err := s.Restore(t.Context(), "../x", strings.NewReader(""), RestoreOptions{}); CodeOf(err) != CodeInvalid {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	endless := io.MultiReader(strings.NewReader("arch"), readerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil }))
	if _, err := s.Restore(ctx, "dir", endless, RestoreOptions{}); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("canceled: %v", err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
