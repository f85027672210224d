package archtest

import (
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPackages_haveOneDocComment(t *testing.T) {
	for _, p := range our(t, module+"/...") {
		docs := docComments(t, p)
		if len(docs) != 1 {
			t.Errorf("%s has %d package comments, want 1", p.ImportPath, len(docs))
			continue
		}
		if start := "Package " + p.Name + " "; p.Name != "main" && !strings.HasPrefix(docs[0], start) {
			t.Errorf("the comment of %s does not start with %q", p.ImportPath, start)
		}
	}
}

// docComments gives the package comments of a package's files; test files
// count where there is nothing else.
func docComments(t *testing.T, p goPackage) []string {
	t.Helper()
	files := p.GoFiles
	if len(files) == 0 {
		files = slices.Concat(p.TestGoFiles, p.XTestGoFiles)
	}

	var docs []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil,
			parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if text := file.Doc.Text(); text != "" {
			docs = append(docs, text)
		}
	}
	return docs
}

func TestPackages_areNamedAfterAnIdea(t *testing.T) {
	drawers := []string{"util", "utils", "common", "helper", "helpers", "types", "manager", "service", "misc", "base"}
	standard := standardNames()
	for _, p := range our(t, module+"/...") {
		for _, name := range slices.Compact([]string{p.Name, path.Base(p.ImportPath)}) {
			if slices.Contains(drawers, name) {
				t.Errorf("%s is called %s, which says nothing of what is in it", p.ImportPath, name)
			}
			if like, taken := standard[name]; taken {
				t.Errorf("%s is called like %s of the standard library", p.ImportPath, like)
			}
		}
	}
}

// standardNames maps the names by which the standard library's packages are
// used to their import paths.
func standardNames() map[string]string {
	names := make(map[string]string)
	for _, p := range packages {
		hidden := slices.ContainsFunc(strings.Split(p.ImportPath, "/"), func(element string) bool {
			return element == "internal" || element == "vendor"
		})
		if p.Standard && !hidden {
			names[p.Name] = p.ImportPath
		}
	}
	return names
}
