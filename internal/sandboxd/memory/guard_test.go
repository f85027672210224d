package memory

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"sandgate/internal/sandboxd/shim"
)

// program is a started program for a test.
type program struct {
	pid  int
	done chan struct{}
}

func (p *program) Pid() int                    { return p.pid }
func (p *program) Signal(syscall.Signal) error { return nil }
func (p *program) KillSince(time.Time) error   { return nil }
func (p *program) Kill()                       {}
func (p *program) Done() <-chan struct{}       { return p.done }
func (p *program) Status() syscall.WaitStatus  { return 0 }

type starter map[string]*program

func (s starter) Start(_ context.Context, cmd shim.Command) (shim.Tree, error) {
	return s[cmd.Argv[0]], nil
}

// The largest process goes, its own program is told, and nobody else.
func TestGuard_strikesTheLargestAndTellsItsProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		programs := starter{"hog": {10, make(chan struct{})}, "other": {20, make(chan struct{})}}
		g := NewGuard(programs, slog.New(slog.DiscardHandler))
		var available atomic.Int64
		available.Store(1 << 30)
		var killed []int // read once the guard sleeps
		g.usage = func() (usage, error) { return usage{total: 1 << 30, available: available.Load()}, nil }
		g.largest = func(int) ([]process, error) {
			return []process{{pid: 12, resident: 9 << 20, lineage: []int{12, 11, 10, 5}}}, nil
		}
		g.tasks = func() int { return 20 }
		g.kill = func(pid int, _ syscall.Signal) error {
			killed = append(killed, pid)
			available.Store(1 << 30)
			return nil
		}
		hog, _ := g.Start(t.Context(), shim.Command{Argv: []string{"hog"}})
		other, _ := g.Start(t.Context(), shim.Command{Argv: []string{"other"}})
		ctx, stop := context.WithCancel(t.Context())
		go g.Watch(ctx)
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(killed) != 0 {
			t.Fatalf("killed %v while there was enough", killed)
		}
		available.Store(100 << 20)
		time.Sleep(time.Second)
		synctest.Wait()
		if len(killed) != 1 || killed[0] != 12 {
			t.Fatalf("killed %v", killed)
		}
		why, struck := Struck(hog)
		if !struck || why != "out of memory: the sandbox has 1024 MiB in all" {
			t.Errorf("the hog is told %q, %v", why, struck)
		}
		if _, again := Struck(hog); again {
			t.Error("it is told twice")
		}
		if _, struck := Struck(other); struck {
			t.Error("another is told")
		}
		close(programs["hog"].done)
		close(programs["other"].done)
		stop()
		synctest.Wait()
		g.mu.Lock()
		defer g.mu.Unlock()
		if len(g.trees) != 0 {
			t.Errorf("%d programs are remembered", len(g.trees))
		}
	})
}

// Where many take little each, more and more go until there is memory again, and
// from the second time on nobody else moves meanwhile.
func TestGuard_strikesAtMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGuard(starter{}, slog.New(slog.DiscardHandler))
		alive := 300
		g.usage = func() (usage, error) { return usage{total: 1 << 30, available: int64(400-alive) << 20}, nil }
		g.largest = func(count int) ([]process, error) {
			return slices.Repeat([]process{{pid: 9, resident: 1 << 20}}, min(count, alive)), nil
		}
		still := false
		g.kill = func(_ int, signal syscall.Signal) error {
			if signal != syscall.SIGKILL {
				still = signal == syscall.SIGSTOP
				return nil
			}
			if alive < 300 && !still {
				t.Error("somebody moves")
			}
			alive--
			return nil
		}
		g.giveUp = func() { t.Error("it gave up") }
		g.tasks = func() int { return 1 }
		g.holds = func(process) bool { return false }
		began := time.Now()
		g.look()
		if alive != 300-31 || still || time.Since(began) > time.Second { // 1 + 2 + 4 + 8 + 16
			t.Errorf("%d are left after %s", alive, time.Since(began))
		}
	})
}

// What a process had may take its time to be there again, on a busy machine:
// nobody else goes meanwhile.
func TestGuard_waitsForWhatTheDeadHad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGuard(starter{}, slog.New(slog.DiscardHandler))
		back := time.Now().Add(time.Hour)
		gone := back
		g.usage = func() (usage, error) {
			if time.Now().After(back) {
				return usage{total: 1 << 30, available: 900 << 20}, nil
			}
			return usage{total: 1 << 30, available: 100 << 20}, nil
		}
		g.largest = func(count int) ([]process, error) {
			return []process{{pid: 9, resident: 800 << 20}, {pid: 8, resident: 1 << 20}}[:count], nil
		}
		g.tasks = func() int { return 2 }
		g.holds = func(process) bool { return time.Now().Before(gone) }
		var killed []int
		g.kill = func(pid int, _ syscall.Signal) error {
			killed = append(killed, pid)
			gone, back = time.Now().Add(3*time.Second), time.Now().Add(3*time.Second+800*time.Millisecond)
			return nil
		}
		g.look()
		if !slices.Equal(killed, []int{9}) {
			t.Errorf("killed %v", killed)
		}
	})
}

// A process takes on until its end has come to it: nobody else goes for that.
func TestGuard_waitsForOneThatTakesMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGuard(starter{}, slog.New(slog.DiscardHandler))
		end := time.Now().Add(time.Hour)
		g.usage = func() (usage, error) {
			switch left := time.Until(end); {
			case left <= 0:
				return usage{total: 1 << 30, available: 900 << 20}, nil
			case left < time.Hour:
				return usage{total: 1 << 30, available: int64(left / 100)}, nil // 20 MB, and less by and by
			}
			return usage{total: 1 << 30, available: 100 << 20}, nil
		}
		g.largest = func(count int) ([]process, error) {
			return []process{{pid: 9, resident: 800 << 20}, {pid: 8, resident: 1 << 20}}[:count], nil
		}
		g.tasks = func() int { return 2 }
		g.holds = func(process) bool { return time.Now().Before(end) }
		var killed []int
		g.kill = func(pid int, signal syscall.Signal) error {
			if signal == syscall.SIGKILL {
				killed = append(killed, pid)
				end = time.Now().Add(2 * time.Second)
			}
			return nil
		}
		g.look()
		if !slices.Equal(killed, []int{9}) {
			t.Errorf("killed %v", killed)
		}
	})
}

// Somebody may let everybody go on while they are to stand still.
func TestGuard_makesThemStandAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGuard(starter{}, slog.New(slog.DiscardHandler))
		available, still, stops := int64(100<<20), false, 0
		began, released := time.Now(), false
		g.usage = func() (usage, error) {
			if !released && time.Since(began) > time.Second {
				still, released = false, true
			}
			if !still {
				available -= 2 << 20
			}
			if time.Since(began) > 2*time.Second {
				available = 900 << 20
			}
			return usage{total: 1 << 30, available: available}, nil
		}
		g.largest = func(count int) ([]process, error) {
			return []process{{pid: 9, resident: 800 << 20}, {pid: 8, resident: 1 << 20}}[:min(count, 2)], nil
		}
		g.tasks = func() int { return 2 }
		g.holds = func(process) bool { return time.Since(began) < 2*time.Second }
		var killed []int
		g.kill = func(pid int, signal syscall.Signal) error {
			switch signal {
			case syscall.SIGSTOP:
				if !still {
					stops++
				}
				still = true
			case syscall.SIGKILL:
				killed = append(killed, pid)
			}
			return nil
		}
		g.look()
		if !slices.Equal(killed, []int{9}) || stops != 2 {
			t.Errorf("killed %v, stopped %d times", killed, stops)
		}
	})
}

// What comes back by and by is not for the first who starts to be ended for.
func TestGuard_waitsForMoreThanALittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGuard(starter{}, slog.New(slog.DiscardHandler))
		end := time.Now().Add(time.Hour)
		g.usage = func() (usage, error) {
			available := int64(100 << 20) // and 128 are kept for gVisor
			if since := time.Since(end); since > 0 {
				available += min(int64(since/time.Millisecond)<<20, 800<<20)
			}
			return usage{total: 1 << 30, available: available}, nil
		}
		g.largest = func(count int) ([]process, error) {
			return []process{{pid: 9, resident: 800 << 20}, {pid: 8, resident: 1 << 20}}[:count], nil
		}
		g.tasks = func() int { return 2 }
		g.holds = func(process) bool { return false }
		g.kill = func(int, syscall.Signal) error { end = time.Now(); return nil }
		g.look()
		if left, _ := g.left(); left < 300<<20 {
			t.Errorf("%d MiB are left when it looks again", left>>20)
		}
	})
}

// Among many processes more is kept back: what went between two looks can go
// again before sandboxd has its turn.
func TestGuard_strikesAtAHerdSooner(t *testing.T) {
	for tasks, want := range map[int]bool{herd - 1: false, herd: true} {
		g := NewGuard(starter{}, slog.New(slog.DiscardHandler))
		struck := false
		available := int64(800 << 20)
		g.tasks = func() int { return tasks }
		g.usage = func() (usage, error) { return usage{total: 1 << 30, available: available}, nil }
		g.largest = func(int) ([]process, error) { struck = true; return nil, os.ErrNotExist }
		g.kill = func(int, syscall.Signal) error { return nil }
		g.look()
		available = 500 << 20
		if g.look(); struck != want {
			t.Errorf("%d tasks: struck %v", tasks, struck)
		}
	}
}

// Memory that no process holds ends the sandbox: nothing could run in it again.
func TestGuard_givesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGuard(starter{}, slog.New(slog.DiscardHandler))
		g.usage = func() (usage, error) { return usage{total: 1 << 30}, nil }
		g.largest = func(count int) ([]process, error) { return make([]process, min(count, 3)), nil }
		g.kill = func(int, syscall.Signal) error { return nil }
		g.holds = func(process) bool { return false }
		gaveUp := false
		g.giveUp = func() { gaveUp = true }
		if g.look(); !gaveUp {
			t.Error("it goes on")
		}
		gaveUp = false
		g.largest = func(int) ([]process, error) { return nil, os.ErrNotExist }
		if g.look(); gaveUp {
			t.Error("it gave up though nothing ran that could want memory")
		}
	})
}

// The less is left, the closer are the looks.
func TestGuard_looksCloserTheLessIsLeft(t *testing.T) {
	g := NewGuard(starter{}, slog.New(slog.DiscardHandler))
	g.largest = func(int) ([]process, error) { return nil, os.ErrNotExist }
	last := time.Duration(1 << 62)
	for _, mib := range []int64{1024, 512, 300, 200, 150, 130} {
		g.usage = func() (usage, error) { return usage{total: 1 << 30, available: mib << 20}, nil }
		wait := g.look()
		if wait > last || wait < closest || wait > longest {
			t.Errorf("with %d MiB left the next look is in %s, after %s", mib, wait, last)
		}
		last = wait
	}
}

func TestParseUsage(t *testing.T) {
	u, err := parseUsage([]byte("MemTotal:  1048576 kB\nMemFree: 1 kB\nMemAvailable:  991628 kB\nHugePages_Total: 0\n\nx\n"))
	if err != nil || u.total != 1<<30 || u.available != 991628<<10 {
		t.Errorf("%+v, %v", u, err)
	}
	if _, err := parseUsage([]byte("MemAvailable: 1 kB")); err == nil {
		t.Error("no total is no error")
	}
	if small := (usage{total: 64 << 20}); small.reserve() != 16<<20 {
		t.Errorf("of 64 MiB %d are kept back", small.reserve())
	}
}

// A hostile name in stat moves no field.
func TestReadStat(t *testing.T) {
	dir := t.TempDir()
	line := "7 (a) R 1 (b) S 42 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 5000 3 0"
	if err := os.WriteFile(filepath.Join(dir, "stat"), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	resident, parent, err := readStat(dir)
	if err != nil || parent != 42 || resident != 3*int64(os.Getpagesize()) {
		t.Errorf("%d, %d, %v", resident, parent, err)
	}
	resident, parent, err = readStat("/proc/" + strconv.Itoa(os.Getpid()))
	if err != nil || parent != os.Getppid() || resident == 0 {
		t.Errorf("of this process: %d, %d, %v", resident, parent, err)
	}
}
