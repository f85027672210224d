package sandboxclient

import (
	"context"
	"time"
)

// recorded notes what the record of a sandbox that starts says.
func (l *lifecycle) recorded(used time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.saved = used
}

// forget takes back that a sandbox exists whose first start failed.
func (l *lifecycle) forget() {
	ctx, cancel := context.WithTimeout(context.Background(), l.client.opts.StartTimeout)
	defer cancel()
	l.saving.Wait() // one of the pool is forgotten beside its flight
	if err := l.client.opts.Records.DeleteSandbox(ctx, l.id); err != nil {
		l.client.opts.Logger.Error("record was not deleted", "sandbox", l.id, "error", err)
		return
	}
	l.client.census.gone(l.id)
}

// remember brings the record up to date with an end.
func (l *lifecycle) remember(ctx context.Context, workspace Workspace) error {
	if workspace == RemoveWorkspace {
		l.client.census.gone(l.id)
		return l.client.opts.Records.DeleteSandbox(ctx, l.id)
	}
	return l.save(ctx)
}

// save writes the time of the last use, if it changed. A flight calls it, or who
// holds one up.
func (l *lifecycle) save(ctx context.Context) error {
	used, saved := l.lastUse()
	if !used.After(saved) {
		return nil
	}
	record := Record{ID: l.id, Ref: l.ref, CreatedAt: used, LastUsed: used}
	if err := l.client.opts.Records.SaveSandbox(ctx, record); err != nil {
		return err
	}
	l.recorded(used)
	return nil
}

func (l *lifecycle) lastUse() (used, saved time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lastUsed, l.saved
}

// saveTime bounds a write that others wait for.
const saveTime = 2 * time.Second

// saveIfRunning is save for who is not in a flight. The next one waits for it, so
// that no end can delete the record in between and find it written again.
func (l *lifecycle) saveIfRunning(ctx context.Context) error {
	if !l.holdUp() {
		return nil
	}
	defer l.saving.Done()
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	return l.save(ctx)
}

// holdUp has the next flight wait for l.saving, unless one is under way or was the
// last.
func (l *lifecycle) holdUp() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.retired || l.flight != nil {
		return false
	}
	l.saving.Add(1)
	return true
}
