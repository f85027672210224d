package sandboxtest

import (
	"context"
	"maps"
	"sync"

	"sandgate/sandboxclient"
)

// Records keeps a client's records in memory, for a test.
type Records struct {
	mu          sync.Mutex
	records     map[sandboxclient.ID]sandboxclient.Record
	generations map[generationKey]int
}

var _ sandboxclient.Records = (*Records)(nil)

type generationKey struct {
	id      sandboxclient.ID
	context string
}

// NewRecords gives records that hold nothing.
func NewRecords() *Records {
	return &Records{
		records:     make(map[sandboxclient.ID]sandboxclient.Record),
		generations: make(map[generationKey]int),
	}
}

// SaveSandbox inserts or replaces a record.
func (r *Records) SaveSandbox(_ context.Context, record sandboxclient.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if before, ok := r.records[record.ID]; ok {
		record.CreatedAt = before.CreatedAt
	}
	r.records[record.ID] = record
	return nil
}

// ListSandboxes gives the records that are meant.
func (r *Records) ListSandboxes(_ context.Context, which sandboxclient.Which) ([]sandboxclient.Record, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var records []sandboxclient.Record
	for id, record := range r.records {
		if (which.ID == "" || which.ID == id) && (which.Owner == "" || which.Owner == record.Ref.Owner) {
			records = append(records, record)
		}
	}
	return records, nil
}

// DeleteSandbox forgets a sandbox with its generations.
func (r *Records) DeleteSandbox(_ context.Context, id sandboxclient.ID) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.records, id)
	maps.DeleteFunc(r.generations, func(k generationKey, _ int) bool { return k.id == id })
	return nil
}

// Generation counts a context's kernels.
func (r *Records) Generation(_ context.Context, id sandboxclient.ID, codeContext string, started bool) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := generationKey{id, codeContext}
	if started {
		r.generations[key]++
	}
	return r.generations[key], nil
}
