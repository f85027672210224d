package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A size that is taken means the same when it is printed and read again.
func FuzzSize(f *testing.F) {
	for _, seed := range []string{"", "0", "1", "512MiB", "2GB", "1.5 GiB", "10EB", "-1", "1e9", "9223372036854775807", "9223372036854775808", "0x10", "1,024", "１"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var s, again size
		if s.Set(text) != nil {
			return
		}
		if s < 0 {
			t.Errorf("%q became %d", text, s)
		}
		const exact = 1 << 53 // sizes are read as floating-point numbers
		if err := again.Set(s.String()); err != nil && s < math.MaxInt64/2 || s < exact && again != s {
			t.Errorf("%q became %d, printed %s, read again %d, %v", text, s, &s, again, err)
		}
	})
}

// A configuration that is taken is one that would be taken again, and one that is
// refused names the file, whatever the file holds.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		"", "listen: 127.0.0.1:1", "memory: 1GiB\ncpus: 0.5", "allowed-hosts: [a.org, b.org]", "a: [", "- a", "listen: 127.0.0.1:1\nlisten: 127.0.0.1:2",
		"memory: &a 1GiB\nkeep-output: *a", "a: &a [*a]", "? [1]\n: 2", "listen: !!binary aGk=", "sleep-after: 2001-01-01", "cpus: .nan", "cpus: .inf", "\x00", "\xef\xbb\xbflisten: x", "processes: 0o17",
		"memory:\n  memory: 1", "1: 2", "listen: |\n  a\n  b",
	} {
		f.Add(seed)
	}
	path := filepath.Join(f.TempDir(), "sandgate.yaml")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p := newProgram()
		p.path = path
		_, err := p.load(func() []string { return nil })
		if err != nil {
			if !strings.Contains(err.Error(), path) && !strings.HasPrefix(err.Error(), "the configuration has problems:") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if c := p.config; c.Memory <= 0 || c.Processes <= 0 || !(c.CPUs > 0 && c.CPUs <= maxCPUs) || c.MaxRequests <= 0 {
			t.Errorf("%q became %+v", text, c)
		}
	})
}
