package execution

import "sync/atomic"

// minShare is what a log may hold however many there are.
const minShare = 1 << 20

// A budget is shared by all logs. Once it is used up, a log that grows keeps
// no more than its fair share, and so pays for itself: what is held is less
// than twice the budget, and who prints little loses nothing to who floods.
type budget struct {
	limit int64
	used  atomic.Int64
	logs  atomic.Int64
}

func (b *budget) over() bool { return b.used.Load() > b.limit }

func (b *budget) share() int64 { return max(b.limit/max(b.logs.Load(), 1), minShare) }
