// Package archive moves directories of the workspace out of the sandbox as a
// tar, and puts them back in.
//
// What goes out is the same bytes for the same tree: names are sorted, owners
// dropped, times kept. What comes in takes a directory's place in one step, as
// an exact replica: what the archive does not hold is gone afterwards. Until
// that step, and on any failure, the directory is as it was.
//
// An archive is hostile, and so is everybody who runs code in the sandbox: it
// is unpacked where only sandboxd can look, by descriptors and without following
// a link, and names of the workspace are resolved by the kernel, in one call
// that cannot leave it.
package archive

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"sandgate/internal/sandboxd/shim"
	"sandgate/sandboxclient/wire"
)

// Bounds on what is packed or unpacked.
const (
	maxEntries = 1_000_000
	maxDepth   = 256      // directories in one another
	maxPath    = 4096     // bytes of a name in the archive
	maxBytes   = 64 << 30 // of content, where the caller names no bound
)

// Files is what is needed of the workspace beside its directory.
type Files interface {
	Stat(name string) (wire.FileInfo, error)
	Mkdir(name string) (wire.FileInfo, error)
	// Temporary names an entry at the top that is hidden and swept.
	Temporary() string
	// Discard removes an entry that has such a name.
	Discard(ctx context.Context, name string) error
}

// An Archiver packs and unpacks the directories of one workspace.
type Archiver struct {
	root  directory
	files Files
	log   *slog.Logger
	uid   int
	gid   int
	umask uint32

	swap func(oldfd int, old string, newfd int, name string, flags uint) error // renameat2

	turn chan struct{}   // held by the one restore that is at work
	ctx  context.Context // of the removal of what was replaced
	tidy sync.WaitGroup
}

// Open opens the workspace at dir, after Recover. What was replaced is removed
// until ctx ends.
func Open(ctx context.Context, dir string, files Files, log *slog.Logger) (*Archiver, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	return &Archiver{
		root: directory{fd}, files: files, log: log, uid: shim.SandboxUID, gid: shim.SandboxGID, umask: umask(),
		swap: unix.Renameat2, turn: make(chan struct{}, 1), ctx: ctx,
	}, nil
}

// umask gives what the process takes from the modes of new files; everything,
// when that cannot be found out.
func umask() uint32 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0o777
	}
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "Umask:"); ok {
			if mask, err := strconv.ParseUint(strings.TrimSpace(text), 8, 32); err == nil {
				return uint32(mask)
			}
		}
	}
	return 0o777
}

// Close waits for what is being removed, and lets the workspace go.
func (a *Archiver) Close() error {
	a.tidy.Wait()
	return a.root.Close()
}

func fail(code, format string, args ...any) *wire.Error {
	return &wire.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func tooLarge(most int64) error {
	return fail(wire.CodeTooLarge, "The archive holds more than %d bytes", most)
}

func tooMany() error {
	return fail(wire.CodeTooLarge, "The archive holds more than %d entries", maxEntries)
}
