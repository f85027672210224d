package local

import (
	"context"
	"fmt"
	"time"
)

const (
	// squeezed is how much smaller a memory gets when it is compressed, unless it
	// is of the kind that cannot be.
	squeezed = 2
	// tightNum / tightDen is the part of the limit from which on memories are
	// compressed.
	tightNum, tightDen = 3, 4
	// roomTime bounds how long a sandbox waits for what others leave of the disk:
	// nobody can use it meanwhile, and a gateway that stops ends it after that.
	roomTime = 20 * time.Second
)

// admit keeps room on the disk for the checkpoint of a memory, if there is any,
// until it is written and release is called, and says whether to compress it. It
// waits while others are written that may leave enough: how much smaller they got
// is known then.
func (c *checkpoints) admit(ctx context.Context, memory func() int64) (compress bool, release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, roomTime)
	defer cancel()
	for {
		bytes := memory()
		compress, freed, err := c.promise(bytes)
		if err == nil {
			return compress, func() { c.release(bytes) }, nil
		}
		if freed == nil {
			return false, nil, err
		}
		select {
		case <-ctx.Done():
			return false, nil, err
		case <-freed:
		}
	}
}

// promise keeps room for all of a memory, compressed or not: that it gets smaller
// is not known before. If others that are being written are in the way, freed
// tells when one of them is.
func (c *checkpoints) promise(memory int64) (compress bool, freed <-chan struct{}, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	room, reserve, err := spaceAt(c.layout.sandboxes())
	if err != nil {
		return false, nil, err
	}
	left, least := room-c.promised, leastRoom(memory, reserve)
	if room >= least {
		freed = c.freed
	}
	if left < least {
		return false, freed, fmt.Errorf("the disk has room for %d bytes, of which %d are promised: too little for a memory of %d", room, c.promised, memory)
	}
	compress = left-memory < scarce || c.limit > 0 && c.total()+c.promised > c.limit/tightDen*tightNum
	c.promised += memory
	return compress, nil, nil
}

// leastRoom is what there must be for a memory. Most get smaller than half when
// they are compressed; for one that does not, the rest comes out of the reserve,
// but no more than half of that.
func leastRoom(memory, reserve int64) int64 { return max(memory/squeezed, memory-reserve/2) }

// release ends a promise.
func (c *checkpoints) release(bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.promised -= bytes
	close(c.freed)
	c.freed = make(chan struct{})
}
