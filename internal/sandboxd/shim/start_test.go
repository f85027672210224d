package shim

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestStart_givesTheProgramNothingButWhatItShouldHave(t *testing.T) {
	p := start(t, newPool(t), Command{
		Argv: []string{"bash", "-c", `
			pwd; env | grep -Ev "^(_|SHLVL)=" | LC_ALL=C sort; id -u; id -g; id -G
			grep -E '^(CapInh|CapPrm|CapEff|CapAmb|NoNewPrivs|SigBlk|SigIgn):' /proc/self/status
			ulimit -c
			for fd in {0..300}; do [ -e /proc/$$/fd/$fd ] && echo "fd $fd"; done
			awk -v p=$$ '{print "leads:", $5==p && $6==p}' /proc/$$/stat`},
		Dir: "/usr/bin",
		Env: []string{"PATH=/usr/bin", "A=b c"},
	})
	want := `/usr/bin
A=b c
PATH=/usr/bin
PWD=/usr/bin
20000
20000
20000
SigBlk:	0000000000000000
SigIgn:	` + ignored(t) + `
CapInh:	0000000000000000
CapPrm:	0000000000000000
CapEff:	0000000000000000
CapAmb:	0000000000000000
NoNewPrivs:	1
0
fd 0
fd 1
fd 2
leads: 1
`
	if got := p.output(t); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !p.Status().Exited() || p.Status().ExitStatus() != 0 {
		t.Errorf("status %#x", p.Status())
	}
}

func TestStart_passesDescriptorsBlockingAndInOrder(t *testing.T) {
	r, w := pipe(t)
	in, _ := pipe(t)
	tree, err := newPool(t).Start(t.Context(), Command{
		Argv:  []string{"/bin/bash", "-c", "echo three >&3; echo one"},
		Dir:   "/",
		Files: []*os.File{in, w, w, w},
	})
	if err != nil {
		t.Fatal(err)
	}
	flags, err := unix.FcntlInt(w.Fd(), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_NONBLOCK != 0 {
		t.Errorf("flags %#o, %v: programs do not expect EAGAIN", flags, err)
	}
	w.Close()
	program{Tree: tree}.await(t)
	got, err := io.ReadAll(r)
	if err != nil || string(got) != "three\none\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestStart_errors(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} { // both private to us
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := write("plain", "x", 0o644)
	garbage := write("garbage", "\x00\x01\x02", 0o755)
	private := filepath.Join(dir, "private")
	if err := os.Mkdir(private, 0o700); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		cmd  Command
		want syscall.Errno
	}{
		{"no argv", Command{Dir: "/"}, syscall.ENOENT},
		{"not on the path", Command{Argv: []string{"no-such-program"}, Dir: "/", Env: []string{"PATH=/usr/bin"}}, syscall.ENOENT},
		{"no path", Command{Argv: []string{"true"}, Dir: "/"}, syscall.ENOENT},
		{"no such file", Command{Argv: []string{"/no/such"}, Dir: "/"}, syscall.ENOENT},
		{"no such directory", Command{Argv: []string{"/bin/true"}, Dir: "/no/such"}, syscall.ENOENT},
		{"directory is a file", Command{Argv: []string{"/bin/true"}, Dir: plain}, syscall.ENOTDIR},
		{"directory is private", Command{Argv: []string{"/bin/true"}, Dir: private}, syscall.EACCES},
		{"not executable", Command{Argv: []string{plain}, Dir: "/"}, syscall.EACCES},
		{"not a program", Command{Argv: []string{garbage}, Dir: "/"}, syscall.ENOEXEC},
		{"a directory", Command{Argv: []string{dir}, Dir: "/"}, syscall.EACCES},
	}
	p := newPool(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := p.Start(t.Context(), tt.cmd)
			e, ok := errors.AsType[*StartError](err)
			if !ok || e.Errno != tt.want {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
		})
	}
	if got := shell(t, p, "echo fine").output(t); got != "fine\n" {
		t.Errorf("after the errors: %q", got)
	}
}

func TestStart_findsRelativePrograms(t *testing.T) {
	p := newPool(t)
	for _, argv0 := range []string{"./true", "true"} {
		prog := start(t, p, Command{Argv: []string{argv0}, Dir: "/usr/bin", Env: []string{"PATH=/nowhere:."}})
		prog.await(t)
		if s := prog.Status(); !s.Exited() || s.ExitStatus() != 0 {
			t.Errorf("%s: status %#x", argv0, s)
		}
	}
}

// ignored tells the signals that this process was told to ignore, which nothing
// of ours changes; a sandbox begins with none.
func ignored(t *testing.T) string {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "SigIgn:\t")
	mask, _, _ := strings.Cut(rest, "\n")
	return mask
}
