package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sandgate/sandboxclient/wire"
)

// A restore of all of the workspace that was cut off at any point is undone or
// completed by the next sandboxd.
func TestRecover_afterEachStep(t *testing.T) {
	for _, step := range []string{"before", "journal", "half out", "all out", "half in", "all in"} {
		t.Run(step, func(t *testing.T) {
			r := newRig(t)
			for i := range 4 {
				r.put(fmt.Sprintf("new-%d/file", i), "new")
			}
			r.put("both", "new")
			archive, _ := r.pack(".", Options{})
			after := describe(t, r.dir)
			for i := range 4 {
				must(t, os.RemoveAll(filepath.Join(r.dir, fmt.Sprintf("new-%d", i))))
				r.put(fmt.Sprintf("old-%d/file", i), "old")
			}
			r.put("both", "old")
			before := describe(t, r.dir)
			r.cutOff(step, archive)
			openRig(t, r.dir)
			got := describe(t, r.dir)
			if slices.Contains([]string{"all out", "half in", "all in"}, step) {
				wantSame(t, got, after)
				return
			}
			wantSame(t, got[1:], before[1:]) // its own time has changed with its entries
		})
	}
}

// cutOff does a restore up to a step, and no further.
func (r *rig) cutOff(step string, archive []byte) {
	r.t.Helper()
	s, err := r.newStaging()
	must(r.t, err)
	defer s.Close()
	_, err = r.unpack(r.t.Context(), s.directory, unpacked, bytes.NewReader(archive), RestoreOptions{})
	must(r.t, err)
	if step == "before" {
		return
	}
	top, err := s.lstat(unpacked)
	must(r.t, err)
	must(r.t, unix.Mkdirat(s.fd, replaced, 0o700))
	j := journal{Mode: int64(top.Mode & 0o1777), MTime: top.Mtim.Nano()}
	must(r.t, s.write(j))
	if step == "journal" {
		return
	}
	old, err := s.directory.directory(replaced, itself)
	must(r.t, err)
	defer old.Close()
	if step == "half out" {
		must(r.t, move(r.root, old, "old-0"))
		must(r.t, move(r.root, old, "both"))
		return
	}
	must(r.t, s.moveOut())
	j.In = true
	must(r.t, s.write(j))
	tree, err := s.directory.directory(unpacked, itself)
	must(r.t, err)
	defer tree.Close()
	switch step {
	case "half in":
		must(r.t, move(tree, r.root, "new-0"))
	case "all in":
		_, err := moveAll(tree, r.root)
		must(r.t, err)
	}
}

// On a file system that exchanges nothing, a directory that is there is left as it
// is, in words; one that is not there, and all of the workspace, are restored.
func TestRestore_withoutExchange(t *testing.T) {
	for _, says := range []error{unix.EINVAL, unix.ENOSYS, unix.EOPNOTSUPP} {
		r := newRig(t)
		r.swap = func(int, string, int, string, uint) error { return says }
		r.put("app/file", "packed")
		archive, _ := r.pack("app", Options{})
		r.put("app/file", "what was")
		_, err := r.Restore(t.Context(), "app", bytes.NewReader(archive), RestoreOptions{})
		wantCode(t, err, wire.CodeUnsupported)
		r.restore("other", archive)
		for name, want := range map[string]string{"app/file": "what was", "other/file": "packed"} {
			if got, err := os.ReadFile(filepath.Join(r.dir, name)); err != nil || string(got) != want {
				t.Errorf("%v: %s is %q, %v", says, name, got, err)
			}
		}
		r.restore(".", archive)
		if got, err := os.ReadFile(filepath.Join(r.dir, "file")); err != nil || string(got) != "packed" {
			t.Errorf("%v: %q, %v", says, got, err)
		}
	}
}

// What is in the way of an entry moves aside, of whatever kind either is.
func TestMove_asideWhatIsInTheWay(t *testing.T) {
	for name, there := range map[string]func(r *rig){
		"file":      func(r *rig) { r.put("to/x", "was there") },
		"directory": func(r *rig) { r.put("to/x/y", "was there") },
	} {
		for _, entry := range []string{"from/x", "from/x/y"} {
			r := newRig(t)
			there(r)
			r.put(entry, "entry")
			from, err := r.root.directory("from", itself)
			must(t, err)
			to, err := r.root.directory("to", itself)
			must(t, err)
			must(t, move(from, to, "x"))
			must(t, errors.Join(from.Close(), to.Close()))
			moved := filepath.Join(r.dir, strings.Replace(entry, "from", "to", 1))
			if got, err := os.ReadFile(moved); err != nil || string(got) != "entry" {
				t.Errorf("%s for %s: %q, %v", entry, name, got, err)
			}
		}
	}
}

// What looks like a journal and is not root's is left to the sweep.
func TestRecover_believesOnlyItself(t *testing.T) {
	r := newRig(t)
	dir := t.TempDir() // not the rig's, whose sweep is at work already
	must(t, os.WriteFile(filepath.Join(dir, "file"), []byte("stays"), 0o644))
	forged := filepath.Join(dir, ".sandgate-forged")
	must(t, os.MkdirAll(filepath.Join(forged, "new"), 0o755))
	must(t, os.WriteFile(filepath.Join(forged, "journal"), []byte(`{"in":true}`), 0o644))
	must(t, os.WriteFile(filepath.Join(forged, "new/file"), []byte("forged"), 0o644))
	must(t, os.Chown(forged, r.uid, r.gid))
	must(t, os.Symlink("/", filepath.Join(dir, ".sandgate-link")))
	must(t, Recover(dir))
	if got, err := os.ReadFile(filepath.Join(dir, "file")); err != nil || string(got) != "stays" {
		t.Errorf("%q, %v", got, err)
	}
}

// While directories are swapped for links and programs write, nothing outside is
// touched, and whoever restores is told the truth.
func TestRestore_racesSwapsAndWriters(t *testing.T) {
	r := newRig(t)
	outside := t.TempDir()
	must(t, os.WriteFile(filepath.Join(outside, "file"), []byte("untouched"), 0o644))
	want := describe(t, outside)
	r.put("a/app/file", "packed")
	archive, _ := r.pack("a/app", Options{})
	ctx, stop := context.WithCancel(t.Context())
	var racing sync.WaitGroup
	link := filepath.Join(r.dir, "link")
	must(t, os.Symlink(outside, link))
	racing.Go(func() {
		for ctx.Err() == nil {
			_ = unix.Renameat2(unix.AT_FDCWD, link, unix.AT_FDCWD, filepath.Join(r.dir, "a"), unix.RENAME_EXCHANGE)
		}
	})
	racing.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			_ = os.WriteFile(filepath.Join(r.dir, "a/app", fmt.Sprint(i%10)), nil, 0o644)
		}
	})
	restored := 0
	deadline := time.Now().Add(30 * time.Second) // catches a hang
	for round := 0; (round < 200 || restored < 10) && time.Now().Before(deadline); round++ {
		if _, err := r.Restore(t.Context(), "a/app", bytes.NewReader(archive), RestoreOptions{}); err == nil {
			restored++
		}
		if s, err := r.Source("a/app", Options{}); err == nil {
			_, _ = s.Pack(t.Context(), &bytes.Buffer{})
			_ = s.Close()
		}
	}
	stop()
	racing.Wait()
	if restored == 0 {
		t.Error("none was restored, so that this test shows nothing")
	}
	wantSame(t, describe(t, outside)[1:], want[1:])
}
