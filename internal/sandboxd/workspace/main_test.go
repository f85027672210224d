package workspace

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandgate/sandboxclient/wire"
)

// open opens a new workspace; inside is its directory as the host sees it.
func open(t testing.TB) (w *Workspace, inside string) {
	t.Helper()
	inside = filepath.Join(t.TempDir(), "workspace")
	if err := os.Mkdir(inside, 0o755); err != nil {
		t.Fatal(err)
	}
	return openAt(t, inside), inside
}

func openAt(t testing.TB, dir string) *Workspace {
	t.Helper()
	w, err := Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func put(t testing.TB, w *Workspace, name, content string) wire.FileInfo {
	t.Helper()
	info, err := w.Write(t.Context(), name, strings.NewReader(content), Conditions{})
	if err != nil {
		t.Fatalf("write %q: %v", name, err)
	}
	return info
}

func get(t testing.TB, w *Workspace, name string) string {
	t.Helper()
	f, err := w.Open(name)
	if err != nil {
		t.Fatalf("open %q: %v", name, err)
	}
	defer f.Close()
	content, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// must is for the preparations of a test.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t testing.TB, err error, code string) {
	t.Helper()
	e, ok := errors.AsType[*wire.Error](err)
	if !ok || e.Code != code {
		t.Errorf("got error %v, want %s", err, code)
	}
}

// wantNames compares all that lies in a directory, hidden or not.
func wantNames(t testing.TB, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%s holds %q, want %q", filepath.Base(dir), got, want)
	}
}
