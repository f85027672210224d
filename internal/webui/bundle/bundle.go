// Package bundle tells which files of the pages a browser loads, and when, from
// the manifest that their build leaves beside them. It serves the test that
// keeps the first load small, and the benchmark.
package bundle

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// Modules by which parts of the pages are known.
const (
	Frame  = "index.html"               // what every page needs
	Editor = "src/editor/codemirror.ts" // loaded when the first editor is shown
	First  = "run"                      // the page that a visitor meets first
)

const (
	manifest  = "manifest.json"
	pagesFrom = "src/pages/"
	pagesTo   = "/page.tsx"
)

// Page gives the module of a page.
func Page(name string) string { return pagesFrom + name + pagesTo }

// A Bundle is the pages as they were built.
type Bundle struct{ chunks map[string]chunk }

// A chunk is a file of script and what goes with it.
type chunk struct {
	File    string   `json:"file"`
	CSS     []string `json:"css"`
	Assets  []string `json:"assets"`
	Imports []string `json:"imports"`
	Dynamic []string `json:"dynamicImports"`
}

// Read reads what was built into a folder. When nothing was, the error is
// fs.ErrNotExist.
func Read(dist fs.FS) (*Bundle, error) {
	data, err := fs.ReadFile(dist, manifest)
	if err != nil {
		return nil, err
	}
	b := &Bundle{}
	if err := json.Unmarshal(data, &b.chunks); err != nil {
		return nil, fmt.Errorf("%s: %w", manifest, err)
	}
	return b, nil
}

// Pages names the pages, in the order of their names.
func (b *Bundle) Pages() []string {
	var names []string
	for module := range b.chunks {
		rest, ok := strings.CutPrefix(module, pagesFrom)
		if name, isPage := strings.CutSuffix(rest, pagesTo); ok && isPage {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Files gives what a browser loads at once for some modules: their scripts,
// what those import, and the styles and pictures that go with them.
func (b *Bundle) Files(modules ...string) ([]string, error) {
	chunks, err := b.reach(modules)
	if err != nil {
		return nil, err
	}
	files := map[string]bool{}
	for _, c := range chunks {
		for _, file := range slices.Concat([]string{c.File}, c.CSS, c.Assets) {
			files[file] = true
		}
	}
	return slices.Sorted(maps.Keys(files)), nil
}

// Lazy gives the modules that some modules load only when they need them.
func (b *Bundle) Lazy(modules ...string) ([]string, error) {
	chunks, err := b.reach(modules)
	if err != nil {
		return nil, err
	}
	later := map[string]bool{}
	for _, c := range chunks {
		for _, module := range c.Dynamic {
			later[module] = true
		}
	}
	return slices.Sorted(maps.Keys(later)), nil
}

// reach gives the chunks of modules, and all that they import.
func (b *Bundle) reach(modules []string) (map[string]chunk, error) {
	reached := map[string]chunk{}
	for next := slices.Clone(modules); len(next) > 0; next = next[1:] {
		module := next[0]
		if _, seen := reached[module]; seen {
			continue
		}
		c, ok := b.chunks[module]
		if !ok {
			return nil, fmt.Errorf("the pages have no module %s", module)
		}
		reached[module] = c
		next = append(next, c.Imports...)
	}
	return reached, nil
}
