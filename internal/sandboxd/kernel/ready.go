package kernel

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sandgate/sandboxclient/wire"
)

const (
	maxEngineName = 32
	maxStartNoise = 4 << 10
	maxStartWords = 200 // of that in the error; a stack helps nobody out there
)

// awaitReady waits for the program's first reply, and has it import modules. A
// kernel that does not come to it is closed, and the error tells what it printed.
func (k *Kernel) awaitReady(ctx context.Context, spec Spec) error {
	ready, err := k.await(ctx, replyReady)
	if err == nil {
		k.engine = truncate(ready.Engine, maxEngineName)
		err = k.preload(ctx, spec)
	}
	k.collector = startCollector(k)
	if err != nil {
		k.Close()
		return k.ranOut(err)
	}
	return nil
}

// ranOut says of a kernel that was ended for its memory that this is why.
func (k *Kernel) ranOut(err error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.outOfMemory {
		return errors.New(k.reason)
	}
	return err
}

// await waits for a reply of a kernel that runs no cell yet. Nobody reads what
// it prints meanwhile, unless it ends.
func (k *Kernel) await(ctx context.Context, kind string) (*reply, error) {
	var noise strings.Builder
	for {
		select {
		case got := <-k.intake.ch:
			k.intake.note(got)
			if got.reply != nil && got.reply.Type == kind {
				return got.reply, nil
			}
			if got.from == wire.EventStderr && noise.Len() < maxStartNoise {
				noise.Write(got.chunk)
			}
			if k.intake.open == 0 {
				return nil, fmt.Errorf("kernel: the interpreter ended before it was ready: %s", truncate(noise.String(), maxStartWords))
			}
		case <-ctx.Done():
			return nil, errors.Join(errors.New("kernel: the interpreter is not ready in time"), context.Cause(ctx))
		}
	}
}
