package livetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

func TestExec_isTheSandboxUserAndNothingMore(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.wantLines(s.sh(`
		id -u; id -g; id -G; pwd
		grep -E '^(CapInh|CapPrm|CapEff|NoNewPrivs):' /proc/self/status | tr -d '\t' | sort
		trap
		ulimit -c
		for fd in {0..300}; do [ -e /proc/$$/fd/$fd ] && echo "fd $fd"; done
		awk -v p=$$ '{print "leads:", $5==p && $6==p}' /proc/$$/stat
		touch "$HOME/x" "$TMPDIR/x" /workspace/x && echo can write`),
		"20000", "20000", "20000", "/workspace",
		"CapEff:0000000000000000", "CapInh:0000000000000000", "CapPrm:0000000000000000",
		"NoNewPrivs:1",
		"0", "fd 0", "fd 1", "fd 2", "leads: 1", "can write")
}

// Each refusal has a twin that is allowed, so that it is not refused by mistake.
func TestExec_cannotReachSandboxd(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	got := s.sh(`
		sleep 1000 & own=$!
		try() {
			"$@" >/dev/null 2>&1 && answer=yes || answer=no
			echo "$answer: $*" | sed "s/\b$own\b/OWN/; s/\b$PPID\b/SHIM/"
		}
		try kill -0 $own; try kill -0 1; try kill -9 1; try kill -9 $PPID; try kill -STOP $PPID
		try cat /proc/$own/environ; try cat /proc/1/environ; try cat /proc/$PPID/environ
		try head -c1 /proc/$own/maps; try head -c1 /proc/1/maps; try head -c1 /proc/1/mem; try head -c1 /proc/$PPID/mem
		try ls /proc/$own/fd; try ls /proc/1/fd; try ls /proc/$PPID/fd; try ls /proc/1/root/
		try ls /run/sandgate; try cat /run/sandgate/token; try stat /run/sandgate/s
		try ls /tmp; try ls /workspace`)
	allowed := map[string]bool{
		"kill -0 OWN": true, "cat /proc/OWN/environ": true, "head -c1 /proc/OWN/maps": true, "ls /proc/OWN/fd": true,
		"ls /tmp": true, "ls /workspace": true,
	}
	tried := 0
	for line := range strings.Lines(got) {
		answer, what, _ := strings.Cut(strings.TrimSpace(line), ": ")
		tried++
		if (answer == "yes") != allowed[what] {
			t.Error(line)
		}
	}
	if tried < 20 {
		t.Errorf("tried %d", tried)
	}
	if s.sh("echo still here") != "still here\n" {
		t.Error("sandboxd does not answer")
	}
}

func TestExec_endsWithItsTree(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	for name, script := range map[string]string{
		"background":  `sleep 4242 &`,
		"setsid":      `setsid sleep 4242 &`,
		"double fork": `( ( setsid bash -c 'exec sleep 4242' & ) & )`,
		"env -i":      `( env -i setsid sleep 4242 & )`,
		"nohup":       `nohup sleep 4242 >/dev/null 2>&1 &`,
	} {
		t.Run(name, func(t *testing.T) {
			s := sandbox{T: t, Sandbox: s.Sandbox}
			s.sh(script + `
				for i in {1..1000}; do
					for p in /proc/[0-9]*; do
						[ "$(tr '\0' ' ' <$p/cmdline)" = "sleep 4242 " ] && exit 0
					done
				done 2>/dev/null
				exit 1`) // it is there
			if n := s.count("sleep 4242"); n != 0 {
				t.Errorf("%d are left", n)
			}
		})
	}
}

func TestExec_timeoutEndsTheTree(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	result := s.exec(sandboxclient.Command{
		Argv:    []string{"bash", "-c", `trap '' TERM; setsid sleep 4243 & echo started; while :; do sleep 0.1; done`},
		Timeout: time.Second,
	})
	if result.Exit.Status != wire.StatusTimedOut || string(result.Stdout) != "started\n" {
		t.Errorf("ended as %+v, %q", result.Exit, result.Stdout)
	}
	if n := s.count("sleep 4243"); n != 0 {
		t.Errorf("%d are left", n)
	}
}

func TestExec_endsWhenItsCallerLeaves(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	ctx, leave := context.WithCancel(t.Context())
	seen := false
	for e, err := range s.ExecStream(ctx, sandboxclient.Command{Argv: []string{"bash", "-c", "setsid sleep 4244 & echo started; wait"}}) {
		if err != nil {
			break
		}
		if e.Type == wire.EventStdout {
			seen = true
			leave()
		}
	}
	leave()
	if !seen {
		t.Fatal("it did not start")
	}
	for begin := time.Now(); s.count("sleep 4244") != 0; {
		if time.Since(begin) > hang {
			t.Fatal("it does not end")
		}
	}
}

// A storm fills the sandbox's processes and gets away from its parent. It ends
// with its command, and costs neither the sandbox nor the variables of others.
func TestExec_forkStormEnds(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.cell("x = 41")
	for name, script := range map[string]string{
		"setsid": `b() { while :; do setsid bash -c 'sleep 0.01' & b & wait -n; done; }; b 2>/dev/null & sleep 1; echo over`,
		"bomb":   `b() { b | b & }; b 2>/dev/null; sleep 1; echo over`,
	} {
		t.Run(name, func(t *testing.T) {
			s := sandbox{T: t, Sandbox: s.Sandbox}
			result := s.exec(sandboxclient.Command{Argv: []string{"bash", "-c", script}, Timeout: 5 * time.Second})
			t.Logf("ended as %s after %.1f s", result.Exit.Status, result.Exit.DurationMS/1000)
			if n := s.count("bash -c b()"); n != 0 {
				t.Errorf("%d are left", n)
			}
			run := s.cell("x + 1")
			if len(run.Results) != 1 || run.Results[0].Text != "42" || run.Start != sandboxclient.StartRunning {
				t.Errorf("the variable is %+v in a kernel that is %s", run.Results, run.Start)
			}
		})
	}
}

func TestExec_manyAtOnce(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			result, err := s.Exec(t.Context(), sandboxclient.Command{Argv: []string{"bash", "-c", "cat; exit 3"}, Stdin: fmt.Append(nil, i)})
			if err != nil || string(result.Stdout) != fmt.Sprint(i) || result.Exit.ExitCode != 3 {
				t.Errorf("%d: %+v, %v", i, result, err)
			}
		})
	}
	wg.Wait()
	if left := s.processes(); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

func TestExec_losesNoOutput(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	result := s.exec(sandboxclient.Command{Argv: []string{"bash", "-c", `seq 1 200000; head -c 3000000 /dev/zero >&2`}, Keep: 8 << 20})
	lines := strings.Split(string(result.Stdout), "\n")
	if len(lines) != 200_001 || lines[199_999] != "200000" || len(result.Stderr) != 3_000_000 {
		t.Errorf("%d lines, %d bytes", len(lines), len(result.Stderr))
	}
	for i, line := range lines[:200_000] {
		if line != fmt.Sprint(i+1) {
			t.Fatalf("line %d is %q", i, line)
		}
	}
}
