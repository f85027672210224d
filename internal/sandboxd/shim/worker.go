package shim

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// errLost means that the shim is gone, or talks nonsense.
var errLost = errors.New("shim: lost")

// A worker is one shim process as sandboxd sees it.
type worker struct {
	pid     int
	conn    conn
	answers chan reply
	lost    chan struct{} // closed when the connection is

	asking sync.Mutex // one request at a time

	mu   sync.Mutex
	tree *tree // nil while it runs no program
}

// spawn starts a shim process; its connection is not read yet.
func spawn(exe string, args []string) (*worker, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	theirs := os.NewFile(uintptr(pair[1]), "shim")
	defer theirs.Close()
	c, err := newConn(os.NewFile(uintptr(pair[0]), "shim"))
	if err != nil {
		return nil, err
	}
	pid, err := startShim(exe, args, theirs)
	if err != nil {
		c.Close()
		return nil, err
	}
	return &worker{pid: pid, conn: c, answers: make(chan reply, 1), lost: make(chan struct{})}, nil
}

// read hands answers on until the connection ends. It calls ended when a
// program has left processes behind, and gone when nothing is left of it.
func (w *worker) read(ended func(*worker), gone func(*worker, syscall.WaitStatus)) {
	defer close(w.lost)
	defer w.conn.Close()
	for {
		var r reply
		fds, err := w.conn.receive(&r)
		closeAll(fds)
		if err != nil {
			return
		}
		switch r.Op {
		case opEnded:
			ended(w)
		case opGone:
			gone(w, r.Status)
		default:
			if !w.answer(r) {
				return
			}
		}
	}
}

// answer is false for an answer that nobody asked for.
func (w *worker) answer(r reply) bool {
	select {
	case w.answers <- r:
		return true
	default:
		return false
	}
}

// release takes the tree from the worker, nil if it has none.
func (w *worker) release() *tree {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.tree
	w.tree = nil
	return t
}

func (w *worker) current() *tree {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tree
}

func (w *worker) runs(t *tree) bool { return w.current() == t }

// start hands the program over. The worker has the tree before the answer comes,
// for the program can be gone even before that.
func (w *worker) start(ctx context.Context, t *tree, path string, cmd Command) error {
	w.mu.Lock()
	w.tree = t
	w.mu.Unlock()
	r := request{Op: opStart, Path: []byte(path), Argv: toBytes(cmd.Argv), Env: toBytes(cmd.Env), Dir: []byte(cmd.Dir)}
	a, err := w.ask(ctx, r, cmd.Files)
	if err != nil {
		return err
	}
	if a.Errno != 0 {
		w.release()
		return &StartError{Argv0: cmd.Argv[0], Errno: a.Errno}
	}
	t.pid = a.Pid
	return nil
}

// ask sends a request and waits for its answer. When ctx ends first the shim is
// given up, as the late answer would pass for that of the next request.
func (w *worker) ask(ctx context.Context, r request, files []*os.File) (reply, error) {
	w.asking.Lock()
	defer w.asking.Unlock()
	if err := w.conn.send(r, files); err != nil {
		w.conn.Close()
		return reply{}, errLost
	}
	select {
	case a := <-w.answers:
		return a, nil
	case <-w.lost:
		return reply{}, errLost
	case <-ctx.Done():
		w.conn.Close()
		return reply{}, ctx.Err()
	}
}
