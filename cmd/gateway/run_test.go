package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// do runs the program with arguments.
func do(t *testing.T, args ...string) (exit int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	exit = run(t.Context(), args, &out, &errs)
	return exit, out.String(), errs.String()
}

func TestRun_exits(t *testing.T) {
	for name, tc := range map[string]struct {
		args           []string
		exit           int
		stdout, stderr string // parts of them
	}{
		"version":         {[]string{"version"}, exitOK, "sandgate dev go1.", ""},
		"help":            {[]string{"--help"}, exitOK, "SANDGATE_STATE_DIR", ""},
		"help of another": {[]string{"help", "doctor"}, exitOK, "can run sandboxes", ""},
		"config":          {[]string{"config", "--memory=2GiB"}, exitOK, "memory: 2GiB                             # from the command line\n", ""},
		"no such command": {[]string{"serv"}, exitUsage, "", `there is no command "serv"`},
		"no such flag":    {[]string{"--lisen", "x"}, exitUsage, "", "unknown flag: --lisen"},
		"flag and words":  {[]string{"config", "x"}, exitUsage, "", `takes no "x"`},
		"problems":        {[]string{"config", "--cpus=0", "--log-level=x"}, exitUsage, "", "log-level"},
		"no such file":    {[]string{"--config", "/nonexistent.yaml"}, exitUsage, "", "/nonexistent.yaml"},
	} {
		exit, stdout, stderr := do(t, tc.args...)
		if exit != tc.exit || !strings.Contains(stdout, tc.stdout) || !strings.Contains(stderr, tc.stderr) {
			t.Errorf("%s: exit %d\n%s\n%s", name, exit, stdout, stderr)
		}
		if tc.exit != exitOK && stdout != "" {
			t.Errorf("%s: prints an error as an answer: %s", name, stdout)
		}
	}
}

// Every setting says what it is, and whatever it takes.
func TestHelp_isComplete(t *testing.T) {
	_, help, _ := do(t, "--help")
	c := defaults()
	for _, g := range settings(&c) {
		g.VisitAll(func(f *pflag.Flag) {
			kind, usage := pflag.UnquoteUsage(f)
			if usage == "" || !strings.Contains(help, "--"+f.Name) || f.Value.Type() != "bool" && strings.ToUpper(kind) != kind {
				t.Errorf("--%s %s: %s", f.Name, kind, usage)
			}
		})
	}
	for line := range strings.Lines(help) {
		if len(line) > usageWidth+1 {
			t.Errorf("a line of %d bytes: %s", len(line), line)
		}
	}
}

// A gateway that cannot start says why and what to do, and leaves nothing held.
func TestServe_cannotStart(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gets so far")
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	state := filepath.Join(t.TempDir(), "state")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("no database, certainly not one"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"port":      {[]string{"--listen", taken.Addr().String()}, "is taken by another program: stop it, or choose another address with --listen"},
		"admin":     {[]string{"--admin-listen", taken.Addr().String()}, "choose another address with --admin-listen"},
		"elsewhere": {[]string{"--listen", "192.0.2.1:1", "--allow-unauthenticated"}, "is no address of this machine"},
		"state":     {[]string{"--state-dir", file}, "state directory: mkdir"},
		"database":  {[]string{"--database", file}, "the file is damaged or no database"},
		"runtime":   {[]string{"--runtime", "norunsc"}, "there is no norunsc beside this program or on PATH"},
		"path":      {[]string{"--runtime", file}, "is no program: correct --runtime"},
	} {
		args := append([]string{"--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--state-dir", state}, tc.args...)
		exit, stdout, stderr := do(t, args...)
		if exit != exitFailure || stdout != "" || !strings.Contains(stderr, tc.want) {
			t.Errorf("%s: exit %d\n%s\n%s", name, exit, stdout, stderr)
		}
	}
	held, err := openState(state)
	if err != nil {
		t.Fatalf("the state directory is still held: %v", err)
	}
	_ = held.Close()
}
