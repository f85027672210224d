package execution

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"sandgate/internal/sandboxd/workspace"
	"sandgate/internal/sandboxtest"
	"sandgate/sandboxclient/wire"
)

func TestNameless(t *testing.T) {
	for name, create := range map[string]func(string) (file, error){"unnamed from the beginning or not": createNameless, "unnamed later": createUnlinked} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			made, err := create(dir)
			if err != nil {
				t.Fatal(err)
			}
			f := made.(*os.File)
			defer f.Close()
			if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
				t.Errorf("it is there as %v, %v", entries, err)
			}
			info, err := f.Stat()
			if err != nil || info.Mode() != 0o600 || info.Sys().(*syscall.Stat_t).Nlink != 0 {
				t.Errorf("%+v, %v", info, err)
			}
			if _, err := f.WriteAt([]byte("text"), 3); err != nil {
				t.Error(err)
			}
			got := make([]byte, 4)
			if _, err := f.ReadAt(got, 3); err != nil || string(got) != "text" {
				t.Errorf("%q, %v", got, err)
			}
			if _, err := create(dir + "/missing"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("in no directory: %v", err)
			}
		})
	}
}

// What a name is left of is swept as the workspace sweeps its own.
func TestNameless_isHidden(t *testing.T) {
	if hidden != workspace.Temporary {
		t.Errorf("%q is no name that a workspace hides", hidden)
	}
}

func TestLookAt(t *testing.T) {
	size, free, err := lookAt(t.TempDir())
	if err != nil || size < free || free <= 0 {
		t.Errorf("%d bytes free of %d, %v", free, size, err)
	}
	if _, _, err := lookAt("/missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no directory: %v", err)
	}
}

// What prints little touches no disk.
func TestRing_opensNothingBeforeItMust(t *testing.T) {
	r, fake := newSmall()
	x := begin(t, r, "x", wire.Output{})
	x.Emit(stdout(strings.Repeat("x", smallMemory/2)))
	x.Complete(exited)
	if fake.opened() > 0 || r.disk.watched {
		t.Error("a file was made for output that memory has room for")
	}
}

// A file system that is full in the middle of a write, which nobody could see
// coming: what it did not take is told as missing, and the rest is there.
func TestRing_onADiskThatIsFull(t *testing.T) {
	dir := sandboxtest.SmallDisk(t, 1<<20)
	r := NewRegistry(Options{Dir: dir})
	r.budget.limit, r.budget.least = smallMemory, smallMemory
	r.disk.look = func(string) (int64, int64, error) { return 1 << 40, 1 << 40, nil }
	x := begin(t, r, "x", wire.Output{Keep: 1 << 30})
	reader := x.Follow(0)
	var printed strings.Builder
	lines(3<<20, func(e wire.Event) {
		printed.Write(e.Data)
		x.Emit(e)
	})
	x.Complete(exited)
	events := drain(t, reader)
	gap := events[0].Gap
	if gap == nil || text(events, wire.EventStdout) != printed.String()[gap.Bytes:] || !events[len(events)-1].Terminal() {
		t.Errorf("%d events, first %+v", len(events), events[0])
	}
	reader.Close()
	forgetAll(r)
	if r.disk.used != 0 || r.disk.files != 0 {
		t.Errorf("%d bytes in %d files are left", r.disk.used, r.disk.files)
	}
}
