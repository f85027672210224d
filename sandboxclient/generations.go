package sandboxclient

import (
	"context"
	"sync"
)

// countedRecords remembers how many kernels its contexts had, so that a warm
// cell waits for no database. Nobody else counts while the client lives.
type countedRecords struct {
	Records

	mu     sync.Mutex
	counts map[ID]map[string]int // by sandbox and code context
}

func newCountedRecords(r Records) *countedRecords {
	return &countedRecords{Records: r, counts: make(map[ID]map[string]int)}
}

// Generation asks the records when a kernel is to be counted, or when they were
// not asked before.
func (r *countedRecords) Generation(ctx context.Context, id ID, codeContext string, started bool) (int, error) {
	if n, known := r.known(id, codeContext); known && !started {
		return n, nil
	}
	n, err := r.Records.Generation(ctx, id, codeContext, started)
	if err == nil && n > 0 { // who asks for what never was leaves nothing behind
		r.remember(id, codeContext, n)
	}
	return n, err
}

// DeleteSandbox forgets what was counted, whether or not the records do.
func (r *countedRecords) DeleteSandbox(ctx context.Context, id ID) error {
	err := r.Records.DeleteSandbox(ctx, id)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.counts, id)
	return err
}

func (r *countedRecords) known(id ID, codeContext string) (int, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, ok := r.counts[id][codeContext]
	return n, ok
}

func (r *countedRecords) remember(id ID, codeContext string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counts[id] == nil {
		r.counts[id] = make(map[string]int)
	}
	r.counts[id][codeContext] = n
}
