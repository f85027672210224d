package sandboxclient

import "sync"

// arrivals are the cells on their way to a code context: their sandbox is still
// starting, or sandboxd has not taken them yet. Whoever wants to steer such a
// cell waits until it can be reached.
type arrivals struct {
	mu sync.Mutex
	at map[contextKey]*arriving
}

// contextKey names a code context.
type contextKey struct {
	sandbox ID
	context string
}

type arriving struct {
	cells int
	next  chan struct{} // closed when the next of them has arrived, or never will
}

// expect counts a cell that sets out. The function that it gives says that the
// cell has arrived, or never will; more than once is fine.
func (a *arrivals) expect(key contextKey) (arrived func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.at == nil {
		a.at = make(map[contextKey]*arriving)
	}
	coming := a.at[key]
	if coming == nil {
		coming = &arriving{next: make(chan struct{})}
		a.at[key] = coming
	}
	coming.cells++
	return sync.OnceFunc(func() { a.arrive(key, coming) })
}

func (a *arrivals) arrive(key contextKey, coming *arriving) {
	a.mu.Lock()
	defer a.mu.Unlock()
	close(coming.next)
	coming.next = make(chan struct{})
	if coming.cells--; coming.cells == 0 {
		delete(a.at, key)
	}
}

// next is closed when one more cell has arrived; nil when none is on its way.
func (a *arrivals) next(key contextKey) <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if coming := a.at[key]; coming != nil {
		return coming.next
	}
	return nil
}
