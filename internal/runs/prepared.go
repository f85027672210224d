package runs

import (
	"context"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"sandgate/internal/backups"
	"sandgate/sandboxclient"
)

// Backups keep directories that runs have prepared, and give them to others.
type Backups interface {
	Get(ctx context.Context, owner, id string) (backups.Backup, error)
	Create(ctx context.Context, ref sandboxclient.Ref, req backups.Request, tell backups.Progress) (backups.Backup, error)
	Restore(ctx context.Context, id string, to sandboxclient.Ref, dir string, tell backups.Progress) (backups.Restored, error)
}

// A Keep asks for a backup of the directory that a run has prepared, once its
// dependencies are installed.
type Keep struct {
	Dir   string        `json:"dir"` // the repository's when empty
	Label string        `json:"label,omitempty"`
	TTL   time.Duration `json:"ttl,omitempty"` // 0: the usual one
}

// Kept is what viewers are told of such a backup.
type Kept struct {
	ID        string    `json:"id"`
	Dir       string    `json:"dir"`
	Size      int64     `json:"sizeBytes"`
	Files     int64     `json:"files"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// Phases that prepare a directory, or keep it.
const (
	PhaseRestore = "restore"
	PhaseBackup  = "backup"
)

// checkPrepared refuses what makes no sense together.
func (r Request) checkPrepared() error {
	if r.Backup != nil {
		if r.Command != "" {
			return invalid("A backup is made once dependencies are installed, which a command of your own takes the place of")
		}
		if _, err := backups.Dir(r.Backup.Dir); err != nil {
			return err
		}
	}
	if r.Restore == "" {
		return nil
	}
	if r.Repository != "" || r.Ref != "" || r.Submodules || r.LFS {
		return invalid("restore takes the place of repository, ref, submodules and lfs: what was backed up is tested")
	}
	return nil
}

// findBackup looks for what a request wants to be restored.
func (e *Engine) findBackup(ctx context.Context, owner string, req Request) error {
	if req.Backup == nil && req.Restore == "" {
		return nil
	}
	if e.opts.Backups == nil {
		return sandboxclient.Errorf(sandboxclient.CodeUnsupported, "This gateway keeps no backups")
	}
	if req.Restore == "" {
		return nil
	}
	b, err := e.opts.Backups.Get(ctx, owner, req.Restore)
	if err == nil && len(req.Apps) > 0 && !slices.Contains(req.Apps, b.App) {
		return backups.ErrNotFound
	}
	if err == nil && !b.ExpiresAt.After(time.Now()) {
		err = sandboxclient.Errorf(sandboxclient.CodeNotFound, "The backup expired at %s", b.ExpiresAt.Format(time.RFC3339))
	}
	return err
}

// restorePhase takes the place of the clone.
func (r *run) restorePhase() phase {
	return phase{name: PhaseRestore, place: 1, shown: "restore " + r.promise.Restore, act: func(ctx context.Context) (outcome, error) {
		b, err := r.engine.opts.Backups.Get(ctx, r.owner, r.promise.Restore)
		if err != nil {
			return outcome{}, err
		}
		dir := appDir
		if b.Dir == sandboxclient.WorkspaceDir {
			dir = b.Dir
		}
		if _, err := r.engine.opts.Backups.Restore(ctx, b.ID, Ref(r.owner, r.id), dir, nil); err != nil {
			return outcome{}, err
		}
		if _, err := r.sandbox.MakeDir(ctx, homeDir); err != nil { // all of the workspace may be another one now
			return outcome{}, err
		}
		return outcome{commit: r.restoredCommit(ctx)}, nil
	}}
}

// backupPhase keeps what was prepared. When it cannot, the tests run all the same.
func (r *run) backupPhase() phase {
	return phase{name: PhaseBackup, place: 4, shown: "backup of " + orDefault(r.promise.Backup.Dir, appDir), act: func(ctx context.Context) (outcome, error) {
		keep, s := r.promise.Backup, r.snapshot()
		// npm makes none for a project without dependencies, and the next run
		// would install again. What is in the way is told by that run.
		_, _ = r.sandbox.MakeDir(ctx, modulesDir)
		b, err := r.engine.opts.Backups.Create(ctx, Ref(r.owner, r.id), backups.Request{
			Dir: orDefault(keep.Dir, appDir), TTL: keep.TTL, Label: orDefault(keep.Label, usualLabel(s)),
		}, nil)
		if err != nil && ctx.Err() == nil {
			return outcome{}, r.warn(0, "backup_failed", "The backup was not made: "+problemMessage(public(err)))
		}
		if err != nil {
			return outcome{}, err
		}
		return outcome{kept: &Kept{b.ID, b.Dir, b.Size, b.Files, b.ExpiresAt}}, nil
	}}
}

// usualLabel says what was prepared.
func usualLabel(s Summary) string {
	label := []rune(strings.TrimSpace(s.Repository + " " + s.Commit))
	return string(label[:min(len(label), 256)])
}

// modulesDir is where dependencies are installed.
const modulesDir = appDir + "/node_modules"

// installed says whether dependencies are there already.
func (r *run) installed(ctx context.Context) (bool, error) {
	info, err := r.sandbox.Stat(ctx, modulesDir)
	switch sandboxclient.CodeOf(err) {
	case sandboxclient.CodeNotFound, sandboxclient.CodeInvalid, sandboxclient.CodeConflict:
		return false, nil
	}
	return err == nil && info.Type == "directory", err
}

var (
	isCommit = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
	isBranch = regexp.MustCompile(`^ref: (refs/heads/[A-Za-z0-9._/-]{1,200})$`)
)

// restoredCommit reads which commit a restored repository is at; "" when that
// cannot be told.
func (r *run) restoredCommit(ctx context.Context) string {
	head := r.firstLine(ctx, "HEAD")
	if branch := isBranch.FindStringSubmatch(head); len(branch) == 2 && !slashed(branch[1], "..") {
		head = r.firstLine(ctx, branch[1])
	}
	if !isCommit.MatchString(head) {
		return ""
	}
	return head
}

// firstLine reads a short file of the repository's git directory.
func (r *run) firstLine(ctx context.Context, name string) string {
	file, err := r.sandbox.ReadFile(ctx, appDir+"/.git/"+name, sandboxclient.ReadOptions{})
	if err != nil {
		return ""
	}
	defer func() { _ = file.Body.Close() }() // all that we want of it was read
	text, err := io.ReadAll(io.LimitReader(file.Body, lockHead))
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

// An outcome is what came of a phase that the gateway does itself.
type outcome struct {
	commit string
	kept   *Kept
}

// doItself does a phase that is no program in the sandbox. What an earlier
// gateway left of it half-way is done again from the beginning.
func (r *run) doItself(p phase, begun bool) verdict {
	r.mark(func(s *Summary) { s.Phase = p.name })
	ctx, cancel := context.WithDeadline(r.ctx, r.deadline())
	defer cancel()
	began := time.Now()
	if !begun {
		if err := r.note(p.source(1), phaseEvent{head: newHead(eventPhase, now()), Phase: p.name, State: phaseStarted, Command: p.shown}); err != nil {
			return r.cut(p.name, err)
		}
	}
	did, err := p.act(ctx)
	if err == nil {
		err = r.tellDone(p, did, time.Since(began))
	}
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) && r.ctx.Err() == nil {
		return verdict{phase: p.name, overdue: true}
	}
	if err != nil {
		return r.cut(p.name, err)
	}
	return verdict{phase: p.name, exit: &sandboxclient.Exit{Status: sandboxclient.StatusExited}}
}

func (r *run) tellDone(p phase, did outcome, took time.Duration) error {
	if did != (outcome{}) {
		r.mark(func(s *Summary) { s.Commit, s.Backup = orDefault(did.commit, s.Commit), orDefault(did.kept, s.Backup) })
	}
	e := phaseEvent{
		head: newHead(eventPhase, now()), Phase: p.name, State: phaseEnded,
		DurationMS: new(float64(took.Microseconds()) / 1000), Commit: did.commit, Backup: did.kept,
	}
	if err := r.note(p.source(2), e); err != nil {
		return err
	}
	return r.events.Sync() // what has been done need not be done again
}
