package shim

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"
)

// escapes start children that try to get away, print their pids and go on.
var escapes = map[string]string{
	"background":    `sleep 1000 & echo $!`,
	"setsid":        `setsid bash -c 'echo $$; exec sleep 1000' &`,
	"double fork":   `( ( setsid bash -c 'echo $$; exec sleep 1000' & ) & ) ; wait`,
	"env -i":        `( env -i setsid bash -c 'echo $$; exec sleep 1000' & )`,
	"ignores TERM":  `( setsid bash -c 'trap "" TERM HUP INT; echo $$; sleep 1000; sleep 1000' & )`,
	"closes its fd": `( setsid bash -c 'echo $$; exec >&- 2>&- <&-; exec sleep 1000' & )`,
	"stopped":       `sleep 1000 & kill -STOP $!; echo $!`,
	"deep":          `bash -c 'bash -c "setsid bash -c \"echo \\\$\\\$; exec sleep 1000\" & sleep 1000" & sleep 1000' &`,
}

func TestTree_endsWithItsProgram(t *testing.T) {
	p := newPool(t)
	for name, script := range escapes {
		t.Run(name, func(t *testing.T) {
			prog := shell(t, p, script+"\nread; exit 7")
			pids := prog.pids(t, 1)
			assertAlive(t, pids...)
			prog.stdin.Close()
			prog.await(t)
			assertGone(t, pids...)
			if s := prog.Status(); !s.Exited() || s.ExitStatus() != 7 {
				t.Errorf("status %#x, want exit 7", s)
			}
		})
	}
}

func TestTree_killEndsEverything(t *testing.T) {
	p := newPool(t)
	for name, script := range escapes {
		t.Run(name, func(t *testing.T) {
			prog := shell(t, p, script+"\nread")
			pids := append(prog.pids(t, 1), prog.Pid())
			assertAlive(t, pids...)
			prog.Kill()
			prog.Kill()
			prog.await(t)
			assertGone(t, pids...)
			if s := prog.Status(); !s.Signaled() || s.Signal() != syscall.SIGKILL {
				t.Errorf("status %#x, want SIGKILL", s)
			}
		})
	}
}

func TestSignal_reachesTheProgramAlone(t *testing.T) {
	p := newPool(t)
	prog := shell(t, p, `trap 'echo got it' USR1; (trap 'echo child too' USR1; while sleep 0.1; do :; done) & echo $!; while :; do read -t 0.1; [ $? = 1 ] && exit; done`)
	child := prog.pids(t, 1)
	if err := prog.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	if got := prog.line(t); got != "got it" {
		t.Errorf("got %q", got)
	}
	assertAlive(t, child...)
	prog.Kill()
	prog.await(t)
	if err := prog.Signal(syscall.SIGUSR1); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("after the end: %v, want ESRCH", err)
	}
}

func TestKillSince_sparesWhatIsOlder(t *testing.T) {
	p := newPool(t)
	prog := shell(t, p, `
		setsid sleep 1000 & echo $!
		read
		sleep 1000 & echo $!
		( setsid bash -c 'echo $$; exec sleep 1000' & )
		( exit 3 ) & read
		wait -n; read`)
	old := prog.pids(t, 1)
	awaitTick(t)
	since := time.Now()
	fmt.Fprintln(prog.stdin)
	young := prog.pids(t, 2)
	assertAlive(t, append(old, young...)...)
	if err := prog.KillSince(since); err != nil {
		t.Fatal(err)
	}
	assertGone(t, young...)
	assertAlive(t, append(old, prog.Pid())...)
	if err := prog.KillSince(since); err != nil {
		t.Errorf("with nothing to kill but a zombie: %v", err)
	}
	prog.Kill()
	prog.await(t)
	assertGone(t, old...)
}

// awaitTick lets so much time pass that start times can tell before from after.
func awaitTick(t *testing.T) {
	t.Helper()
	begin, err := ticksAt(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for now := begin; now < begin+5; {
		<-time.After(time.Millisecond)
		if now, err = ticksAt(time.Now()); err != nil {
			t.Fatal(err)
		}
	}
}

// A storm forks for ever, out of reach of its first process. It is bounded, as
// it is in a sandbox.
const storm = `ulimit -u 150; echo ready; bomb() { while :; do setsid bash -c 'sleep 0.01' & bomb & wait -n; done; }; bomb 2>/dev/null`

func TestTree_endsAForkStorm(t *testing.T) {
	p := newPool(t)
	prog := shell(t, p, storm)
	prog.line(t)
	begin := time.Now()
	for len(allBelow(t, prog.Pid())) < 20 {
		if time.Since(begin) > hang {
			t.Fatal("no storm")
		}
		<-time.After(time.Millisecond)
	}
	prog.Kill()
	prog.await(t)
	if left := ofSandboxUser(t); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
