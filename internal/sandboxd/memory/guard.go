// Package memory ends what uses most memory before the sandbox as a whole runs
// out of it.
//
// Under gVisor the limit is one of the whole sandbox: beyond it the host kills
// everything, variables and sandboxd included. So while there is little left,
// the largest process of the user's is killed, and whoever started it learns
// why. What the kernel shows as total memory is the limit there.
package memory

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"sandgate/internal/sandboxd/shim"
)

const (
	// fastest is how many bytes a second a program may take: looks come closer
	// together the less is left.
	fastest = int64(4 << 30)
	longest = 250 * time.Millisecond
	closest = 5 * time.Millisecond
	// herd is how many tasks are so many that sandboxd may have to wait for its turn.
	herd = 48
)

// A Guard starts programs and watches the memory of all of them.
type Guard struct {
	starter shim.Starter
	log     *slog.Logger
	usage   func() (usage, error)
	tasks   func() int
	largest func(count int) ([]process, error)
	kill    func(pid int, signal syscall.Signal) error
	holds   func(process) bool // memory still
	giveUp  func()             // ends the sandbox

	before int64 // what was left at the last look

	mu    sync.Mutex
	trees map[int]*tree // by the program's pid
}

var _ shim.Starter = (*Guard)(nil)

// NewGuard guards what starter starts.
func NewGuard(starter shim.Starter, log *slog.Logger) *Guard {
	return &Guard{
		starter: starter, log: log, trees: make(map[int]*tree),
		usage: readUsage, largest: largestProcesses, holds: holdsMemory, kill: syscall.Kill,
		tasks:  countTasks,
		giveUp: func() { os.Exit(1) },
	}
}

// A tree remembers that one of its processes was killed for its memory.
type tree struct {
	shim.Tree
	struck atomic.Pointer[string] // why
}

// Start starts a program and watches over it until its tree is gone.
func (g *Guard) Start(ctx context.Context, cmd shim.Command) (shim.Tree, error) {
	started, err := g.starter.Start(ctx, cmd)
	if err != nil {
		return nil, err
	}
	t := &tree{Tree: started}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.trees[t.Pid()] = t
	go func() { // ends with the tree
		<-t.Done()
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.trees, t.Pid())
	}()
	return t, nil
}

// Struck says whether a process of the tree was killed for its memory since it
// was asked last, and in words why.
func Struck(t shim.Tree) (why string, struck bool) {
	guarded, ok := t.(*tree)
	if !ok {
		return "", false
	}
	if reason := guarded.struck.Swap(nil); reason != nil {
		return *reason, true
	}
	return "", false
}

// Watch looks after the memory until ctx ends.
func (g *Guard) Watch(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(g.look()):
		}
	}
}

// look strikes if it must, and says when to look again.
func (g *Guard) look() time.Duration {
	left, u := g.left()
	spare := g.spare(left, u)
	if left <= spare {
		if !g.strike(u.total, min(2*spare, u.total/2)) {
			g.log.Error("what takes the memory is no process: the sandbox ends, and its disposable files with it")
			g.giveUp()
		}
		return closest
	}
	return min(max(time.Duration(float64(left)/float64(fastest)*float64(time.Second)), closest), longest)
}

// spare is what must be left until the next look. Beside a herd of processes,
// as a fork bomb makes one, that may come late, and so may a strike: more can go
// until then than went since the last.
func (g *Guard) spare(left int64, u usage) int64 {
	went := g.before - left
	g.before = left
	if g.tasks() < herd {
		return 0
	}
	return min(max(3*went, 0), u.total/2)
}

// left is how much may still be taken.
func (g *Guard) left() (int64, usage) {
	u, err := g.usage()
	if err != nil {
		g.log.Error("memory usage cannot be read", "error", err)
		return fastest, u
	}
	return u.available - u.reserve(), u
}

// treeOf finds the program that a process descends from.
func (g *Guard) treeOf(p process) *tree {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, pid := range p.lineage {
		if t, ok := g.trees[pid]; ok {
			return t
		}
	}
	return g.only()
}

// only is the one tree there is, if it is one: a process whose parents are gone
// cannot be anybody else's. g.mu is held.
func (g *Guard) only() *tree {
	if len(g.trees) != 1 {
		return nil
	}
	for _, t := range g.trees {
		return t
	}
	return nil
}
