package sleeptest

import (
	"math"
	"strconv"
	"testing"
	"time"

	"sandgate/sandboxclient/wire"
)

// gap is how long a sandbox sleeps for a test to see it.
const gap = 4 * time.Second

func (s *sandbox) sleepFor(d time.Duration) {
	s.Helper()
	s.sleep()
	<-time.After(d)
	s.wake()
}

func TestWake_clocks(t *testing.T) {
	t.Parallel()
	s := newHost(t).start()
	number := func(code string) float64 {
		t.Helper()
		n, err := strconv.ParseFloat(s.cell(code), 64)
		s.must(err)
		return n
	}
	s.cell("import time, datetime, subprocess; awake = time.monotonic()")
	s.sleepFor(gap)
	here := func() float64 { return float64(time.Now().UnixNano()) / 1e9 }
	before := here()
	inside := number("time.time()")
	if after := here(); inside < before-0.5 || inside > after+0.5 {
		t.Errorf("inside it is %.3f, between %.3f and %.3f", inside, before, after)
	}
	date := number("float(subprocess.check_output(['date', '+%s.%N']))")
	if off := math.Abs(date - here()); off > 5 {
		t.Errorf("date is %.1f s off", off)
	}
	if slept := number("time.time() - time.monotonic() - (datetime.datetime.now().timestamp() - time.monotonic())"); math.Abs(slept) > 1 {
		t.Errorf("two ways to ask for the time differ by %.1f s", slept)
	}
}

// Time asleep does not count: the user did not have it. Were it otherwise, the
// cell would end when the sandbox wakes.
func TestWake_deadlineOfACell(t *testing.T) {
	t.Parallel()
	s := newHost(t).start()
	req := wire.RunRequest{Context: context0(wire.Python), Code: "import time; print('began', flush=True); time.sleep(1000)", TimeoutMS: 15_000}
	began := time.Now()
	id, seen := s.begin(req, func(e wire.Event) bool { return e.Type == wire.EventStdout })
	s.sleepFor(gap)
	if n := s.health().Busy; n != 1 {
		t.Errorf("%d executions run after the sandbox woke", n)
	}
	rest := s.follow(id, seen.last)
	if awake := time.Since(began) - gap; rest.exit.Status != wire.StatusTimedOut || rest.exit.DurationMS < 14_900 || awake < 14_900*time.Millisecond {
		t.Errorf("after %v awake the cell ended as %+v", awake, rest.exit)
	}
	if got := s.cell("6 * 7"); got != "42" {
		t.Errorf("the next cell gives %s", got)
	}
}

// A program whose time has come while it slept goes on at once, and is told to
// have taken what it took awake.
func TestWake_executionGoesOn(t *testing.T) {
	t.Parallel()
	s := newHost(t).start()
	began := time.Now()
	code := "import time\nprint('one', flush=True); time.sleep(1.5); print('two')\n'done'"
	id, seen := s.begin(wire.RunRequest{Context: context0(wire.Python), Code: code}, func(e wire.Event) bool { return e.Type == wire.EventStdout })
	s.sleepFor(gap)
	rest := s.follow(id, seen.last)
	if seen.output != "one\n" || rest.output != "two\n" || rest.result != "'done'" || rest.exit.ExitCode != 0 {
		t.Errorf("before %q, after %q, %s, %+v", seen.output, rest.output, rest.result, rest.exit)
	}
	if awake := time.Since(began) - gap; rest.exit.DurationMS > float64(awake.Milliseconds()) {
		t.Errorf("it took %.0f ms, of %v", rest.exit.DurationMS, awake)
	}
}

// What an interrupted cell has started dies with it; what was left by cells
// before it, and after the sandbox woke, does not.
func TestWake_interruptEndsOnlyWhatTheCellStarted(t *testing.T) {
	t.Parallel()
	s := newHost(t).start()
	s.cell("import subprocess, time; early = subprocess.Popen(['sleep', '1000'])")
	if n := s.health().Background; n != 1 {
		t.Errorf("%d processes in the background, want 1", n)
	}
	s.sleepFor(gap)
	s.cell("late = subprocess.Popen(['sleep', '1000']); time.sleep(0.2)")
	if n := s.health().Background; n != 2 {
		t.Errorf("%d processes in the background, want 2", n)
	}
	_, o := s.begin(wire.RunRequest{
		Context: context0(wire.Python), TimeoutMS: 1000,
		Code: "own = subprocess.Popen(['sleep', '1000']); time.sleep(1000)",
	}, never)
	if o.exit.Status != wire.StatusTimedOut {
		t.Errorf("the cell ended as %+v", o.exit)
	}
	if got := s.cell("early.poll(), late.poll(), own.wait(60)"); got != "(None, None, -9)" {
		t.Errorf("early, late and own ended as %s", got)
	}
}
