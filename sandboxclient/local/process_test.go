package local

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"sandgate/sandboxclient"
)

// sleeper starts a process that does nothing.
func sleeper(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

func mustIdentify(t *testing.T, pid int) process {
	t.Helper()
	p, err := identify(pid)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestRecord_survives(t *testing.T) {
	bundle := t.TempDir()
	pid := sleeper(t).Process.Pid
	if err := os.WriteFile(filepath.Join(bundle, pidName), []byte(strconv.Itoa(pid)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := recordProcess(bundle); err != nil {
		t.Fatal(err)
	}
	got, err := readRecord(bundle)
	if want := mustIdentify(t, pid); err != nil || got != want {
		t.Errorf("record: %v, %v, want %v", got, err, want)
	}
}

func TestReadRecord_malformed(t *testing.T) {
	bundle := t.TempDir()
	for _, text := range []string{"", "1", "x 2 3", "1 2 3 4"} {
		if err := os.WriteFile(filepath.Join(bundle, recordName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if p, err := readRecord(bundle); err == nil {
			t.Errorf("%q: read as %v", text, p)
		}
	}
}

func TestProcess_isNotFooledByARecycledPid(t *testing.T) {
	pid := sleeper(t).Process.Pid
	for name, change := range map[string]func(*process){
		"started at another time": func(p *process) { p.start += "1" },
		"before the last boot":    func(p *process) { p.boot = "another" },
	} {
		p := mustIdentify(t, pid)
		change(&p)
		if _, err := p.open(); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("%s: %v, want ErrProcessDone", name, err)
		}
		if err := p.kill(t.Context()); err != nil {
			t.Errorf("%s: kill: %v", name, err)
		}
		if _, err := identify(pid); err != nil {
			t.Errorf("%s: the innocent process was killed", name)
		}
	}
}

func TestProcess_aZombieIsGone(t *testing.T) {
	cmd := sleeper(t)
	p := mustIdentify(t, cmd.Process.Pid)
	if err := p.kill(t.Context()); err != nil { // nobody waits for it before the cleanup
		t.Fatal(err)
	}
	if _, err := p.open(); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("open: %v, want ErrProcessDone", err)
	}
}

func TestSandbox_aKilledProcessEndsAWaitingDial(t *testing.T) {
	cmd := sleeper(t)
	dir := newLinkDir(t)
	s, err := openSandbox(mustIdentify(t, cmd.Process.Pid), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.release()

	taken := make(chan error, 1)
	go func() {
		_, err := s.link.take(t.Context())
		taken <- err
	}()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	if err := <-taken; !errors.Is(err, sandboxclient.ErrGone) {
		t.Errorf("take: %v, want ErrGone", err)
	}
	if took := time.Since(killed); took > 10*time.Second {
		t.Errorf("it was noticed after %v", took)
	}
}

func TestSandbox_releaseLeavesTheProcess(t *testing.T) {
	p := mustIdentify(t, sleeper(t).Process.Pid)
	s, err := openSandbox(p, newLinkDir(t))
	if err != nil {
		t.Fatal(err)
	}
	s.release()
	s.release()
	pidfd, err := p.open()
	if err != nil {
		t.Fatalf("the process is gone: %v", err)
	}
	_ = pidfd.Close()
}

func TestOpenSandbox_gone(t *testing.T) {
	p := mustIdentify(t, sleeper(t).Process.Pid)
	p.start += "1"
	if _, err := openSandbox(p, newLinkDir(t)); !errors.Is(err, sandboxclient.ErrGone) {
		t.Errorf("open: %v, want ErrGone", err)
	}
}
