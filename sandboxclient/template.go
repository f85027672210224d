package sandboxclient

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"sandgate/sandboxclient/wire"
)

const (
	// templateApp is the app of sandboxes that become templates.
	templateApp = "template"
	// warmTime bounds the start of an interpreter with all that it imports.
	warmTime = 2 * time.Minute
	// prepareEvery is how often is looked whether the template is still of use.
	prepareEvery = time.Minute
)

// Warmth is what the sandboxes of some apps begin with: a Python interpreter
// that has started, with modules imported.
type Warmth struct {
	Apps    []string // none: no sandbox begins warm
	Preload []string // modules
}

// spec is what the driver is told of a sandbox.
func (c *Client) spec(id ID, ref Ref) Spec {
	spec := Spec{ID: id, Limits: c.opts.limitsOf(ref.App)}
	if c.templater != nil && (ref.App == poolApp || slices.Contains(c.opts.Warmth.Apps, ref.App)) {
		spec.Template = c.templateName()
	}
	return spec
}

// templateName tells memories apart that were warmed in other ways.
func (c *Client) templateName() string {
	data, _ := json.Marshal([]any{c.opts.Warmth.Preload, c.opts.ContextEnv}) // strings alone: it cannot fail
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// Prepare keeps a template at hand for sandboxes that begin warm, and the pool
// filled, until ctx ends. Without the powers that it takes it returns at once.
func (c *Client) Prepare(ctx context.Context) {
	if c.templater == nil || len(c.opts.Warmth.Apps) == 0 {
		return
	}
	tick := time.NewTicker(prepareEvery)
	defer tick.Stop()
	for {
		if err := c.prepare(ctx); err != nil && ctx.Err() == nil {
			c.opts.Logger.Error("no template could be made: fresh sandboxes begin cold", "error", err)
		}
		c.fill(ctx)
		select {
		case <-ctx.Done():
			return
		case <-c.refill:
		case <-tick.C:
		}
	}
}

// prepare makes the template unless there is one.
func (c *Client) prepare(ctx context.Context) error {
	spec := Spec{Limits: c.opts.Limits, Template: c.templateName()}
	if c.templater.HasTemplate(spec) {
		return nil
	}
	began := time.Now()
	s := c.Sandbox(Ref{App: templateApp, Name: uuid.NewString(), Ephemeral: true})
	spec.ID = s.id
	err := s.warm(ctx)
	if err == nil {
		err = s.becomeTemplate(ctx, spec)
	}
	if err != nil { // when ctx is over, Close sees to its end
		return errors.Join(err, s.Destroy(ctx, RemoveWorkspace))
	}
	c.opts.Logger.Info("template made: fresh sandboxes begin warm", "took", time.Since(began))
	return nil
}

// warm starts the interpreter that the first cell will find.
func (s *Sandbox) warm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, warmTime)
	defer cancel()
	request := wire.WarmRequest{ContextSpec: s.client.contextSpec(RunOptions{}), Preload: s.client.opts.Warmth.Preload}
	var warmed wire.Warmed
	err := s.with(ctx, "warm", func(ctx context.Context, l *link) error {
		return l.call(ctx, http.MethodPost, "/v1/contexts", nil, request, &warmed)
	})
	for _, failed := range warmed.Failed {
		s.client.opts.Logger.Warn("a module cannot be preloaded", "module", plain(failed.Module), "error", plain(failed.Message))
	}
	return err
}

// becomeTemplate has the driver keep the sandbox's memory, and ends it.
func (s *Sandbox) becomeTemplate(ctx context.Context, spec Spec) error {
	l := s.client.lifecycle(s.id, s.ref)
	l.mu.Lock()
	if l.link == nil || l.busy > 0 || l.flight != nil {
		l.mu.Unlock()
		return fmt.Errorf("the sandbox %s was lost while it warmed up", s.id)
	}
	link := l.link
	l.link = nil
	f := l.fly(&flight{ends: true}, func() error {
		l.asked.Wait() // a second at most
		link.close()
		defer l.client.census.leave(l.ref.Owner)
		ctx, cancel := context.WithTimeout(context.Background(), l.client.opts.StartTimeout)
		defer cancel()
		err := l.client.templater.MakeTemplate(ctx, spec)
		return errors.Join(err, l.destroy(ctx, "its memory is a template now", RemoveWorkspace))
	})
	l.mu.Unlock()
	if !f.landed(ctx) {
		return contextError(ctx)
	}
	return f.err
}
