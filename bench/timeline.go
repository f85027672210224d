package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"sandgate/internal/backups"
	"sandgate/internal/store"
)

// manyBackups is how many a long time line has.
const manyBackups = 10_000

// timeline lists what it takes to look through many backups.
func (l *lab) timeline() comparison {
	return comparison{
		name: "100 of 10,000 backups listed", against: "ping", aim: "no aim yet", unit: "ms", rounds: 100,
		measured:  prepared(l.fillTimeline, l.get(l.standard.URL+"/v1/backups?app=files&limit=100")),
		reference: l.ping,
	}
}

// fillTimeline writes records of backups beside the gateway, which has no part
// in it: making them would take hours.
func (l *lab) fillTimeline(ctx context.Context) (float64, error) {
	records, err := store.Open(ctx, filepath.Join(l.standard.Dir, "db"))
	if err != nil {
		return 0, err
	}
	defer func() { _ = records.Close() }() // what was written is committed
	now := time.Now()
	for i := range manyBackups {
		at := now.Add(-time.Duration(i) * time.Second)
		err := records.SaveBackup(ctx, backups.Backup{
			ID: uuid.NewString(), Owner: "local", App: "files", Name: "files", Dir: "/workspace", Label: fmt.Sprint("backup ", i),
			Checksum: "sha256:", CreatedAt: at, ExpiresAt: now.Add(time.Hour),
		})
		if err != nil {
			return 0, err
		}
	}
	return 0, nil
}
