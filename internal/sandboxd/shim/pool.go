package shim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"
)

const (
	// warm is how many shims are kept started for the next programs.
	warm = 1
	// maxIdle is how many are kept after their trees are gone.
	maxIdle = 2
)

var errClosed = errors.New("shim: pool is closed")

// A Pool is the Starter of sandboxd. It keeps shims started and uses them again.
// Its process must be PID 1 or a child subreaper, and reap its children, for
// what a lost shim leaves behind to be found and ended.
type Pool struct {
	exe       string
	args      []string
	killBound time.Duration // see killBound

	frozen sync.Mutex // held while all processes are stopped

	mu      sync.Mutex
	idle    []*worker
	live    map[int]*worker // by pid, the idle ones included
	warming bool
	closed  bool
	running sync.WaitGroup // readers and spawns
}

var _ Starter = (*Pool)(nil)

// NewPool makes a pool of shims that are processes of exe called with args; the
// program must then call Main. The first is started at once.
func NewPool(exe string, args ...string) *Pool {
	p := &Pool{exe: exe, args: args, killBound: killBound, live: make(map[int]*worker)}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.warmUp()
	return p
}

// Start starts a program in an idle shim, or in a new one. A shim that says why
// it could not is kept; one that says nothing is lost, and goes its own way.
func (p *Pool) Start(ctx context.Context, cmd Command) (Tree, error) {
	if len(cmd.Files) > maxFiles {
		return nil, fmt.Errorf("shim: more than %d files", maxFiles)
	}
	path, err := lookPath(cmd)
	if err != nil {
		return nil, err
	}
	w, err := p.take()
	if err != nil {
		return nil, err
	}
	t := &tree{pool: p, worker: w, done: make(chan struct{})}
	err = w.start(ctx, t, path, cmd)
	if err == nil {
		return t, nil
	}
	if _, answered := errors.AsType[*StartError](err); answered {
		p.put(w)
	}
	return nil, err
}

// Close ends all trees and returns when they are gone; the shims follow.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	p.idle = nil
	for _, w := range p.live {
		w.conn.Close()
	}
	p.mu.Unlock()
	p.running.Wait()
}

func (p *Pool) take() (*worker, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, errClosed
	}
	if n := len(p.idle); n > 0 {
		w := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.warmUp()
		p.mu.Unlock()
		return w, nil
	}
	p.warmUp()
	p.mu.Unlock()
	return p.spawn()
}

// put keeps a shim for the next program, or lets it go. A shim that was lost
// meanwhile is in nobody's way: it is not live any more.
func (p *Pool) put(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live[w.pid] != w {
		return
	}
	if p.closed || len(p.idle) >= maxIdle {
		w.conn.Close()
		return
	}
	p.idle = append(p.idle, w)
}

// warmUp starts a shim aside when too few are idle. p.mu is held.
func (p *Pool) warmUp() {
	if p.closed || p.warming || len(p.idle) >= warm {
		return
	}
	p.warming = true
	p.running.Go(func() {
		w, err := p.spawn()
		p.mu.Lock()
		p.warming = false
		p.mu.Unlock()
		if err == nil {
			p.put(w)
		}
	})
}

func (p *Pool) spawn() (*worker, error) {
	w, err := spawn(p.exe, p.args)
	if err != nil {
		return nil, fmt.Errorf("shim: start: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		w.conn.Close()
		return nil, errClosed
	}
	p.live[w.pid] = w
	p.running.Go(func() {
		w.read(p.ended, p.gone)
		p.lost(w)
	})
	return w, nil
}

// gone takes a shim back before it tells of the tree's end, so that the next
// program finds it.
func (p *Pool) gone(w *worker, status syscall.WaitStatus) {
	t := w.release()
	p.put(w)
	if t != nil {
		t.finish(status)
	}
}

// ended waits a moment for the shim to end what the program left behind.
func (p *Pool) ended(w *worker) {
	if t := w.current(); t != nil {
		time.AfterFunc(struggle, func() { p.overpower(t, everyProcess) })
	}
}

// lost ends what the shim can no longer end. An idle one just went away.
func (p *Pool) lost(w *worker) {
	p.forget(w)
	if t := w.release(); t != nil {
		p.reclaim(w.pid)
		t.finish(syscall.WaitStatus(syscall.SIGKILL))
	}
}

func (p *Pool) forget(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live[w.pid] == w {
		delete(p.live, w.pid)
	}
	p.idle = slices.DeleteFunc(p.idle, func(other *worker) bool { return other == w })
}
