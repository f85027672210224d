package e2e

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/sys/unix"

	"sandgate/internal/sandboxtest"
)

// slowInstall takes its time to install, and counts aloud meanwhile.
func slowInstall() fstest.MapFS {
	files := plain("echo tested", nil)
	files["package.json"] = &fstest.MapFile{Data: []byte(`{"name":"plain","version":"1.0.0","scripts":{` +
		`"postinstall":"for i in $(seq 40); do echo installing $i; sleep 0.5; done","test":"echo tested"}}`)}
	return files
}

// A gateway that is killed while a run installs finds it again: the log goes on
// as if nothing had happened. What waited waits again, and what had a password
// is told to be lost.
func TestRuns_outliveAKilledGateway(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t)
	dir, git := stateDir(t), sandboxtest.ServeGit(t)
	l := openLabIn(t, dir, git, "--max-runs", "1")
	project := l.project("slow", slowInstall())
	foreground := order(project, map[string]any{"env": map[string]string{"npm_config_foreground_scripts": "true"}})
	running := l.test(t, foreground)
	queued := l.test(t, project)
	secret := l.test(t, strings.Replace(project, "http://", "http://me:hunter2@", 1))
	running.says("installing 5\n")
	queued.until("it waits", func(e testEvent) bool { return e.Type == "queued" && e.Position == 1 })
	secret.until("it waits", func(e testEvent) bool { return e.Type == "queued" && e.Position == 2 })
	l.Kill()

	l = openLabIn(t, dir, git, "--max-runs", "1")
	last := running.seen[len(running.seen)-1]
	again := l.again(t, running.location, last.Seq)
	again.end().ended(t, "test", 0)
	whole := l.again(t, running.location, "0")
	whole.end()
	out := whole.output()
	at := 0
	for _, word := range []string{"installing 1\n", "installing 5\n", "installing 6\n", "installing 39\n", "installing 40\n", "\ntested\n"} {
		found := strings.Index(out[at:], word)
		if found < 0 || strings.Count(out, word) != 1 {
			t.Errorf("%q is %d times in\n%s", word, strings.Count(out, word), out)
			continue
		}
		at += found
	}
	if !strings.HasSuffix(out, again.output()) {
		t.Errorf("who came back read %q", again.output())
	}
	l.again(t, secret.location, "0").end().failed(t, "", "unavailable", "credentials")
	l.again(t, queued.location, "0").end().ended(t, "test", 0)
}

// A gateway that is stopped tells its runs' viewers; those that wait are run by
// the next one, and nothing is left of the sandboxes.
func TestRuns_areToldWhenTheGatewayStops(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t)
	dir, git := stateDir(t), sandboxtest.ServeGit(t)
	l := openLabIn(t, dir, git, "--max-runs", "1", "--shutdown-grace", "100ms")
	project := l.project("waits", plain("echo begun; sleep 600", nil))
	running := l.test(t, project)
	queued := l.test(t, order(project, map[string]any{"command": "echo queued"}))
	running.says("begun\n")
	stopped := make(chan error, 1)
	go func() { stopped <- stopNow(t, l.Gateway) }()
	running.end().failed(t, "test", "unavailable", "stopped")
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	nothingLeft(t, dir)
	l = openLabIn(t, dir, git)
	l.again(t, queued.location, "0").end().ended(t, "test", 0)
	l.again(t, running.location, "0").end().failed(t, "test", "unavailable", "stopped")
}

// A sandbox that dies ends its run within seconds, never with a made-up exit code.
func TestRuns_whoseSandboxDiesEndWithAnError(t *testing.T) {
	t.Parallel()
	l := openLab(t)
	s := l.test(t, l.project("dies", plain("echo begun; sleep 600", nil)))
	s.says("begun\n")
	killSandboxes(t, l.Dir)
	began := time.Now()
	s.end().failed(t, "test", "unavailable", "")
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("told after %s", took)
	}
	l.test(t, l.project("lives", plain("true", nil))).end().ended(t, "test", 0)
}

// A disk that fills up ends the run with words for it, and the gateway goes on
// when there is room again. Not parallel: see TestDisk_theHostsOwnIsFull.
func TestRuns_onAFullDiskAreTold(t *testing.T) {
	dir := smallDisk(t)
	l := openLabIn(t, dir, sandboxtest.ServeGit(t))
	s := l.test(t, l.project("prints", plain("echo begun; while sleep 0.01; do head -c 20000 /dev/zero | tr '\\\\0' x; echo; done", nil)))
	s.says("begun\n")
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 256<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	s.end().failed(t, "test", "no_space", "disk")
	if a := ask(t, http.MethodPost, l.URL+"/tests", "https://github.com/x/y"); a.status != http.StatusInsufficientStorage &&
		!strings.Contains(a.body, `"code":"no_space"`) { // a log may have found its place, the sandbox has not
		t.Errorf("another run: %d %s", a.status, a.body)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	again := l.again(t, s.location, "0")
	again.end().failed(t, "test", "no_space", "disk")
}

// A registry that is slow, or answers with garbage, fails the install and no more.
func TestRuns_bearABadRegistry(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t)
	files := plain("echo tested", nil)
	files["package.json"] = &fstest.MapFile{Data: []byte(`{"name":"plain","version":"1.0.0","dependencies":{"left-pad":"1.3.0"}}`)}
	delete(files, "package-lock.json")
	for name, answer := range map[string]http.HandlerFunc{
		"garbage": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("\x1b[2J\x00{{{")) },
		"silent":  func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			registry := httptest.NewServer(answer)
			t.Cleanup(func() { registry.CloseClientConnections(); registry.Close() })
			_, port, _ := net.SplitHostPort(strings.TrimPrefix(registry.URL, "http://"))
			l := openLab(t, "--npm-registry", registry.URL, "--egress-allow-private", "127.0.0.1:"+port)
			s := l.test(t, order(l.project("needs", files), map[string]any{
				"timeout": 60, "env": map[string]string{"npm_config_fetch_retries": "0", "npm_config_fetch_timeout": "10000"},
			}))
			end := s.end()
			if end.Type != "complete" || end.Phase != "install" || end.Status == "exited" && *end.ExitCode == 0 {
				t.Errorf("%+v", end)
			}
		})
	}
}
