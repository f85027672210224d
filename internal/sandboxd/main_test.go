package sandboxd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"sandgate/internal/sandboxd/awake"
	"sandgate/internal/sandboxd/codecontext"
	"sandgate/internal/sandboxd/execution"
	"sandgate/internal/sandboxd/reaper"
	"sandgate/internal/sandboxd/shim"
	"sandgate/internal/sandboxd/workspace"
	"sandgate/sandboxclient/wire"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "shim" {
		os.Exit(shim.Main())
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	go reaper.Run(ctx)
	code := m.Run()
	stop()
	os.Exit(code)
}

// A daemon is a server with real programs and files, and an interpreter that
// answers with its code. Its log must not know what users do.
type daemon struct {
	*testing.T
	*server
	url    string
	inside string // the workspace
	log    lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func start(t *testing.T) *daemon {
	t.Helper()
	d := &daemon{T: t, inside: filepath.Join(t.TempDir(), "workspace")}
	for _, dir := range []string{d.inside, filepath.Dir(d.inside), filepath.Dir(filepath.Dir(d.inside))} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(d.inside, shim.SandboxUID, shim.SandboxGID); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(&d.log, nil))
	files, err := workspace.Open(d.inside, log)
	if err != nil {
		t.Fatal(err)
	}
	pool := shim.NewPool("/proc/self/exe", "sandboxd-test", "shim")
	d.server = newServer(log, files, execution.NewRegistry(execution.Options{Dir: d.inside}), pool, pool, codecontext.NewSet(echoInterpreter, new(awake.Clock)))
	h := httptest.NewServer(d.routes())
	d.url = h.URL
	t.Cleanup(func() {
		d.end()
		h.Close()
		files.Close()
	})
	return d
}

// An echo is an interpreter that prints its code, or waits for its end.
type echo struct{ done chan struct{} }

func echoInterpreter(context.Context, codecontext.Spec) (codecontext.Started, error) {
	return codecontext.Started{Interpreter: echo{make(chan struct{})}, Engine: "echo"}, nil
}

func (e echo) Run(ctx context.Context, c codecontext.Cell, emit func(wire.Event)) wire.Exit {
	emit(wire.Event{Type: wire.EventStdout, Data: []byte(c.Code)})
	if c.Code != "wait" {
		return wire.Exit{Status: wire.StatusExited}
	}
	<-ctx.Done()
	status, _ := execution.Cause(ctx)
	return wire.Exit{Status: status, ExitCode: 1}
}

func (e echo) Done() <-chan struct{} { return e.done }
func (e echo) Died() string          { return "" }
func (e echo) Close()                {}

// An answer is a response that has been read.
type answer struct {
	status int
	header http.Header
	body   string
}

func (d *daemon) do(method, path string, body io.Reader, headers ...string) answer {
	d.Helper()
	r, err := http.NewRequestWithContext(d.Context(), method, d.url+path, body)
	if err != nil {
		d.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		d.Fatal(err)
	}
	defer res.Body.Close()
	content, err := io.ReadAll(res.Body)
	if err != nil {
		d.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(content)}
}

func (d *daemon) post(path string, v any) answer {
	d.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		d.Fatal(err)
	}
	return d.do("POST", path, bytes.NewReader(body))
}

func (d *daemon) decode(a answer, v any) {
	d.Helper()
	if a.status != http.StatusOK {
		d.Fatalf("status %d: %s", a.status, a.body)
	}
	if err := json.Unmarshal([]byte(a.body), v); err != nil {
		d.Fatal(err)
	}
}

func (d *daemon) wantError(a answer, status int, code string) {
	d.Helper()
	var e wire.Error
	if err := json.Unmarshal([]byte(a.body), &e); err != nil {
		d.Errorf("no error: %d %s", a.status, a.body)
	}
	if a.status != status || e.Code != code || e.Message == "" {
		d.Errorf("got %d %s, want %d %s", a.status, a.body, status, code)
	}
}

// events decodes a whole stream.
func (d *daemon) events(a answer, after int64) []wire.Event {
	d.Helper()
	if a.status != http.StatusOK || a.header.Get("Content-Type") != wire.ContentTypeEvents {
		d.Fatalf("status %d, type %q: %s", a.status, a.header.Get("Content-Type"), a.body)
	}
	var events []wire.Event
	decoder := wire.NewEventReader(strings.NewReader(a.body), after)
	for {
		e, err := decoder.Next()
		if errors.Is(err, io.EOF) {
			return events
		}
		if err != nil {
			d.Fatalf("%v in %q", err, a.body)
		}
		events = append(events, e)
	}
}

func output(events []wire.Event) string {
	var b strings.Builder
	for _, e := range events {
		b.Write(e.Data)
	}
	return b.String()
}
