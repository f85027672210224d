package backups

import (
	"context"
	"io"
)

// A making is a backup that has no record yet. What it takes of its owner's room is
// known here alone.
type making struct {
	id    string
	owner string
	room  int64 // bytes that it may still take
	done  int64 // bytes that it took
}

// begin notes that a backup is being made. It may take what there is room for beside
// the owner's others that are under way. The caller ends it.
func (e *Engine) begin(ctx context.Context, id, owner string) (*making, error) {
	e.recording.Lock() // one that is recorded meanwhile would count nowhere
	defer e.recording.Unlock()
	room, err := e.opts.Quota.Room(ctx, owner)
	if err != nil {
		return nil, err
	}
	m := e.join(id, owner, room)
	if m.room <= 0 {
		e.end(m)
		return nil, e.opts.Quota.NoRoom(owner)
	}
	return m, nil
}

func (e *Engine) join(id, owner string, room int64) *making {
	e.mu.Lock()
	defer e.mu.Unlock()
	m := &making{id: id, owner: owner, room: room}
	for _, other := range e.making {
		if other.owner == owner {
			m.room -= other.done
		}
	}
	e.making[id] = m
	return m
}

// take lets a making have so many bytes more, which the owner's others may have no
// longer, if there is room for all of them.
func (e *Engine) take(m *making, n int64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n > 0 && n > m.room {
		return false
	}
	m.done += n
	e.spend(m.owner, n)
	return true
}

// spend takes from the room of all that an owner has under way. e.mu is held.
func (e *Engine) spend(owner string, n int64) {
	for _, m := range e.making {
		if m.owner == owner {
			m.room -= n
		}
	}
}

// keep notes that a backup has its record, by which it counts from now on.
func (e *Engine) keep(m *making) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.making, m.id)
}

// end gives what a backup took back to the owner's others, unless it was kept.
func (e *Engine) end(m *making) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.making[m.id] == nil {
		return
	}
	delete(e.making, m.id)
	e.spend(m.owner, -m.done)
}

func (e *Engine) isMaking(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.making[id] != nil
}

// A ration is what of an archive there is room for.
type ration struct {
	body   io.Reader
	engine *Engine
	making *making
}

// Read implements io.Reader.
func (r ration) Read(p []byte) (int, error) {
	n, err := r.body.Read(p)
	if !r.engine.take(r.making, int64(n)) {
		return 0, r.engine.opts.Quota.NoRoom(r.making.owner)
	}
	return n, err
}
