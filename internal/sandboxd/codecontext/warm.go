package codecontext

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"sandgate/sandboxclient/wire"
)

const (
	// preloadTimeout bounds the start of an interpreter with modules.
	preloadTimeout = 3 * time.Minute
	maxPreload     = 64
	maxModule      = 256
)

// A warmUp starts an interpreter before there is a cell for it.
type warmUp struct {
	modules []string
	done    chan warmed // holds one
}

type warmed struct {
	failed []wire.FailedPreload
	err    *wire.Error
}

// Warm makes a context and starts its interpreter, and waits for that until ctx
// ends.
func (s *Set) Warm(ctx context.Context, req wire.WarmRequest) (wire.Warmed, error) {
	w := &warmUp{modules: req.Preload, done: make(chan warmed, 1)}
	c, err := s.beginWarm(req, w)
	if err != nil {
		return wire.Warmed{}, err
	}
	select {
	case got := <-w.done:
		if got.err != nil {
			return wire.Warmed{}, got.err
		}
		return wire.Warmed{Context: c.info(), Failed: got.failed}, nil
	case <-ctx.Done():
		return wire.Warmed{}, ctx.Err()
	}
}

func (s *Set) beginWarm(req wire.WarmRequest, w *warmUp) (*codeContext, error) {
	if len(req.Preload) > maxPreload || slices.ContainsFunc(req.Preload, badModule) {
		return nil, fail(wire.CodeInvalid, "The modules to preload are too many, or one has no valid name")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.find(req.ID) != nil {
		return nil, fail(wire.CodeConflict, "There is such a code context already")
	}
	return s.make(req.ContextSpec, w)
}

func badModule(name string) bool {
	return name == "" || len(name) > maxModule || strings.ContainsAny(name, "/\x00")
}

// warmUp is false when there is no interpreter after it.
func (c *codeContext) warmUp(w *warmUp) bool {
	failed, err := c.startWith(Spec{Ahead: true, Preload: w.modules}, preloadTimeout)
	w.done <- warmed{failed, err}
	return err == nil
}

// adapt gives the context in which a cell with this spec runs: the one that is
// there, unless it has waited for a cell and suits this one no more. s.mu is held.
func (s *Set) adapt(c *codeContext, spec wire.ContextSpec) (*codeContext, error) {
	if !c.waiting() {
		return c, nil
	}
	prepared, err := prepare(spec)
	if err != nil {
		return nil, err
	}
	if c.suit(prepared) {
		return c, nil
	}
	s.remove(c)
	c.end()
	return s.make(spec, nil)
}

// waiting says whether no cell has come here yet.
func (c *codeContext) waiting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.warm
}

// suit brings what an interpreter was started with up to date, where that is
// possible. What is new was not known when it was: the way out, say.
func (c *codeContext) suit(spec Spec) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	changes := compare(c.spec.Env, spec.Env)
	if c.spec.Dir != spec.Dir || len(changes) > 0 && !renewable(c.language) {
		return false
	}
	c.spec, c.changes = spec, changes
	return true
}

// changed gives what has changed since the interpreter was started.
func (c *codeContext) changed() map[string]*string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changes
}

// renewable says whether interpreters of a language know how to be one of many.
func renewable(language string) bool { return language == wire.Python }

// compare says which variables an environment gains or loses.
func compare(from, to []string) map[string]*string {
	had, has := variables(from), variables(to)
	changes := make(map[string]*string)
	for name := range had {
		changes[name] = nil
	}
	for name, value := range has {
		changes[name] = new(value)
	}
	maps.DeleteFunc(changes, func(name string, value *string) bool {
		before, was := had[name]
		return was && value != nil && *value == before
	})
	return changes
}

func variables(env []string) map[string]string {
	all := make(map[string]string, len(env))
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		all[name] = value
	}
	return all
}

// Moved says that the sandbox may be one of many that were the same until now.
// An interpreter that waits and cannot draw its random numbers anew is ended:
// the first cell starts another.
func (s *Set) Moved() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range slices.Clone(s.all) {
		if !renewable(c.language) && c.waiting() {
			s.remove(c)
			c.end()
		}
	}
}
