package local

import "fmt"

const (
	// squeezed is how much smaller a checkpoint gets at least when it is compressed.
	squeezed = 2
	// tight is the part of the limit from which on checkpoints are compressed.
	tightNum, tightDen = 3, 4
)

// admit keeps room on the disk for the checkpoint of so much memory, if there is
// any, until it is written and release is called.
func (c *checkpoints) admit(memory int64) (release func(), err error) {
	room, err := roomAt(c.layout.sandboxes())
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if room-c.promised < memory/squeezed {
		return nil, fmt.Errorf("the disk has room for %d bytes, of which %d are promised: too little for a memory of %d", room, c.promised, memory)
	}
	c.promised += memory / squeezed
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.promised -= memory / squeezed
	}, nil
}

// compress says whether room is short.
func (c *checkpoints) compress() bool {
	room, err := roomAt(c.layout.sandboxes())
	if err != nil || room < scarce {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.limit > 0 && c.total() > c.limit/tightDen*tightNum
}
