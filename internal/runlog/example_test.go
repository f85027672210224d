package runlog_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"sandgate/internal/objects"
	"sandgate/internal/runlog"
)

// A run is followed while it goes on.
func Example() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	log, err := runlog.Create(filepath.Join(dir, "log"))
	if err != nil {
		panic(err)
	}
	defer log.Close()
	_, _ = log.Append(1, []byte(`{"type":"start"}`))
	_, _ = log.Append(2, []byte(`{"type":"stdout","data":"ok 1"}`))
	_, _ = log.End(3, []byte(`{"type":"complete","exitCode":0}`))

	for viewer := log.Follow(1); ; {
		lines, err := viewer.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			panic(err)
		}
		for _, line := range lines {
			fmt.Printf("%d %s\n", line.Seq, line.Event)
		}
	}
	// Output:
	// 2 {"type":"stdout","data":"ok 1"}
	// 3 {"type":"complete","exitCode":0}
}

// After the end the log is an object, of which a part can be read.
func ExampleReplay() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	log, err := runlog.Create(filepath.Join(dir, "log"))
	if err != nil {
		panic(err)
	}
	_, _ = log.Append(0, []byte(`{"type":"start"}`))
	_, _ = log.End(0, []byte(`{"type":"complete","exitCode":1}`))

	ctx := context.Background()
	store, err := objects.Open(filepath.Join(dir, "objects"))
	if err != nil {
		panic(err)
	}
	defer store.Close()
	kept, err := store.Put(ctx, "runs/1/log", log.Content())
	if err != nil {
		panic(err)
	}
	_ = log.Close()

	open := func(offset int64) (io.ReadCloser, error) {
		content, _, err := store.Get(ctx, kept.Key, offset)
		return content, err
	}
	for line, err := range runlog.Replay(kept.Size, open, 1) {
		if err != nil {
			panic(err)
		}
		fmt.Printf("%d %s\n", line.Seq, line.Event)
	}
	// Output:
	// 2 {"type":"complete","exitCode":1}
}
