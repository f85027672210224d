package backups

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"time"

	"github.com/google/uuid"

	"sandgate/internal/objects"
	"sandgate/sandboxclient"
)

// Create backs a directory of a sandbox up. The archive goes from the sandbox to
// the store as it comes; there is a backup only once all of it is there.
func (e *Engine) Create(ctx context.Context, ref sandboxclient.Ref, req Request, tell Progress) (Backup, error) {
	if err := req.check(); err != nil {
		return Backup{}, err
	}
	b := Backup{ID: uuid.NewString(), Owner: ref.Owner, App: ref.App, Name: ref.Name, Dir: req.Dir, Label: req.Label}
	m, err := e.begin(ctx, b.ID, b.Owner)
	if err != nil {
		return Backup{}, err
	}
	defer e.end(m)
	archive, err := e.opts.Open(ref).Archive(ctx, req.Dir, sandboxclient.ArchiveOptions{Excludes: req.Excludes, Gitignore: req.Gitignore})
	if err != nil {
		return Backup{}, err
	}
	defer archive.Close()
	if err := e.store(ctx, &b, archive, m, tell); err != nil {
		return Backup{}, err
	}
	b.CreatedAt = now()
	b.ExpiresAt = b.CreatedAt.Add(req.TTL)
	if err := e.record(ctx, b, m); err != nil {
		return Backup{}, errors.Join(err, e.deleteObject(ctx, b.ID))
	}
	e.opts.Logger.Info("backup made", "backup", b.ID, "app", b.App, "bytes", b.Size, "files", b.Files)
	return b, nil
}

// record writes a backup down, if there is room for it still: runs may have left
// something meanwhile. Whoever left by now finds it in the list; a record must not
// be there by half.
func (e *Engine) record(ctx context.Context, b Backup, m *making) error {
	ctx = context.WithoutCancel(ctx)
	e.recording.Lock()
	defer e.recording.Unlock()
	room, err := e.opts.Quota.Room(ctx, b.Owner)
	if err != nil {
		return err
	}
	if b.Size > room {
		return e.opts.Quota.NoRoom(b.Owner)
	}
	if err := e.opts.Records.SaveBackup(ctx, b); err != nil {
		return err
	}
	e.keep(m)
	return nil
}

// store makes the object, and notes what it is.
func (e *Engine) store(ctx context.Context, b *Backup, archive *sandboxclient.Archive, m *making, tell Progress) error {
	sum := sha256.New()
	counted := &counter{body: ration{archive, e, m}, most: e.opts.MaxBytes, sum: sum, tell: tell}
	stored, err := e.opts.Objects.Put(ctx, objectKey(b.ID), counted)
	if err != nil {
		return objectError(err)
	}
	info := archive.Info()
	b.Size, b.Files, b.Content = stored.Size, info.Files, info.Bytes
	b.Skipped, b.Changed = info.Skipped, info.Changed
	b.Checksum = checksum(sum)
	return nil
}

func checksum(sum hash.Hash) string { return "sha256:" + hex.EncodeToString(sum.Sum(nil)) }

func objectError(err error) error {
	if errors.Is(err, objects.ErrNoSpace) {
		return sandboxclient.DiskFull(err)
	}
	return err
}

// tellEvery is how often progress is told at most.
const tellEvery = 500 * time.Millisecond

// A counter bounds, sums and tells of what goes through.
type counter struct {
	body io.Reader
	most int64
	sum  hash.Hash
	tell Progress

	done int64
	of   int64
	told time.Time
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.body.Read(p)
	c.done += int64(n)
	if c.done > c.most {
		return 0, sandboxclient.Errorf(sandboxclient.CodeTooLarge, "The backup is larger than %d bytes, the most that is kept; leave something out by excludes", c.most)
	}
	c.sum.Write(p[:n])
	if c.tell != nil && time.Since(c.told) > tellEvery {
		c.told = time.Now()
		c.tell(c.done, c.of)
	}
	return n, err
}
