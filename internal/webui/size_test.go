package webui

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"sandgate/internal/webui/bundle"
)

// mostFirst is what a browser may have to load before the first page is there,
// editor included, in bytes as gzip makes them.
const mostFirst = 250_000

func TestPages_firstLoadIsSmall(t *testing.T) {
	dist := os.DirFS("dist")
	b, err := bundle.Read(dist)
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("CI") != "true" {
		t.Skip("the pages were not built; make build builds them")
	}
	if err != nil {
		t.Fatal(err)
	}
	files, err := b.Files(bundle.Frame, bundle.Page(bundle.First), bundle.Editor)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, name := range append(files, "index.html") {
		total += len(asServed(t, dist, name))
	}
	t.Logf("%d bytes in %d files", total, len(files)+1)
	if total > mostFirst {
		t.Errorf("the first load has %d bytes, more than %d: %v", total, mostFirst, files)
	}
}

// asServed reads the compressed form of a file, if it has one.
func asServed(t *testing.T, dist fs.FS, name string) []byte {
	t.Helper()
	data, err := fs.ReadFile(dist, name+".gz")
	if errors.Is(err, fs.ErrNotExist) {
		data, err = fs.ReadFile(dist, name)
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}
