package kernel

import (
	"context"
	"encoding/json"

	"sandgate/sandboxclient/wire"
)

const (
	maxModuleName     = 256
	maxPreloadMessage = 1 << 10
)

// preload has the program import modules. What they print is nobody's.
func (k *Kernel) preload(ctx context.Context, modules []string) error {
	if len(modules) == 0 {
		return nil
	}
	frame, err := json.Marshal(struct {
		ID      int      `json:"id"`
		Preload []string `json:"preload"`
	}{0, modules})
	if err != nil {
		return err
	}
	if err := k.send(ctx, append(frame, '\n')); err != nil {
		return err
	}
	done, err := k.await(ctx, replyPreloaded)
	if err != nil {
		return err
	}
	k.intake.drain(func(incoming) {})
	k.failed = boundedFailures(done.Failed, len(modules))
	return nil
}

func boundedFailures(failed []wire.FailedPreload, most int) []wire.FailedPreload {
	failed = failed[:min(len(failed), most)]
	for i, f := range failed {
		failed[i] = wire.FailedPreload{
			Module:  truncate(f.Module, maxModuleName),
			Message: truncate(f.Message, maxPreloadMessage),
		}
	}
	return failed
}
