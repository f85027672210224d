package runs

import (
	"context"
	"slices"
	"sync"
)

// turns lets a bounded number of runs work at once. A bounded number of others
// wait in line, first come, first served.
type turns struct {
	mu      sync.Mutex
	most    int // that work
	room    int // in the line
	working int
	line    []*turn
}

// A turn is one run's place: in the line, then at work, until it is left.
type turn struct {
	turns *turns
	moved chan struct{} // holds something when the place changed
	works bool
}

func newTurns(most, room int) *turns { return &turns{most: most, room: room} }

// join gives a place, nil when the line is full.
func (t *turns) join() *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.working >= t.most && len(t.line) >= t.room {
		return nil
	}
	return t.enter()
}

// rejoin gives a place to a run that had one before a restart, whatever the
// line is like; one that worked goes on at once.
func (t *turns) rejoin(worked bool) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if worked {
		t.working++
		return &turn{turns: t, moved: make(chan struct{}, 1), works: true}
	}
	return t.enter()
}

func (t *turns) enter() *turn {
	p := &turn{turns: t, moved: make(chan struct{}, 1)}
	t.line = append(t.line, p)
	t.advance()
	return p
}

// advance lets those work whose turn it is, and tells the others that they
// moved. t.mu is held.
func (t *turns) advance() {
	n := min(max(t.most-t.working, 0), len(t.line))
	for _, p := range t.line[:n] {
		p.works = true
		p.wake()
	}
	t.working += n
	t.line = slices.Delete(t.line, 0, n)
	for _, p := range t.line {
		p.wake()
	}
}

func (p *turn) wake() {
	select {
	case p.moved <- struct{}{}:
	default:
	}
}

// await returns when it is the run's turn. Meanwhile told is called with its
// place in the line, at first and whenever it changed: 1 is the next one.
func (p *turn) await(ctx context.Context, told func(position int) error) error {
	last := 0
	for {
		position := p.position()
		if position == 0 {
			return nil
		}
		if position != last {
			if err := told(position); err != nil {
				return err
			}
			last = position
		}
		select {
		case <-p.moved:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// position is the place in the line, 0 for who works.
func (p *turn) position() int {
	p.turns.mu.Lock()
	defer p.turns.mu.Unlock()
	return slices.Index(p.turns.line, p) + 1
}

// leave gives the place up. It is called once.
func (p *turn) leave() {
	t := p.turns
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.works {
		t.working--
	}
	t.line = slices.DeleteFunc(t.line, func(other *turn) bool { return other == p })
	t.advance()
}

// load counts those who work and those who wait.
func (t *turns) load() (working, waiting int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.working, len(t.line)
}
