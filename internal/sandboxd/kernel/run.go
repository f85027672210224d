package kernel

import (
	"context"
	"errors"
	"strings"
	"time"

	"sandgate/internal/sandboxd/memory"
	"sandgate/sandboxclient/wire"
)

const (
	// insistence is the time between two signals until one of them arrives.
	insistence = 100 * time.Millisecond
	// takeBound is how long an idle kernel may take to read a cell.
	takeBound = 10 * time.Second
	// lastWordsBound is how long output is awaited from a process that is gone.
	lastWordsBound = time.Second
	// interruptedCode is the exit code of a cell that was interrupted: 128 and SIGINT.
	interruptedCode = 130
)

// Run runs one cell and emits its stdout, stderr and result events (Seq and
// Time unset), and warnings, in order, from the caller's goroutine. When ctx
// ends, the cell is interrupted, then after a grace period the kernel is
// killed; the wire.Status that is the cause of ctx's end is the cell's status.
// What was started by the cell dies with the interrupt. It always returns an Exit.
func (k *Kernel) Run(ctx context.Context, cell Cell, emit func(wire.Event)) wire.Exit {
	k.running.Lock()
	defer k.running.Unlock()
	if ctx.Err() != nil {
		return wire.Exit{Status: causeOf(ctx), ExitCode: interruptedCode, ExecutionCount: k.cells}
	}
	k.collector.end()
	defer func() { k.collector = startCollector(k) }()
	for _, event := range k.backlog.take() {
		emit(event)
	}
	k.cells++
	r := &run{k: k, id: k.cells, ctx: ctx, emit: emit, began: time.Now()}
	exit := r.run(cell)
	exit.DurationMS = float64(time.Since(r.began).Microseconds()) / 1000
	exit.ExecutionCount = r.id
	return exit
}

// A run is one cell on its way.
type run struct {
	k       *Kernel
	id      int
	ctx     context.Context
	emit    func(wire.Event)
	began   time.Time
	results showcase

	interruption interruption
	loss         <-chan time.Time
}

func (r *run) run(cell Cell) wire.Exit {
	r.loss = r.k.lossTimer()
	if err := r.k.request(r.ctx, r.id, cell); err != nil {
		r.loss = time.After(lossGrace) // nobody reads at the other end, or not in time
	}
	for ended := r.ctx.Done(); ; {
		select {
		case got := <-r.k.intake.ch:
			if done := r.accept(got); done != nil {
				return r.finish(done)
			}
		case <-ended:
			ended = nil
			r.interrupt()
		case <-r.interruption.again:
			r.insist()
		case <-r.interruption.grace:
			r.k.kill(reasonHeedless)
		case <-r.loss:
			r.k.kill(reasonChannel)
		case <-r.k.done:
			return r.died()
		}
	}
}

// causeOf says why a cell was ended.
func causeOf(ctx context.Context) wire.Status {
	if status, ok := errors.AsType[wire.Status](context.Cause(ctx)); ok {
		return status
	}
	return wire.StatusCanceled
}

// request hands a cell to the program.
func (k *Kernel) request(ctx context.Context, id int, cell Cell) error {
	frame, err := k.lang.request(id, cell, k.ahead && id == 1)
	if err != nil {
		return err
	}
	return k.send(ctx, frame)
}

// send writes a request, which an idle kernel reads in no time.
func (k *Kernel) send(ctx context.Context, frame []byte) error {
	if err := k.pipes.requests.SetWriteDeadline(time.Now().Add(takeBound)); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = k.pipes.requests.SetWriteDeadline(longAgo) })
	defer stop()
	_, err := k.pipes.requests.Write(frame)
	return err
}

// accept handles what the process sent; it gives the reply that ends the cell.
func (r *run) accept(got incoming) *reply {
	r.k.intake.note(got)
	r.output(got)
	if got.ended && got.from == fromReplies {
		r.loss = r.k.lossTimer()
	}
	if got.reply == nil || got.reply.ID != r.id {
		return nil
	}
	switch got.reply.Type {
	case replyResult:
		r.results.show(got.reply, r.emit)
	case replyInterrupted:
		r.interruption.arrived()
	case replyDone:
		return got.reply
	}
	return nil
}

func (r *run) output(got incoming) {
	if len(got.chunk) > 0 {
		r.emit(wire.Event{Type: got.from, Data: got.chunk})
	}
}

// finish ends a cell that the program says has ended.
func (r *run) finish(done *reply) wire.Exit {
	r.k.intake.drain(r.output)
	if why, struck := memory.Struck(r.k.tree); struck {
		r.emit(wire.Event{Type: wire.EventWarning, Code: "out_of_memory", Message: "A process of this cell was ended, " + why})
	}
	failure := boundedError(done.Error)
	if !r.interruption.begun {
		r.print(failure)
		return exitWith(done.ExitCode, failure)
	}
	r.endInterruption()
	exit := wire.Exit{Status: causeOf(r.ctx), ExitCode: interruptedCode}
	if failure != nil && !done.Interrupted {
		r.print(failure)
		exit.Error = failure
	}
	return exit
}

func exitWith(code int, failure *wire.CodeError) wire.Exit {
	exit := wire.Exit{Status: wire.StatusExited, ExitCode: code & 0xff, Error: failure}
	if failure != nil {
		exit.ExitCode = 1
	}
	return exit
}

// print shows a traceback as an interpreter would.
func (r *run) print(failure *wire.CodeError) {
	if failure == nil || len(failure.Traceback) == 0 {
		return
	}
	text := []byte(strings.Join(failure.Traceback, "\n") + "\n")
	for len(text) > 0 {
		n := min(len(text), wire.MaxChunk)
		r.emit(wire.Event{Type: wire.EventStderr, Data: text[:n]})
		text = text[n:]
	}
}

// died ends a cell whose process is gone, with the cell or just after it.
func (r *run) died() wire.Exit {
	done := r.lastWords()
	if done != nil {
		return r.finish(done)
	}
	exit := exitOf(r.k.tree.Status())
	exit.KernelDied = r.k.Died()
	if r.k.outOfMemory { // written before done was closed
		exit.Status = wire.StatusOOMKilled
		r.print(&wire.CodeError{Traceback: []string{exit.KernelDied}})
	}
	if r.interruption.begun {
		r.interruption.pending.Wait()
		exit.Status = causeOf(r.ctx)
	}
	return exit
}

// lastWords passes on what a process has left in its pipes, and gives the reply
// that ends the cell, if it is among that.
func (r *run) lastWords() (done *reply) {
	bound := time.After(lastWordsBound)
	for r.k.intake.open > 0 {
		select {
		case got := <-r.k.intake.ch:
			if reply := r.accept(got); reply != nil {
				done = reply
			}
		case <-bound:
			return done
		}
	}
	return done
}
