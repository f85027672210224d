package archtest

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

const (
	sqliteModule = "modernc.org/sqlite"
	libcModule   = "modernc.org/libc"
)

// goMod is what go mod edit -json says of a go.mod.
type goMod struct {
	Require []struct{ Path, Version string }
	Replace []struct{ Old struct{ Path string } }
}

func (m goMod) version(path string) string {
	for _, required := range m.Require {
		if required.Path == path {
			return required.Version
		}
	}
	return ""
}

// SQLite is C translated to Go for one very version of libc: with another one
// it builds, and misbehaves.
func TestModules_sqliteHasItsOwnLibc(t *testing.T) {
	file := moduleField(t, "{{.GoMod}}", sqliteModule)
	want := readGoMod(t, file).version(libcModule)
	if want == "" {
		t.Fatalf("%s does not require %s any more", sqliteModule, libcModule)
	}
	if got := moduleField(t, "{{.Version}}", libcModule); got != want {
		t.Errorf("%s is at %s, but %s is made for %s", libcModule, got, sqliteModule, want)
	}
}

// A replaced module is not the one that its go.sum line vouches for, and not
// what those who import this module get.
func TestModules_replaceNothing(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "tools/*/go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Error("there is no module below tools/")
	}
	for _, file := range append(files, filepath.Join(root, "go.mod")) {
		for _, replace := range readGoMod(t, file).Replace {
			t.Errorf("%s replaces %s", file, replace.Old.Path)
		}
	}
}

func moduleField(t *testing.T, format, module string) string {
	t.Helper()
	out, err := goCommand("list", "-m", "-f", format, module)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func readGoMod(t *testing.T, file string) goMod {
	t.Helper()
	absolute, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	out, err := goCommand("mod", "edit", "-json", absolute)
	if err != nil {
		t.Fatal(err)
	}
	var mod goMod
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	return mod
}
