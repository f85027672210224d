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
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"sandgate/internal/sandboxd/shim"
)

const (
	// fastest is how many bytes a second a program may take: looks come closer
	// together the less is left.
	fastest = 4 << 30
	longest = 250 * time.Millisecond
	closest = 5 * time.Millisecond
	// recovery is how long a killed process may take to give its memory back.
	recovery = 100 * time.Millisecond
)

// A Guard starts programs and watches the memory of all of them.
type Guard struct {
	starter shim.Starter
	log     *slog.Logger
	usage   func() (usage, error)
	largest func() (process, error)
	kill    func(pid int) error

	mu    sync.Mutex
	trees map[int]*tree // by the program's pid
}

var _ shim.Starter = (*Guard)(nil)

// NewGuard guards what starter starts.
func NewGuard(starter shim.Starter, log *slog.Logger) *Guard {
	return &Guard{
		starter: starter, log: log, trees: make(map[int]*tree),
		usage: readUsage, largest: largestProcess,
		kill: func(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) },
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
	u, err := g.usage()
	if err != nil {
		g.log.Error("memory usage cannot be read", "error", err)
		return longest
	}
	left := u.available - u.reserve()
	if left <= 0 {
		g.strike(u.total)
		return recovery
	}
	return min(max(time.Duration(float64(left)/fastest*float64(time.Second)), closest), longest)
}

// strike kills the largest process of the user's.
func (g *Guard) strike(limit int64) {
	victim, err := g.largest()
	if err != nil {
		g.log.Error("no process to end for its memory", "error", err)
		return
	}
	if t := g.treeOf(victim); t != nil {
		why := fmt.Sprintf("out of memory: the sandbox has %d MiB in all", limit>>20)
		t.struck.Store(&why)
	}
	if err := g.kill(victim.pid); err != nil {
		g.log.Error("process was not ended for its memory", "error", err)
		return
	}
	g.log.Warn("process ended for its memory", "pid", victim.pid, "bytes", victim.resident)
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
