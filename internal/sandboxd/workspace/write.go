package workspace

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"sandgate/sandboxclient/wire"
)

const (
	// copyBuffer is how much of a file is moved at once.
	copyBuffer = 1 << 20
	// newFileMode is what a new file is given; umask has no part in it.
	newFileMode = 0o644
	// privateMode keeps what is not complete from everybody but us.
	privateMode = 0o600
)

var buffers = sync.Pool{New: func() any { return new(make([]byte, copyBuffer)) }}

func randomName() string { return rand.Text()[:10] }

// temporary names an entry that only we know. The sweep spares those of this
// process by how they begin.
func (w *Workspace) temporary() string { return *w.boot.Load() + "-" + randomName() }

// Write puts a file in place of whatever is there, with its directories, once
// all of it has come: until then, and on any failure, the file is as it was. An
// existing file's permissions are kept, a link is replaced itself.
func (w *Workspace) Write(ctx context.Context, name string, body io.Reader, c Conditions) (wire.FileInfo, error) {
	name, err := clean(name)
	if err != nil {
		return wire.FileInfo{}, err
	}
	if name == "." {
		return wire.FileInfo{}, isDirectory()
	}
	dir, base, err := w.makeParent(name, c)
	if err != nil {
		return wire.FileInfo{}, w.explain(err)
	}
	defer dir.Close()
	r := replacement{workspace: w, dir: dir, base: base, name: name, conditions: c}
	info, err := r.run(ctx, body)
	return info, w.explain(err)
}

// makeParent opens the directory to write into and makes it first if need be,
// but not for a write that asks for a file which then cannot be there.
func (w *Workspace) makeParent(name string, c Conditions) (directory, string, error) {
	dir, base, err := w.root.parent(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return dir, base, err
	}
	if err := c.check(false, ""); err != nil {
		return directory{}, "", err
	}
	if err := w.makeDirs(path.Dir(name)); err != nil {
		return directory{}, "", err
	}
	return w.root.parent(name)
}

// A replacement is one write to base in dir, which is called name from the root.
type replacement struct {
	workspace  *Workspace
	dir        directory
	base       string
	name       string
	conditions Conditions
}

func (r replacement) run(ctx context.Context, body io.Reader) (wire.FileInfo, error) {
	mode, err := r.check()
	if err != nil {
		return wire.FileInfo{}, err
	}
	tmp := r.workspace.temporary()
	f, err := r.dir.create(tmp, privateMode)
	if err != nil {
		return wire.FileInfo{}, err
	}
	defer f.Close()
	stat, err := r.fill(ctx, f, tmp, mode, body)
	if err != nil {
		return wire.FileInfo{}, errors.Join(err, r.dir.unlink(tmp, 0))
	}
	return describe(r.base, stat), nil
}

// fill writes the temporary file and lets it take the target's place.
func (r replacement) fill(ctx context.Context, f *os.File, tmp string, mode uint32, body io.Reader) (stat unix.Stat_t, err error) {
	if err := copyBody(ctx, f, body); err != nil {
		return stat, err
	}
	fd := int(f.Fd())
	if err := unix.Fchown(fd, r.workspace.uid, r.workspace.gid); err != nil {
		return stat, err
	}
	if err := unix.Fchmod(fd, mode); err != nil {
		return stat, err
	}
	// The file system's own stamps are too coarse to tell two writes of the same
	// size apart.
	now := unix.NsecToTimespec(time.Now().UnixNano())
	if err := unix.UtimesNanoAt(r.dir.fd, tmp, []unix.Timespec{now, now}, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return stat, err
	}
	if err := r.commit(tmp); err != nil {
		return stat, err
	}
	return stat, unix.Fstat(fd, &stat)
}

// commit lets the temporary file take the target's place, if the conditions
// still hold.
func (r replacement) commit(tmp string) error {
	r.workspace.commit.Lock()
	defer r.workspace.commit.Unlock()
	if r.conditions.any() {
		if _, err := r.check(); err != nil {
			return err
		}
	}
	return r.dir.rename(tmp, r.dir, r.base, 0)
}

// check looks at what is to be replaced, and gives the mode of what replaces it.
func (r replacement) check() (mode uint32, err error) {
	stat, err := r.dir.lstat(r.base)
	if errors.Is(err, fs.ErrNotExist) {
		return newFileMode, r.conditions.check(false, "")
	}
	if err != nil {
		return 0, err
	}
	if isDir(stat) {
		return 0, isDirectory()
	}
	if err := r.conditions.check(true, r.tag(stat)); err != nil {
		return 0, err
	}
	if !isRegular(stat) {
		return newFileMode, nil
	}
	return stat.Mode & 0o777, nil
}

// tag gives what a read of the path shows: that of a link's target.
func (r replacement) tag(stat unix.Stat_t) string {
	if r.conditions.any() && !isRegular(stat) {
		followed, err := r.workspace.root.stat(r.name)
		if err != nil {
			return ""
		}
		stat = followed
	}
	if !isRegular(stat) {
		return ""
	}
	return etag(stat)
}

// copyBody copies in large pieces, and stops with ctx. A body that breaks off
// is an error, which is why its end is not taken from io.ReadFull.
func copyBody(ctx context.Context, to io.Writer, from io.Reader) error {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	for {
		n, end := fillBuffer(from, *buf)
		if n > 0 {
			if _, err := to.Write((*buf)[:n]); err != nil {
				return err
			}
		}
		if errors.Is(end, io.EOF) {
			return nil
		}
		if end != nil {
			return end
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// fillBuffer reads until the buffer is full or the reader says why it is not.
func fillBuffer(from io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var m int
		m, err = from.Read(buf[n:])
		n += m
	}
	return n, err
}
