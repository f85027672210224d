package egress

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestParseNPM(t *testing.T) {
	for output, want := range map[string]struct{ registry, ca string }{
		"registry=https://npm.example/\ncafile=/etc/ca.pem\n":           {"https://npm.example/", "/etc/ca.pem"},
		"registry=https://npm.example:8443/a/b/\ncafile=null\n":         {"https://npm.example:8443/a/b/", ""},
		"registry=http://127.0.0.1:4873/\ncafile=undefined\n":           {"http://127.0.0.1:4873/", ""},
		"registry=https://me:secret@npm.example/\r\ncafile=\r\n":        {"https://npm.example/", ""},
		"npm warn something\nregistry=https://npm.example\ncafile=null": {"https://npm.example", ""},
		"":                                    {},
		"registry=\ncafile=null":              {},
		"registry=undefined":                  {},
		"registry=ftp://npm.example/":         {},
		"registry=https://":                   {},
		"registry=https://npm.example/?a=b":   {},
		"registry=https://bücher.example/":    {},
		"registry=https://0x7f.1/":            {},
		"registry=https://npm.example:99999/": {},
	} {
		npm, err := parseNPM(output)
		if (err != nil) != (want.registry == "") {
			t.Errorf("%q: %v", output, err)
			continue
		}
		if err == nil && (npm.Registry.String() != want.registry || npm.CAFile != want.ca) {
			t.Errorf("%q: %v, %q", output, npm.Registry, npm.CAFile)
		}
	}
}

// fakeNPM puts a script before everything else on PATH.
func fakeNPM(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "npm"), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

func TestAskNPM(t *testing.T) {
	t.Setenv("npm_config_registry", "https://npm.example/")
	const fake = `test "$PWD" = / || exit 1
		case "$*" in
		"config get registry cafile") printf 'registry=%s\ncafile=null\n' "$npm_config_registry";;
		"config get registry") echo "${npm_config_registry:-https://DEFAULT/}";;
		esac`
	for known, want := range map[string]bool{"other.example": false, "npm.example": true} {
		fakeNPM(t, strings.ReplaceAll(fake, "DEFAULT", known))
		npm, err := AskNPM(t.Context())
		if err != nil || npm.Registry.Host != "npm.example" || npm.CAFile != "" || npm.Default != want {
			t.Errorf("%+v, %v", npm, err)
		}
	}
	fakeNPM(t, "exit 3")
	if _, err := AskNPM(t.Context()); err == nil || errors.Is(err, ErrNoNPM) {
		t.Errorf("npm failed: %v", err)
	}
	t.Setenv("PATH", "/nonexistent")
	if _, err := AskNPM(t.Context()); !errors.Is(err, ErrNoNPM) {
		t.Errorf("without npm: %v", err)
	}
}

func TestAskNPM_doesNotWaitForEver(t *testing.T) {
	fakeNPM(t, "sleep 600")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := AskNPM(ctx); err == nil {
		t.Error("npm said nothing and there is no error")
	}
	if took := time.Since(began); took > hang {
		t.Errorf("it took %v", took)
	}
}
