package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const (
	module = "sandgate"
	root   = "../.."
)

// goPackage is what go list says of a package; test files count in the last
// two fields only.
type goPackage struct {
	ImportPath string
	Name       string
	Dir        string
	Standard   bool
	GoFiles    []string
	Imports    []string // what its files name
	Deps       []string // what is linked with it, however far away

	TestGoFiles  []string
	XTestGoFiles []string
}

// packages are all packages of this module, all that they depend on, and the
// standard library.
var packages []goPackage

func TestMain(m *testing.M) {
	var err error
	if packages, err = list(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func list() ([]goPackage, error) {
	out, err := goCommand("list", "-deps",
		"-json=ImportPath,Name,Dir,Standard,GoFiles,Imports,Deps,TestGoFiles,XTestGoFiles",
		"./...", "std")
	if err != nil {
		return nil, err
	}

	var listed []goPackage
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return listed, nil
		} else if err != nil {
			return nil, fmt.Errorf("output of go list: %w", err)
		}
		listed = append(listed, p)
	}
}

// our gives the packages of this module that a pattern means; there has to be one.
func our(t *testing.T, pattern string) []goPackage {
	t.Helper()
	var found []goPackage
	for _, p := range packages {
		if matches(module+"/...", p.ImportPath) && matches(pattern, p.ImportPath) {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		t.Errorf("no package is %s", pattern)
	}
	return found
}

// goCommand runs go in the root of the module.
func goCommand(args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return out, nil
}

// matches reports whether an import path is meant by a pattern, where "x/..."
// means x and everything below it.
func matches(pattern, importPath string) bool {
	base, tree := strings.CutSuffix(pattern, "/...")
	return importPath == base || tree && strings.HasPrefix(importPath, base+"/")
}

func matchesAny(patterns []string, importPath string) bool {
	for _, pattern := range patterns {
		if matches(pattern, importPath) {
			return true
		}
	}
	return false
}
