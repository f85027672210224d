package sandboxclient

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"sandgate/sandboxclient/wire"
)

// RunCode runs a cell in a code context, which is made when it is not there.
// Cells of one context run one after the other. When ctx ends, the cell is
// interrupted, unless it was detached; variables are kept. A detached one begins
// even if ctx ends while the sandbox starts.
//
// A program that fails is a Run, not an error.
func (s *Sandbox) RunCode(ctx context.Context, code string, opts RunOptions) (*Run, error) {
	opts.Execution = orDefault(opts.Execution, uuid.NewString())
	t, err := collect(s.RunCodeStream(ctx, code, opts), s.client.opts.Output.Keep)
	if err != nil {
		return nil, s.failure(ctx, "run code", err)
	}
	return &Run{
		Execution:  opts.Execution,
		Stdout:     text(t.stdout.data, t.exit.Truncated),
		Stderr:     text(t.stderr.data, t.exit.Truncated),
		Results:    t.results,
		Exit:       t.exit,
		Start:      t.start.Origin,
		Generation: t.start.Generation,
		Restart:    t.start.Reason,
		Background: t.background,
	}, nil
}

// RunCodeStream is RunCode with the events as they come. An error comes alone
// and first, and means that nothing was started; otherwise the last event, and
// no other, is terminal. Leaving the loop is like the end of ctx.
func (s *Sandbox) RunCodeStream(ctx context.Context, code string, opts RunOptions) iter.Seq2[Event, error] {
	c := s.client
	id := orDefault(opts.Execution, uuid.NewString())
	timeout := s.timeout(opts.Timeout)
	request := wire.RunRequest{
		ID:        id,
		Context:   c.contextSpec(opts),
		Code:      code,
		Stdin:     opts.Stdin,
		TimeoutMS: timeout.Milliseconds(),
		Output:    c.limits(0, 0),
	}
	return s.stream(ctx, launch{
		op: "run code", id: id, timeout: timeout, detach: opts.Detach, insist: opts.Detach, context: request.Context.ID,
		open: post("/v1/run", request),
		told: func(ctx context.Context, l *link, e *Event) {
			if e.Type == wire.EventStart {
				s.tellStart(ctx, &l.origin, request.Context.ID, e.Start, e.Start.KernelStarted)
			}
		},
	})
}

// contextSpec is the code context that a cell asks for.
func (c *Client) contextSpec(opts RunOptions) wire.ContextSpec {
	language := orDefault(opts.Language, wire.Python)
	return wire.ContextSpec{
		ID:       orDefault(opts.Context, DefaultContext(language)),
		Language: language,
		Env:      c.opts.ContextEnv,
	}
}

// DefaultContext is the id of a language's context when none is named.
func DefaultContext(language string) string { return "default-" + language }

// tellStart says how the kernel behind a cell came about, and counts it if it
// was not counted yet. A count that the database does not give is no reason to
// lose a cell that runs: its generation is then not told.
func (s *Sandbox) tellStart(ctx context.Context, from *origin, codeContext string, start *wire.Start, count bool) {
	// The cell runs: its kernel is counted even if the caller has just left.
	ctx = context.WithoutCancel(ctx)
	generation, err := s.client.opts.Records.Generation(ctx, s.id, codeContext, count)
	if err != nil {
		s.client.opts.Logger.Error("kernel was not counted", "sandbox", s.id, "error", err)
		generation = 0
	}
	start.Generation = generation
	reason := orDefault(start.Reason, from.lost)
	start.Reason = ""
	switch {
	case !start.KernelStarted && from.first(codeContext):
		start.Origin = StartWoken
	case !start.KernelStarted:
		start.Origin = StartRunning
	case generation <= 1 && reason == "":
		start.Origin = StartFresh
	default:
		start.Origin, start.Reason = StartRestarted, orDefault(plain(reason), "the sandbox was started anew")
	}
}

// Exec runs a command to its end, with its whole process tree. A command that
// fails is a result, not an error; one that cannot be started is invalid.
func (s *Sandbox) Exec(ctx context.Context, cmd Command) (*ExecResult, error) {
	cmd.Execution = orDefault(cmd.Execution, uuid.NewString())
	t, err := collect(s.ExecStream(ctx, cmd), s.client.limits(cmd.Keep, cmd.Max).Keep)
	if err != nil {
		return nil, s.failure(ctx, "exec", err)
	}
	return &ExecResult{Execution: cmd.Execution, Stdout: t.stdout.data, Stderr: t.stderr.data, Exit: t.exit}, nil
}

// ExecStream is Exec with the events as they come, as RunCodeStream is to RunCode.
func (s *Sandbox) ExecStream(ctx context.Context, cmd Command) iter.Seq2[Event, error] {
	c := s.client
	id := orDefault(cmd.Execution, uuid.NewString())
	timeout := s.timeout(cmd.Timeout)
	request := wire.ExecRequest{
		ID:        id,
		Argv:      cmd.Argv,
		Env:       cmd.Env,
		Dir:       cmd.Dir,
		Stdin:     cmd.Stdin,
		TimeoutMS: timeout.Milliseconds(),
		Output:    c.limits(cmd.Keep, cmd.Max),
	}
	return s.stream(ctx, launch{
		op: "exec", id: id, timeout: timeout, detach: cmd.Detach,
		open: post("/v1/exec", request),
		told: func(context.Context, *link, *Event) {},
	})
}

// post gives the first events of an execution by starting it.
func post(path string, request any) func(context.Context, *link) (*http.Response, error) {
	return func(ctx context.Context, l *link) (*http.Response, error) {
		return l.send(ctx, http.MethodPost, path, nil, request)
	}
}

// Contexts lists the code contexts in the order of their creation. A sandbox
// that does not run has none to show, and is neither started nor woken for the
// question.
func (s *Sandbox) Contexts(ctx context.Context) ([]CodeContext, error) {
	var contexts []CodeContext
	err := s.ifRunning(ctx, "list contexts", func(ctx context.Context, l *link) error {
		return l.call(ctx, http.MethodGet, "/v1/contexts", nil, nil, &contexts)
	})
	return contexts, err
}

// InterruptContext ends the cell that a context runs; its variables are kept.
// A cell that is on its way, because its sandbox still starts, is ended once it
// is there. A context that runs nothing is a conflict.
func (s *Sandbox) InterruptContext(ctx context.Context, codeContext string) error {
	for {
		coming := s.client.arrivals.next(contextKey{s.id, codeContext})
		err := s.interrupt(ctx, codeContext)
		if coming == nil || !nothingRan(err) {
			return err
		}
		select {
		case <-coming:
		case <-ctx.Done():
			return s.failure(ctx, "interrupt", ctx.Err())
		}
	}
}

func (s *Sandbox) interrupt(ctx context.Context, codeContext string) error {
	idle := Errorf(CodeConflict, "Nothing is running here")
	err := s.ifAlive(ctx, "interrupt", false, func(ctx context.Context, l *link) error {
		idle = nil
		return l.call(ctx, http.MethodPost, contextPath(codeContext)+"/interrupt", nil, nil, nil)
	})
	if err == nil && idle != nil {
		return s.failure(ctx, "interrupt", idle)
	}
	return err
}

// nothingRan says whether an interrupt met no cell.
func nothingRan(err error) bool {
	return err != nil && (CodeOf(err) == CodeConflict || CodeOf(err) == CodeNotFound)
}

// DeleteContext ends a context's kernel with everything it started; the next
// cell starts a new one. A context that is not there is no error.
func (s *Sandbox) DeleteContext(ctx context.Context, codeContext string) error {
	err := s.ifAlive(ctx, "delete context", true, func(ctx context.Context, l *link) error {
		return l.call(ctx, http.MethodDelete, contextPath(codeContext), nil, nil, nil)
	})
	if err != nil && CodeOf(err) == CodeNotFound {
		return nil
	}
	return err
}

// Generation counts the kernels that a context ever had.
func (s *Sandbox) Generation(ctx context.Context, codeContext string) (int, error) {
	n, err := s.client.opts.Records.Generation(ctx, s.id, codeContext, false)
	return n, s.failure(ctx, "count kernels", err)
}

func contextPath(id string) string { return "/v1/contexts/" + url.PathEscape(id) }
