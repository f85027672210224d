package execution

import "sync/atomic"

// What all logs of a sandbox have in memory together, and what one may have
// however many there are.
const (
	maxMemory = 64 << 20
	minShare  = 1 << 20
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

func newBudget(limit, least int64) *budget { return &budget{limit: limit, least: least} }

func (b *budget) over() bool { return b.used.Load() > b.limit }

func (b *budget) share() int64 { return max(b.limit/max(b.logs.Load(), 1), b.least) }
