package quota

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// ErrFull says that nobody else may wait.
var ErrFull = errors.New("too many wait already")

// Turns lets a bounded number in at once, and as many more wait. The next turn is
// one of the owner who holds the fewest, and of those the one who waits longest.
// When no more may wait, the owner with the most waiting gives up its newest place
// to one who has fewer. One owner may be bounded to fewer turns than there are, so
// that something is left for others however long it holds its own.
type Turns struct {
	most int
	each int // of one owner

	mu      sync.Mutex
	held    map[string]int
	holding int
	waiting []*waiter // in the order in which they came
}

type waiter struct {
	owner string
	turn  chan bool // true: it is in; false: it lost its place. Holds one
}

// NewTurns makes turns for that many at once, of which one owner has so many as
// each says.
func NewTurns(most, each int) *Turns { return &Turns{most: most, each: each, held: map[string]int{}} }

// Load tells how many are in and how many wait.
func (t *Turns) Load() (holding, waiting int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.holding, len(t.waiting)
}

// Enter waits for a turn of an owner until ctx ends. Whoever was let in must Leave.
func (t *Turns) Enter(ctx context.Context, owner string) error {
	w, err := t.line(owner)
	if w == nil {
		return err
	}
	select {
	case in := <-w.turn:
		return errorUnless(in)
	case <-ctx.Done():
	}
	if t.giveUp(w) {
		return ctx.Err()
	}
	if in := <-w.turn; in { // it came in this very moment
		t.Leave(owner)
		return ctx.Err()
	}
	return ErrFull
}

func errorUnless(in bool) error {
	if in {
		return nil
	}
	return ErrFull
}

// Leave gives the turn to somebody else.
func (t *Turns) Leave(owner string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.holding--
	if t.held[owner]--; t.held[owner] <= 0 {
		delete(t.held, owner)
	}
	next := t.next()
	if next < 0 {
		return
	}
	w := t.waiting[next]
	t.waiting = slices.Delete(t.waiting, next, next+1)
	t.enter(w.owner)
	w.turn <- true
}

// next finds whose turn it is, -1 if nobody waits who may enter.
func (t *Turns) next() int {
	next, fewest := -1, t.each
	for i, w := range t.waiting {
		if held := t.held[w.owner]; held < fewest {
			next, fewest = i, held
		}
	}
	return next
}

// line lets an owner in, or gives it a place to wait, if there is one.
func (t *Turns) line(owner string) (*waiter, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.holding < t.most && t.held[owner] < t.each {
		t.enter(owner)
		return nil, nil
	}
	if len(t.waiting) >= t.most && !t.makeRoom(owner) {
		return nil, ErrFull
	}
	w := &waiter{owner: owner, turn: make(chan bool, 1)}
	t.waiting = append(t.waiting, w)
	return w, nil
}

func (t *Turns) enter(owner string) {
	t.holding++
	t.held[owner]++
}

// makeRoom takes the newest place from the owner with the most, if the one who
// comes has fewer even with that place.
func (t *Turns) makeRoom(owner string) bool {
	places := map[string]int{}
	greediest := owner
	for _, w := range t.waiting {
		places[w.owner]++
		if places[w.owner] > places[greediest] {
			greediest = w.owner
		}
	}
	if places[greediest] <= places[owner]+1 {
		return false
	}
	for i, w := range slices.Backward(t.waiting) {
		if w.owner == greediest {
			t.waiting = slices.Delete(t.waiting, i, i+1)
			w.turn <- false
			return true
		}
	}
	return false
}

// giveUp takes a waiter out of the line, if it is still in it.
func (t *Turns) giveUp(w *waiter) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.waiting, w)
	if i < 0 {
		return false
	}
	t.waiting = slices.Delete(t.waiting, i, i+1)
	return true
}
