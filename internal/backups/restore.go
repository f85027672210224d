package backups

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"sandgate/internal/objects"
	"sandgate/sandboxclient"
)

// Restore makes a directory of a sandbox what it was, or what another one was:
// dir is the backup's own when it is empty. Nothing changes until all of the
// archive has come, and is the one that was stored.
func (e *Engine) Restore(ctx context.Context, id string, to sandboxclient.Ref, dir string, tell Progress) (Restored, error) {
	b, err := e.unexpired(ctx, to.Owner, id)
	if err != nil {
		return Restored{}, err
	}
	if dir == "" {
		dir = b.Dir
	}
	if dir, err = Dir(dir); err != nil {
		return Restored{}, err
	}
	object, _, err := e.opts.Objects.Get(ctx, objectKey(id), 0)
	if errors.Is(err, objects.ErrNotExist) {
		return Restored{}, gone(err)
	}
	if err != nil {
		return Restored{}, err
	}
	defer object.Close()
	body := &verified{counter: counter{body: object, most: b.Size, sum: sha256.New(), tell: tell, of: b.Size}, want: b}
	info, err := e.opts.Open(to).Restore(ctx, dir, body, sandboxclient.RestoreOptions{MaxBytes: max(b.Content, 1)})
	if err != nil {
		return Restored{}, err
	}
	e.opts.Logger.Info("backup restored", "backup", id, "app", to.App, "files", info.Files)
	return Restored{ID: id, App: to.App, Name: to.Name, Dir: dir, Files: info.Files, Content: info.Bytes, Restart: info.Restart}, nil
}

// unexpired gives a backup that can be restored.
func (e *Engine) unexpired(ctx context.Context, owner, id string) (Backup, error) {
	b, err := e.opts.Records.Backup(ctx, owner, id)
	if err != nil {
		return Backup{}, err
	}
	if !b.ExpiresAt.After(time.Now()) {
		return Backup{}, sandboxclient.Errorf(sandboxclient.CodeNotFound, "The backup expired at %s", b.ExpiresAt.Format(time.RFC3339))
	}
	return b, nil
}

// verified reads an archive that must be the one that was stored: otherwise its
// end is an error, and nothing is restored.
type verified struct {
	counter
	want Backup
}

// Read implements io.Reader.
func (v *verified) Read(p []byte) (int, error) {
	n, err := v.counter.Read(p)
	switch {
	case err == nil:
		return n, nil
	case v.done > v.want.Size:
		return n, damaged(fmt.Errorf("there are more than %d bytes", v.want.Size))
	case !errors.Is(err, io.EOF):
		return n, unreadable(err)
	}
	if sum := checksum(v.sum); sum != v.want.Checksum || v.done != v.want.Size {
		return n, damaged(fmt.Errorf("%d bytes with %s, not %d with %s", v.done, sum, v.want.Size, v.want.Checksum))
	}
	return n, err
}

// unreadable is what a sandbox cannot be blamed for.
func unreadable(err error) error {
	if _, ours := errors.AsType[*sandboxclient.Error](err); ours || errors.Is(err, context.Canceled) {
		return err
	}
	return &sandboxclient.Error{Code: sandboxclient.CodeBadGateway, Message: "The backup could not be read; nothing was changed", Err: err}
}

// gone is no ErrNotFound: the operator, who gets to read its cause, may have it back.
func gone(err error) error {
	return &sandboxclient.Error{
		Code: sandboxclient.CodeBadGateway, Message: "The backup is gone from where it was kept; nothing was changed",
		Err: fmt.Errorf("the object of a backup is gone: %w", err),
	}
}

func damaged(err error) error {
	return &sandboxclient.Error{
		Code: sandboxclient.CodeBadGateway, Message: "The backup is damaged; nothing was changed",
		Err: fmt.Errorf("the object of a backup is not what was stored: %w", err),
	}
}
