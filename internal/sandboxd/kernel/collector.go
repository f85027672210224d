package kernel

import "time"

// A collector receives from an idle kernel, so that leftovers of earlier cells
// can print and a lost control channel is noticed.
type collector struct {
	stop    chan struct{}
	stopped chan struct{}
}

func startCollector(k *Kernel) *collector {
	c := &collector{stop: make(chan struct{}), stopped: make(chan struct{})}
	go c.run(k)
	return c
}

// end leaves the intake and the backlog to the caller.
func (c *collector) end() {
	close(c.stop)
	<-c.stopped
}

// run ends when it is told to, or when there is nothing left to receive.
func (c *collector) run(k *Kernel) {
	defer close(c.stopped)
	loss := k.lossTimer()
	for k.intake.open > 0 {
		select {
		case got := <-k.intake.ch:
			k.intake.note(got)
			if len(got.chunk) > 0 {
				k.backlog.add(got.from, got.chunk)
			}
			if got.ended && got.from == fromReplies {
				loss = k.lossTimer()
			}
		case <-loss:
			k.kill(reasonChannel)
		case <-c.stop:
			return
		}
	}
}

// lossTimer starts to run when the control channel is lost.
func (k *Kernel) lossTimer() <-chan time.Time {
	if !k.intake.lost {
		return nil
	}
	return time.After(lossGrace)
}
