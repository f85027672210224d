// Package codecontext keeps code contexts: interpreters whose variables persist
// from cell to cell.
//
// A context is made by the first cell that names it. Its cells run one after
// the other in the order of their arrival; when the interpreter has died, the
// next cell starts another one and says so.
//
// Or a context is made ahead, and its interpreter waits for the first cell. To
// that cell it looks as if it had been started then, and it is told to draw its
// random numbers anew: the sandbox may be one of many by now.
package codecontext

import (
	"context"
	"slices"
	"strings"
	"sync"
	"unicode"

	"sandgate/internal/sandboxd/awake"
	"sandgate/internal/sandboxd/execution"
	"sandgate/internal/sandboxd/launch"
	"sandgate/sandboxclient/wire"
)

// Bounds of a set.
const (
	maxContexts = 16
	maxQueue    = 64 // cells of one context
	maxID       = 128
	maxDeleted  = 64 // whose end is still to be told
)

// Spec says what interpreter to start.
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
	Env   map[string]*string // what has changed in the environment, for the first of those that an interpreter ahead runs
}

// An Interpreter is a living process that runs one cell at a time.
type Interpreter interface {
	// Run runs a cell, and always returns how that ended. When ctx ends the
	// cell is, with the status that is its cause.
	Run(ctx context.Context, cell Cell, emit func(wire.Event)) wire.Exit
	// Done is closed when the process is gone; Died then says why.
	Done() <-chan struct{}
	Died() string
	// Close ends it with all it started, also while a cell runs, and may be
	// called twice.
	Close()
}

// A StartFunc starts an interpreter.
type StartFunc func(ctx context.Context, spec Spec) (Started, error)

// Started is an interpreter that is ready for its first cell.
type Started struct {
	Interpreter Interpreter
	Engine      string // what runs the cells
	Failed      []wire.FailedPreload
}

// A Set is the code contexts of a sandbox, in the order of their making.
type Set struct {
	start StartFunc
	clock *awake.Clock

	mu     sync.Mutex
	all    []*codeContext
	closed bool

	deleted map[string]string // by id, what the next context with it says of the one before
}

// NewSet makes an empty set.
func NewSet(start StartFunc, clock *awake.Clock) *Set {
	return &Set{start: start, clock: clock, deleted: make(map[string]string)}
}

// Run queues the cell, in a context that is made if need be. On an error the
// execution has not begun; otherwise it is ended by the context.
func (s *Set) Run(x *execution.Execution, req wire.RunRequest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.ensure(req.Context)
	if err != nil {
		return err
	}
	return c.enqueue(x, req)
}

// ensure finds or makes a context. s.mu is held, so two first cells make one.
func (s *Set) ensure(spec wire.ContextSpec) (*codeContext, error) {
	if c := s.find(spec.ID); c != nil {
		if c.language != spec.Language {
			return nil, fail(wire.CodeConflict, "The code context speaks "+c.language)
		}
		return s.adapt(c, spec)
	}
	return s.make(spec, nil)
}

// make makes a context; with a warm-up its interpreter is started at once. s.mu
// is held.
func (s *Set) make(spec wire.ContextSpec, w *warmUp) (*codeContext, error) {
	switch {
	case s.closed:
		return nil, fail(wire.CodeUnavailable, "The sandbox is ending")
	case !validID(spec.ID):
		return nil, fail(wire.CodeInvalid, "The code context's id is not valid")
	case len(s.all) >= maxContexts:
		return nil, fail(wire.CodeExhausted, "Too many code contexts live in this sandbox")
	}
	prepared, err := prepare(spec)
	if err != nil {
		return nil, err
	}
	c := newContext(s, spec.ID, prepared, s.deleted[spec.ID])
	c.warm = w != nil
	delete(s.deleted, spec.ID)
	s.all = append(s.all, c)
	go c.live(w)
	return c, nil
}

func prepare(spec wire.ContextSpec) (Spec, error) {
	dir, err := launch.Dir(spec.Dir)
	if err != nil {
		return Spec{}, err
	}
	env, err := launch.Env(spec.Env)
	return Spec{Language: spec.Language, Dir: dir, Env: env}, err
}

func validID(id string) bool {
	return id != "" && len(id) <= maxID && !strings.ContainsFunc(id, func(c rune) bool {
		return c == '/' || c == unicode.ReplacementChar || !unicode.IsPrint(c)
	})
}

// find gives nil when there is no such context. s.mu is held.
func (s *Set) find(id string) *codeContext {
	for _, c := range s.all {
		if c.id == id {
			return c
		}
	}
	return nil
}

// List describes all contexts.
func (s *Set) List() []wire.ContextInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	infos := make([]wire.ContextInfo, 0, len(s.all))
	for _, c := range s.all {
		infos = append(infos, c.info())
	}
	return infos
}

// Interrupt cancels the running cell.
func (s *Set) Interrupt(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.find(id)
	if c == nil {
		return notFound()
	}
	if !c.interrupt() {
		return fail(wire.CodeConflict, "Nothing is running here")
	}
	return nil
}

// Delete ends a context with all it started, and waits for that until ctx ends.
// Its cells, also those that wait, end as canceled.
func (s *Set) Delete(ctx context.Context, id string) error {
	s.mu.Lock()
	c := s.find(id)
	s.remove(c)
	if c != nil && !c.waiting() && len(s.deleted) < maxDeleted { // else nothing is lost with it
		s.deleted[id] = "it was restarted on request"
	}
	s.mu.Unlock()
	if c == nil {
		return notFound()
	}
	c.end()
	select {
	case <-c.gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close ends all contexts and waits for that.
func (s *Set) Close() {
	s.mu.Lock()
	all := s.all
	s.all, s.closed = nil, true
	s.mu.Unlock()
	for _, c := range all {
		c.end()
	}
	for _, c := range all {
		<-c.gone
	}
}

// remove takes a context from the list; nobody finds it any more. s.mu is held.
func (s *Set) remove(c *codeContext) {
	s.all = slices.DeleteFunc(s.all, func(other *codeContext) bool { return other == c })
}

// discard removes a context that never had an interpreter, unless a cell waits.
func (s *Set) discard(c *codeContext) (discarded bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !c.unused() {
		return false
	}
	s.remove(c)
	return true
}

func fail(code, message string) *wire.Error {
	return &wire.Error{Code: code, Message: message}
}

func notFound() error { return fail(wire.CodeNotFound, "There is no such code context") }
