package shim

import (
	"context"
	"sync"
	"syscall"
	"time"
)

// killBound is how long a shim may take to end its tree, or to answer, before
// sandboxd takes both over.
const killBound = patience + 2*time.Second

// A tree is a program in a worker.
type tree struct {
	pool   *Pool
	worker *worker
	pid    int
	kill   sync.Once
	done   chan struct{}
	status syscall.WaitStatus // set before done is closed
}

var _ Tree = (*tree)(nil)

func (t *tree) Pid() int { return t.pid }

func (t *tree) Done() <-chan struct{} { return t.done }

func (t *tree) Status() syscall.WaitStatus { return t.status }

func (t *tree) Signal(sig syscall.Signal) error {
	return t.ask(request{Op: opSignal, Signal: sig})
}

func (t *tree) KillSince(since time.Time) error {
	ticks, err := ticksAt(since)
	if err != nil {
		return err
	}
	helper := time.AfterFunc(struggle, func() {
		t.pool.overpower(t, bornSince(t.pid, ticks))
	})
	defer helper.Stop()
	return t.ask(request{Op: opKillSince, Ticks: ticks})
}

// Kill returns at once. The goroutine ends when the tree does: if neither the
// shim nor help manages, losing the shim makes the pool end what is left.
func (t *tree) Kill() {
	t.kill.Do(func() {
		go func() {
			helper := time.AfterFunc(struggle, func() { t.pool.overpower(t, everyProcess) })
			defer helper.Stop()
			_ = t.ask(request{Op: opKill})
			select {
			case <-t.done:
			case <-time.After(t.pool.killBound):
				t.worker.conn.Close()
			}
		}()
	})
}

// ask names the program, as the worker may run another one by now.
func (t *tree) ask(r request) error {
	select {
	case <-t.done:
		return syscall.ESRCH
	default:
	}
	r.Pid = t.pid
	ctx, cancel := context.WithTimeout(context.Background(), t.pool.killBound)
	defer cancel()
	a, err := t.worker.ask(ctx, r, nil)
	if err != nil {
		return err
	}
	if a.Errno != 0 {
		return a.Errno
	}
	return nil
}

func (t *tree) finish(status syscall.WaitStatus) {
	t.status = status
	close(t.done)
}
