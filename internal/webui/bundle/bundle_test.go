package bundle

import (
	"errors"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"
)

const sample = `{
	"index.html": {"file": "main.js", "css": ["main.css"], "assets": ["icon.svg"], "dynamicImports": ["src/pages/run/page.tsx"]},
	"src/pages/run/page.tsx": {"file": "run.js", "imports": ["_both.js", "index.html"]},
	"src/pages/about/page.tsx": {"file": "about.js", "imports": ["_both.js"]},
	"src/editor/codemirror.ts": {"file": "editor.js", "imports": ["_both.js"], "dynamicImports": ["python.js"]},
	"python.js": {"file": "python.js", "imports": ["src/editor/codemirror.ts"]},
	"_both.js": {"file": "both.js", "css": ["both.css"]}
}`

func read(t *testing.T) *Bundle {
	t.Helper()
	b, err := Read(fstest.MapFS{manifest: {Data: []byte(sample)}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRead_nothingBuilt(t *testing.T) {
	if _, err := Read(fstest.MapFS{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestBundle_files(t *testing.T) {
	b := read(t)
	got, err := b.Files(Frame, Page(First))
	want := []string{"both.css", "both.js", "icon.svg", "main.css", "main.js", "run.js"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if _, err := b.Files(Page("none")); err == nil {
		t.Error("a page that is not there has files")
	}
}

func TestBundle_pages(t *testing.T) {
	if got, want := read(t).Pages(), []string{"about", "run"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestBundle_lazy(t *testing.T) {
	got, err := read(t).Lazy(Editor)
	if want := []string{"python.js"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}
