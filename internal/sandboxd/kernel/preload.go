package kernel

import (
	"context"
	"encoding/json"
	"slices"

	"sandgate/sandboxclient/wire"
)

const (
	maxModuleName     = 256
	maxPreloadMessage = 1 << 10
)

// preload has the program import modules, and do ahead what else it can. What is
// printed meanwhile is nobody's.
func (k *Kernel) preload(ctx context.Context, spec Spec) error {
	if !k.lang.preloads || !spec.Ahead {
		return nil
	}
	modules := slices.Concat([]string{}, spec.Preload)
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
