package npmmirror

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	tempPrefix = ".new-"
	// touchEvery bounds how often a use is written down.
	touchEvery = time.Minute
)

// A disk keeps files by key, within a total size. The times of its files say
// when they were last used.
type disk struct {
	dir  string
	most int64

	mu    sync.Mutex
	total int64
	files map[string]*kept // by name
}

type kept struct {
	size int64
	used time.Time
}

// openDisk takes up a directory as an earlier gateway left it.
func openDisk(dir string, most int64) (*disk, error) {
	d := &disk{dir: dir, most: most, files: map[string]*kept{}}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		d.takeUp(e)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shrink("")
	return d, nil
}

func (d *disk) takeUp(e fs.DirEntry) {
	info, err := e.Info()
	switch {
	case err != nil || !info.Mode().IsRegular():
		return
	case strings.HasPrefix(e.Name(), tempPrefix):
		_ = os.Remove(filepath.Join(d.dir, e.Name())) // of a gateway that was killed
		return
	}
	d.files[e.Name()] = &kept{info.Size(), info.ModTime()}
	d.total += info.Size()
}

// nameOf gives the name of a key's file.
func nameOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// open gives a file that is kept, and when it was last used or renewed.
func (d *disk) open(key string) (*os.File, time.Time, bool) {
	name := nameOf(key)
	d.mu.Lock()
	defer d.mu.Unlock()
	k, ok := d.files[name]
	if !ok {
		return nil, time.Time{}, false
	}
	f, err := os.Open(filepath.Join(d.dir, name))
	if err != nil {
		d.forget(name)
		return nil, time.Time{}, false
	}
	return f, k.used, true
}

// use notes that a file is of use at the moment.
func (d *disk) use(key string) { d.note(key, touchEvery) }

// renew notes that a file is as good as new.
func (d *disk) renew(key string) { d.note(key, 0) }

func (d *disk) note(key string, unless time.Duration) {
	name, now := nameOf(key), time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	k, ok := d.files[name]
	if !ok || now.Sub(k.used) < unless {
		return
	}
	k.used = now
	_ = os.Chtimes(filepath.Join(d.dir, name), now, now) // lost: it goes a little too early
}

// create opens a file that is kept once it is committed. Whoever gets it calls
// discard at last.
func (d *disk) create() (*os.File, error) { return os.CreateTemp(d.dir, tempPrefix) }

// discard removes what was not committed.
func discard(f *os.File) { _ = errors.Join(f.Close(), os.Remove(f.Name())) }

// commit keeps a file, in the place of one before it, and makes room for it.
func (d *disk) commit(f *os.File, key string) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	name := nameOf(key)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := os.Rename(f.Name(), filepath.Join(d.dir, name)); err != nil {
		return err
	}
	if before, ok := d.files[name]; ok {
		d.total -= before.size
	}
	d.files[name] = &kept{info.Size(), time.Now()}
	d.total += info.Size()
	d.shrink(name)
	return nil
}

// shrink removes what was not used for longest, but for one. d.mu is held.
func (d *disk) shrink(but string) {
	if d.total <= d.most {
		return
	}
	names := make([]string, 0, len(d.files))
	for name := range d.files {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(d.files[a].used.Compare(d.files[b].used), strings.Compare(a, b))
	})
	for _, name := range names {
		if d.total <= d.most*9/10 { // so that it is not done for every file
			return
		}
		if name != but {
			_ = os.Remove(filepath.Join(d.dir, name))
			d.forget(name)
		}
	}
}

// forget is for a file that is gone. d.mu is held.
func (d *disk) forget(name string) {
	d.total -= d.files[name].size
	delete(d.files, name)
}

// size tells how much is kept.
func (d *disk) size() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.total
}
