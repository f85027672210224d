package kernel

import (
	"context"
	"sync"
	"time"

	"sandgate/internal/sandboxd/awake"
	"sandgate/internal/sandboxd/memory"
	"sandgate/internal/sandboxd/shim"
	"sandgate/sandboxclient/wire"
)

const (
	// grace is what a cell is given to end after an interrupt.
	grace = 2 * time.Second
	// lossGrace is what a process may take to end after its control channel
	// has: how it ends by itself tells more.
	lossGrace = time.Second
	// closeBound is how long Close waits for the process to be gone.
	closeBound = 10 * time.Second
)

// Why we end a kernel.
const (
	reasonClosed   = "ended with its code context"
	reasonHeedless = "killed: it did not end after an interrupt"
	reasonChannel  = "killed: it closed or broke its control channel"
)

// Spec says what to start.
type Spec struct {
	Language string
	Dir      string
	Env      []string
	Ahead    bool     // nobody has a cell for it yet; the first is to find it like one that was just started
	Preload  []string // with Ahead: modules to import before the first cell
}

// Cell is one piece of code to run.
type Cell struct {
	Code  string
	Stdin []byte
	// Env is what has changed in the environment of a kernel that was started
	// ahead, for the first of its cells; nil unsets.
	Env map[string]*string
}

// Kernel is a living interpreter. One cell runs at a time.
type Kernel struct {
	lang   language
	ahead  bool
	clock  *awake.Clock
	tree   shim.Tree
	engine string
	failed []wire.FailedPreload
	pipes  pipes

	running   sync.Mutex // held by Run, which has all down to the next blank line
	cells     int
	intake    *intake
	backlog   backlog
	collector *collector // has intake and backlog between cells

	mu     sync.Mutex
	reason string // why we ended it, if we did

	outOfMemory bool // that is the reason

	done chan struct{}
}

// Start starts an interpreter and waits until it is ready, with its modules
// imported.
func Start(ctx context.Context, starter shim.Starter, clock *awake.Clock, spec Spec) (*Kernel, error) {
	return startIn(ctx, programsDir, starter, clock, spec)
}

func startIn(ctx context.Context, dir string, starter shim.Starter, clock *awake.Clock, spec Spec) (*Kernel, error) {
	lang, err := lookup(spec.Language)
	if err != nil {
		return nil, err
	}
	if len(spec.Preload) > 0 && !lang.preloads {
		return nil, &wire.Error{Code: wire.CodeUnsupported, Message: "Modules can be preloaded in Python only"}
	}
	program, err := install(dir, lang)
	if err != nil {
		return nil, err
	}
	ours, theirs, err := newPipes()
	if err != nil {
		return nil, err
	}
	argv, env := lang.command(program, spec.Env)
	tree, err := starter.Start(ctx, shim.Command{Argv: argv, Env: env, Dir: spec.Dir, Files: theirs})
	closeAll(theirs)
	if err != nil {
		ours.close()
		return nil, err
	}
	k := &Kernel{
		lang:   lang,
		ahead:  spec.Ahead,
		clock:  clock,
		tree:   tree,
		pipes:  ours,
		intake: newIntake(ours.stdout, ours.stderr, ours.replies, tree.Pid()),
		done:   make(chan struct{}),
	}
	go k.watch()
	if err := k.awaitReady(ctx, spec); err != nil {
		return nil, err
	}
	return k, nil
}

// watch ends with the process.
func (k *Kernel) watch() {
	<-k.tree.Done()
	if why, struck := memory.Struck(k.tree); struck {
		k.mu.Lock()
		k.reason, k.outOfMemory = why, true
		k.mu.Unlock()
	}
	k.pipes.requests.Close()
	close(k.done)
}

// Engine says what runs the cells: "ipython" or "python".
func (k *Kernel) Engine() string { return k.engine }

// Failed tells which modules could not be imported, and why.
func (k *Kernel) Failed() []wire.FailedPreload { return k.failed }

// Pid is the process id of the interpreter.
func (k *Kernel) Pid() int { return k.tree.Pid() }

// Done is closed when the process is gone, with all that it started.
func (k *Kernel) Done() <-chan struct{} { return k.done }

// Died says why the process ended; empty while Done is open.
func (k *Kernel) Died() string {
	select {
	case <-k.done:
	default:
		return ""
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.reason != "" {
		return k.reason
	}
	return describe(k.tree.Status())
}

// kill ends the process, unless it is gone; the first reason is the one that counts.
func (k *Kernel) kill(reason string) {
	select {
	case <-k.done:
		return
	default:
	}
	k.mu.Lock()
	if k.reason == "" {
		k.reason = reason
	}
	k.mu.Unlock()
	k.tree.Kill()
}

// Close kills the kernel with all it started and waits for it, some seconds at most.
func (k *Kernel) Close() {
	k.kill(reasonClosed)
	select {
	case <-k.done:
	case <-time.After(closeBound):
		k.pipes.close() // whoever reads from it must not wait for ever
	}
}
