package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	backupsapi "sandgate/handlers/backups"
	"sandgate/handlers/coderunner"
	"sandgate/handlers/files"
	"sandgate/handlers/notebook"
	"sandgate/internal/backups"
	"sandgate/internal/objects"
	"sandgate/internal/quota"
	"sandgate/internal/store"
	"sandgate/sandboxclient"
)

// backupRef says which sandbox of an owner an app and a name mean. Sandboxes of
// test runs, and of fresh runs, are nobody's to name: they end with their run.
func backupRef(owner, app, name string) (sandboxclient.Ref, error) {
	ref := sandboxclient.Ref{Owner: owner, App: app}
	switch app {
	case files.App:
		ref.Name = files.SandboxName
	case coderunner.App:
		ref.Name = coderunner.Playground
	case notebook.App:
		var err error
		ref.Name, err = notebook.Name(name)
		return ref, err
	default:
		return ref, sandboxclient.Errorf(sandboxclient.CodeInvalid, "app is %s, %s or %s", files.App, notebook.App, coderunner.App)
	}
	if name != "" && name != ref.Name {
		return ref, sandboxclient.Errorf(sandboxclient.CodeInvalid, "The app %s has one sandbox, whose name is %s", app, ref.Name)
	}
	return ref, nil
}

// An objectStore keeps large things until it is closed.
type objectStore interface {
	backups.Objects
	Sweep(ctx context.Context) error
	Close() error
}

// openObjects opens the store that the configuration names, if it and the database
// belong to each other.
func openObjects(ctx context.Context, cfg Config, records *store.Store) (objectStore, error) {
	kept, err := openStore(ctx, cfg)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, openObjectsTime)
	defer cancel()
	err = claimObjects(ctx, kept, records)
	if err == nil { // or what lies about there is not ours to remove
		err = kept.Sweep(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open objects: %w", err), kept.Close())
	}
	return kept, nil
}

func openStore(ctx context.Context, cfg Config) (objectStore, error) {
	if !objects.IsS3(cfg.Objects) {
		kept, err := objects.Open(cfg.objects())
		if err != nil {
			return nil, fmt.Errorf("open objects: %w", err)
		}
		return kept, nil
	}
	place, err := objects.ParseS3(cfg.Objects, os.Getenv)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, openObjectsTime)
	defer cancel()
	return objects.OpenS3(ctx, place)
}

// openObjectsTime bounds the first questions to an S3 server.
const openObjectsTime = time.Minute

// openBackups makes the engine of backups. The function it returns waits for the
// end of its reaper.
func openBackups(cfg Config, client *sandboxclient.Client, records *store.Store, kept objectStore, book *quota.Book, log *slog.Logger) (*backups.Engine, func() error) {
	engine := backups.New(backups.Options{
		Open:      func(ref sandboxclient.Ref) backups.Sandbox { return client.Sandbox(ref) },
		Records:   records,
		Retention: records,
		Objects:   kept,
		Quota:     objectQuota{book, records},
		MaxBytes:  int64(cfg.MaxBackup),
		Logger:    log,
	})
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { engine.Reap(ctx) })
	return engine, func() error {
		cancel()
		wg.Wait()
		return nil
	}
}

// backupRoutes lists the routes of backups and archives.
func backupRoutes(client *sandboxclient.Client, engine *backups.Engine, cfg Config) []route {
	h := backupsapi.New(backupsapi.Options{
		Keeper:     engine,
		Shelf:      engine,
		Ref:        backupRef,
		Open:       func(ref sandboxclient.Ref) backupsapi.Sandbox { return client.Sandbox(ref) },
		MaxArchive: int64(cfg.MaxBackup),
	})
	const app = backupsapi.App
	return []route{
		{"POST", "/v1/backups", "", app, working, "keep a directory of a sandbox as it is: {\"app\":\"files\",\"dir\":…,\"ttl\":…}", h.Create},
		{"GET", "/v1/backups", "app=&name=&limit=&after=", app, steering, "the backups that there are, newest first", h.List},
		{"GET", "/v1/backups/:id", "", app, steering, "a backup", h.Get},
		{"DELETE", "/v1/backups/:id", "", app, steering, "forget it", h.Delete},
		{"POST", "/v1/backups/:id/restore", "", app, working, "make the directory what it was, or another one: {\"app\":…,\"name\":…,\"dir\":…}", h.Restore},
		{"GET", "/v1/archives", "app=&name=&dir=&format=&exclude=&useGitignore=", app, working, "a directory as a tar.zst, or as a tar", h.Download},
		{"PUT", "/v1/archives", "app=&name=&dir=", app, working, "make a directory what a tar holds", h.Upload},
	}
}
