package execution

import "sync/atomic"

// What all logs have in memory together is a small part of the sandbox's, for
// garbage comes to as much again; and what one may have of it however many
// there are.
const (
	memoryShare = 32
	minMemory   = 4 << 20
	someMemory  = 32 << 20 // where the sandbox's is unknown
	maxMemory   = 64 << 20
	minShare    = 1 << 20
)

// A budget is shared by all logs. Once it is used up, a log that grows has no
// more in memory than its fair share, and so pays for itself: what is held is
// less than twice the budget, and who prints little loses nothing to who floods.
type budget struct {
	limit int64
	least int64 // of a share
	used  atomic.Int64
	logs  atomic.Int64
}

// newBudget is one of a sandbox with so much memory.
func newBudget(memory int64) *budget {
	limit := int64(someMemory)
	if memory > 0 {
		limit = min(max(memory/memoryShare, minMemory), maxMemory)
	}
	return &budget{limit: limit, least: minShare}
}

func (b *budget) over() bool { return b.used.Load() > b.limit }

func (b *budget) share() int64 { return max(b.limit/max(b.logs.Load(), 1), b.least) }
