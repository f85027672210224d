// Package backups keeps directories of sandboxes as they were, and puts them
// back.
//
// A backup is an object, which sandboxd packs and nobody here looks into, and a
// record that is written once the object is whole. A record is deleted before
// its object is, so that none promises what is not there; objects that no record
// leads to, of a gateway that was killed in between, are swept.
package backups

import (
	"context"
	"io"
	"iter"
	"log/slog"
	"math"
	"sync"
	"time"

	"sandgate/internal/objects"
	"sandgate/sandboxclient"
)

// A Sandbox is what a backup needs of a sandbox.
type Sandbox interface {
	Archive(ctx context.Context, dir string, o sandboxclient.ArchiveOptions) (*sandboxclient.Archive, error)
	Restore(ctx context.Context, dir string, body io.Reader, o sandboxclient.RestoreOptions) (sandboxclient.Restored, error)
}

// Records keep what is known of backups, by owner. What is not the owner's is
// ErrNotFound.
type Records interface {
	SaveBackup(ctx context.Context, b Backup) error
	Backup(ctx context.Context, owner, id string) (Backup, error)
	// ListBackups gives the newest first.
	ListBackups(ctx context.Context, owner string, f Filter, limit int) ([]Backup, error)
	DeleteBackup(ctx context.Context, owner, id string) error
}

// Retention is what is needed of the records to forget some, whoever's they are.
type Retention interface {
	ExpiredBackups(ctx context.Context, before time.Time, limit int) ([]Backup, error)
	// BackupsAfter gives them in the order of their ids.
	BackupsAfter(ctx context.Context, id string, limit int) ([]Backup, error)
	KnowsBackup(ctx context.Context, id string) (bool, error)
}

// Objects keep the archives.
type Objects interface {
	Put(ctx context.Context, key string, content io.Reader) (objects.Info, error)
	Get(ctx context.Context, key string, offset int64) (io.ReadCloser, objects.Info, error)
	Delete(ctx context.Context, key string) error
	List(ctx context.Context, prefix string) iter.Seq2[objects.Info, error]
}

// A Quota bounds what an owner keeps.
type Quota interface {
	// Room is how many bytes more an owner may keep.
	Room(ctx context.Context, owner string) (int64, error)
	// NoRoom is what an owner is told of whose backup there is no room for.
	NoRoom(owner string) error
}

// unbounded is the quota where there is none.
type unbounded struct{}

func (unbounded) Room(context.Context, string) (int64, error) { return math.MaxInt64, nil }
func (unbounded) NoRoom(string) error                         { return nil }

// A Filter picks backups of a list; what is empty picks all.
type Filter struct {
	App   string
	Name  string
	Apps  []string // of one of these
	After Position
}

// A Position is one in a list.
type Position struct {
	CreatedAt time.Time
	ID        string
}

// Options say how an Engine works. Those of the first group are required.
type Options struct {
	Open      func(sandboxclient.Ref) Sandbox
	Records   Records
	Retention Retention
	Objects   Objects

	Quota    Quota // nil: owners may keep all there is
	MaxBytes int64 // of one archive; 0: 16 GiB
	Logger   *slog.Logger
}

// An Engine makes backups and restores them. Its methods may be called from
// many goroutines.
type Engine struct {
	opts Options

	mu     sync.Mutex
	making map[string]*making // by id

	recording sync.Mutex // held while it is found out whether there is room, and taken
}

// New makes an engine. Run Reap beside it.
func New(opts Options) *Engine {
	if opts.MaxBytes <= 0 {
		opts.MaxBytes = 16 << 30
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Quota == nil {
		opts.Quota = unbounded{}
	}
	return &Engine{opts: opts, making: make(map[string]*making)}
}

const objectsPrefix = "backups/"

func objectKey(id string) string { return objectsPrefix + id }

// Get gives an owner's backup.
func (e *Engine) Get(ctx context.Context, owner, id string) (Backup, error) {
	return e.opts.Records.Backup(ctx, owner, id)
}

// List gives an owner's backups, newest first, and where the next ones begin;
// the zero Position when there are none.
func (e *Engine) List(ctx context.Context, owner string, f Filter, limit int) ([]Backup, Position, error) {
	found, err := e.opts.Records.ListBackups(ctx, owner, f, limit+1)
	if err != nil {
		return nil, Position{}, err
	}
	if len(found) <= limit {
		return found, Position{}, nil
	}
	last := found[limit-1]
	return found[:limit], Position{last.CreatedAt, last.ID}, nil
}

// Delete forgets an owner's backup, and its object also when the owner has left
// meanwhile.
func (e *Engine) Delete(ctx context.Context, owner, id string) error {
	if err := e.opts.Records.DeleteBackup(ctx, owner, id); err != nil {
		return err
	}
	return e.deleteObject(ctx, id)
}

// undoTime bounds the removal of an object that no record leads to.
const undoTime = 30 * time.Second

func (e *Engine) deleteObject(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	return e.opts.Objects.Delete(ctx, objectKey(id))
}
