package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// script makes an executable file.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestNew_saysWhatToDo(t *testing.T) {
	needRoot(t)
	runsc := script(t, "echo runsc version 1")
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	good := Config{StateDir: newDir(t), Runtime: runsc, Sandboxd: runsc}
	for name, c := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"relative state":     {func(c *Config) { c.StateDir = "state" }, "must be an absolute path"},
		"long state":         {func(c *Config) { c.StateDir = "/" + strings.Repeat("x", 90) }, "bytes too long"},
		"no runtime":         {func(c *Config) { c.Runtime = "/nonexistent" }, "no runtime binary"},
		"runtime of no use":  {func(c *Config) { c.Runtime = plain }, "not an executable file"},
		"a directory":        {func(c *Config) { c.Runtime = "/usr" }, "not an executable file"},
		"another program":    {func(c *Config) { c.Runtime = script(t, "echo crun version 1") }, "neither runsc nor runc"},
		"a broken program":   {func(c *Config) { c.Runtime = script(t, "exit 1") }, "--version"},
		"no sandboxd":        {func(c *Config) { c.Sandboxd = "/nonexistent" }, "no sandboxd binary"},
		"an empty rootfs":    {func(c *Config) { c.Rootfs = t.TempDir() }, "holds no usr directory"},
		"a rootfs elsewhere": {func(c *Config) { c.Rootfs = "/nonexistent" }, "holds no usr directory"},
	} {
		cfg := good
		c.change(&cfg)
		d, err := New(t.Context(), cfg)
		if err == nil {
			_ = d.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", name, err, c.want)
		}
	}
}

func TestLongestSocket_isWhatTheKernelTakes(t *testing.T) {
	state := "/" + strings.Repeat("x", maxSocketPath-longestSocket("/x")+1)
	if got := longestSocket(state); got != maxSocketPath {
		t.Errorf("longest socket below a state directory of %d bytes has %d, want %d", len(state), got, maxSocketPath)
	}
}

func TestCheckMergedUsr(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := checkMergedUsr(root); err == nil || !strings.Contains(err.Error(), "rootfs") {
		t.Errorf("a /bin of its own: %v", err)
	}
}

func TestDetectKind(t *testing.T) {
	for text, want := range map[string]kind{"runsc version release-1": kindRunsc, "runc version 1.5.3": kindRunc} {
		if got, err := detectKind(t.Context(), script(t, "echo "+text)); got != want || err != nil {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}
