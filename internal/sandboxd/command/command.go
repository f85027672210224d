// Package command runs one command to its end, with all that it started.
package command

import (
	"context"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"sandgate/internal/sandboxd/execution"
	"sandgate/internal/sandboxd/launch"
	"sandgate/internal/sandboxd/memory"
	"sandgate/internal/sandboxd/shim"
	"sandgate/sandboxclient/wire"
)

const (
	// grace is what a program has between SIGTERM and the end of its tree.
	grace = 500 * time.Millisecond
	// drain is how long output is read after the tree is gone: all of it lies
	// in the pipes by then, but their ends may have been passed to strangers.
	drain = time.Second
)

// Start starts the command and returns; the execution is completed when the
// command has ended. On an error nothing has been started.
func Start(starter shim.Starter, x *execution.Execution, req wire.ExecRequest) error {
	cmd, err := prepare(req)
	if err != nil {
		return err
	}
	p, err := openPipes()
	if err != nil {
		return launch.Error(&shim.StartError{Argv0: req.Argv[0], Errno: syscall.EMFILE})
	}
	cmd.Files = p.theirs
	elapsed := x.Stopwatch()
	tree, err := starter.Start(x.Context(), cmd)
	p.closeTheirs()
	if err != nil {
		p.closeOurs()
		return refusal(x, err)
	}
	x.Emit(wire.Event{Type: wire.EventStart, Start: &wire.Start{}})
	r := run{execution: x, tree: tree, pipes: p, elapsed: elapsed}
	go r.toTheEnd(req)
	return nil
}

func refusal(x *execution.Execution, err error) error {
	if x.Context().Err() != nil {
		return &wire.Error{Code: wire.CodeConflict, Message: "The execution was canceled before it began."}
	}
	return launch.Error(err)
}

func prepare(req wire.ExecRequest) (shim.Command, error) {
	if err := launch.Argv(req.Argv); err != nil {
		return shim.Command{}, err
	}
	dir, err := launch.Dir(req.Dir)
	if err != nil {
		return shim.Command{}, err
	}
	env, err := launch.Env(req.Env)
	if err != nil {
		return shim.Command{}, err
	}
	return shim.Command{Argv: req.Argv, Env: env, Dir: dir}, nil
}

// A run is a command that has been started.
type run struct {
	execution *execution.Execution
	tree      shim.Tree
	pipes     *pipes
	elapsed   func() float64 // since it was to be started
}

// toTheEnd returns when the tree is gone and its output read.
func (r run) toTheEnd(req wire.ExecRequest) {
	ctx, stop := r.execution.Within(time.Duration(req.TimeoutMS) * time.Millisecond)
	defer stop()
	var streams sync.WaitGroup
	streams.Go(func() { r.copy(wire.EventStdout, r.pipes.stdout) })
	streams.Go(func() { r.copy(wire.EventStderr, r.pipes.stderr) })
	streams.Go(func() { r.pipes.feed(req.Stdin) })

	status := r.await(ctx)
	took := r.elapsed()
	r.pipes.drain()
	streams.Wait()
	r.pipes.closeOurs()
	if _, struck := memory.Struck(r.tree); struck && status == "" && r.tree.Status() != 0 {
		status = wire.StatusOOMKilled
	}
	r.execution.Complete(exit(r.tree.Status(), status, took))
}

// await waits for the tree to be gone; it is empty unless the end came from us.
func (r run) await(ctx context.Context) wire.Status {
	select {
	case <-r.tree.Done():
		return ""
	case <-ctx.Done():
	}
	select {
	case <-r.tree.Done(): // it was quicker
		return ""
	default:
	}
	status, ok := execution.Cause(ctx)
	if !ok {
		status = wire.StatusCanceled
	}
	if status != wire.StatusOutputLimited {
		r.terminate()
	}
	r.tree.Kill()
	<-r.tree.Done()
	return status
}

// terminate lets the program end by itself.
func (r run) terminate() {
	if r.tree.Signal(syscall.SIGTERM) != nil {
		return
	}
	select {
	case <-r.tree.Done():
	case <-time.After(grace):
	}
}

// copy passes output on until the pipe's other end is closed.
func (r run) copy(stream string, from *os.File) {
	buf := make([]byte, wire.MaxChunk)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			r.execution.Emit(wire.Event{Type: stream, Data: buf[:n]})
		}
		if err != nil {
			return
		}
	}
}

// exit tells how the program ended; a status of ours goes before what the
// program made of it.
func exit(ws syscall.WaitStatus, ours wire.Status, took float64) wire.Exit {
	e := wire.Exit{
		Status:     wire.StatusExited,
		ExitCode:   ws.ExitStatus(),
		DurationMS: took,
	}
	if ws.Signaled() {
		e.Status = wire.StatusSignaled
		e.ExitCode = 128 + int(ws.Signal())
		e.Signal = unix.SignalName(ws.Signal())
	}
	if ours != "" {
		e.Status = ours
	}
	return e
}
