package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"path"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"sandgate/internal/sandboxd/workspace"
	"sandgate/sandboxclient/wire"
)

const (
	// hole is how long a run of zeros is at least that is not written.
	hole = 64 << 10
	// maxTrailer is what may follow the end of a tar.
	maxTrailer = 16 << 20
	// newMode is what a file or directory is given that an archive says nothing of.
	newDirMode = 0o755
)

var zeros [hole]byte

// An unpacker makes a tree of an archive, in a directory that nobody else can
// reach.
type unpacker struct {
	ctx     context.Context
	archive *Archiver
	tar     *tar.Reader
	ending  *ending // of the tar
	tree    tree
	foreign bool // links must stay in the archive
	most    int64
	entries int
	buf     []byte
	info    wire.ArchiveInfo
}

// unpack reads a whole body into the directory called name.
func (a *Archiver) unpack(ctx context.Context, in directory, name string, body io.Reader, o RestoreOptions) (wire.ArchiveInfo, error) {
	content, closeContent, err := plain(body)
	if err != nil {
		return wire.ArchiveInfo{}, malformed(err)
	}
	defer closeContent()
	end := &ending{r: content}
	u := unpacker{
		ctx: ctx, archive: a, tar: tar.NewReader(end), ending: end, foreign: o.Foreign,
		most: bound(o.MaxBytes), buf: make([]byte, copyBuffer),
	}
	err = u.tree.plant(in, name, a.uid, a.gid)
	if err == nil {
		err = u.all()
	}
	if err := errors.Join(err, u.tree.close()); err != nil {
		return u.info, err
	}
	// What follows must be read as well: only at its end is it known to be whole.
	return u.info, drain(ctx, content, body)
}

// drain reads to the end of what was compressed, and of the body around it.
func drain(ctx context.Context, content, body io.Reader) error {
	for _, r := range []io.Reader{content, body} {
		n, err := io.Copy(io.Discard, io.LimitReader(r, maxTrailer+1))
		if err != nil {
			return malformed(err)
		}
		if n > maxTrailer {
			return fail(wire.CodeInvalid, "The archive goes on after its end")
		}
	}
	return ctx.Err()
}

func (u *unpacker) all() error {
	for {
		if err := errors.Join(u.ctx.Err(), u.tree.crew.failure()); err != nil {
			return err
		}
		h, err := u.tar.Next()
		if errors.Is(err, io.EOF) && u.ending.seen() {
			return nil
		}
		if err != nil {
			return malformed(err)
		}
		if u.entries++; u.entries > maxEntries {
			return tooMany()
		}
		if err := u.entry(h); err != nil {
			return err
		}
		if err := u.ending.entry(u.tar); err != nil {
			return malformed(err)
		}
	}
}

// entry unpacks one entry, or refuses it by name.
func (u *unpacker) entry(h *tar.Header) error {
	if h.Typeflag == tar.TypeXGlobalHeader { // git archive begins with one
		return nil
	}
	name, err := clean(h.Name)
	if err != nil {
		return err
	}
	if h.Mode&(unix.S_ISUID|unix.S_ISGID) != 0 {
		return refused(name, "it is setuid or setgid")
	}
	if h.Typeflag == tar.TypeDir {
		return u.tree.directory(name, h)
	}
	if name == "." {
		return refused(name, "the top of an archive is a directory")
	}
	in, base, err := u.tree.parent(name)
	if err != nil {
		return err
	}
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeGNUSparse:
		err = u.file(in, base, name, h)
	case tar.TypeSymlink:
		err = u.symlink(in.directory, base, name, h)
	case tar.TypeLink:
		err = u.hardLink(in.directory, base, name, h)
	default:
		return refused(name, "it is a device, a FIFO or something else that is no file, directory or link")
	}
	u.info.Files++
	return err
}

// clean checks a name of an archive, which is relative and stays below its top.
func clean(name string) (string, error) {
	if len(name) > maxPath || strings.ContainsRune(name, 0) {
		return "", refused(name, "its name is too long, or holds a NUL byte")
	}
	if strings.HasPrefix(name, "/") {
		return "", refused(name, "its name is absolute")
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return "", refused(name, "its name leads out of the archive")
		}
		if strings.HasPrefix(part, workspace.Temporary) {
			return "", refused(name, "names that begin with "+workspace.Temporary+" are reserved")
		}
	}
	return path.Clean(name), nil
}

func refused(name, why string) error {
	return fail(wire.CodeInvalid, "The archive is refused at %.200q: %s", name, why)
}

// file makes a file; where something is already that is no directory, in its
// place. A small one is made while the archive is read on.
func (u *unpacker) file(in *level, base, name string, h *tar.Header) error {
	if h.Size > u.most-u.info.Bytes {
		return tooLarge(u.most)
	}
	u.info.Bytes += h.Size
	if h.Size > int64(len(zeros)) {
		return u.tree.crew.now(func() error { return u.make(in.directory, base, name, h, u.content) })
	}
	buf := small.Get().(*[hole]byte)
	if _, err := io.ReadFull(u.tar, buf[:h.Size]); err != nil {
		return malformed(err)
	}
	in.hold()
	u.tree.crew.do(func() error {
		defer in.release()
		defer small.Put(buf)
		return u.make(in.directory, base, name, h, func(fd int, size int64) error { return writeAt(fd, buf[:size], 0) })
	})
	return nil
}

var small = sync.Pool{New: func() any { return new([hole]byte) }}

// make makes a file of whoever it is that does, and fills it.
func (u *unpacker) make(in directory, base, name string, h *tar.Header, fill func(fd int, size int64) error) error {
	mode := uint32(h.Mode & 0o1777)
	fd, err := u.create(in, base, name, mode)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := fill(fd, h.Size); err != nil {
		return err
	}
	if mode&^0o777 != 0 || mode&u.archive.umask != 0 {
		if err := unix.Fchmod(fd, mode); err != nil {
			return err
		}
	}
	return setTime(in, base, h)
}

// create makes an empty file, as far as the process's umask lets it with its mode.
func (u *unpacker) create(in directory, base, name string, mode uint32) (int, error) {
	const flags = unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW
	fd, err := in.open(base, flags, mode&0o777, itself)
	if !errors.Is(err, syscall.EEXIST) {
		return fd, err
	}
	if err := u.tree.clear(in, base, name); err != nil {
		return -1, err
	}
	return in.open(base, flags, mode&0o777, itself)
}

// content writes a file's bytes, but long runs of zeros, which become holes.
func (u *unpacker) content(fd int, size int64) error {
	var at, end int64 // end is that of what was written
	for at < size {
		if err := u.ctx.Err(); err != nil {
			return err
		}
		n, err := io.ReadFull(u.tar, u.buf[:min(size-at, int64(len(u.buf)))])
		if err != nil {
			return malformed(err)
		}
		if end, err = writeSparse(fd, u.buf[:n], at, end); err != nil {
			return err
		}
		at += int64(n)
	}
	if end < size {
		return unix.Ftruncate(fd, size)
	}
	return nil
}

// writeSparse writes the pieces that are not zero; it gives the new end.
func writeSparse(fd int, data []byte, at, end int64) (int64, error) {
	for len(data) > 0 {
		piece := data
		if len(data) > hole {
			piece = data[:hole]
		}
		if len(piece) < hole || !bytes.Equal(piece, zeros[:]) {
			if err := writeAt(fd, piece, at); err != nil {
				return end, err
			}
			end = at + int64(len(piece))
		}
		at, data = at+int64(len(piece)), data[len(piece):]
	}
	return end, nil
}

func writeAt(fd int, data []byte, at int64) error {
	for len(data) > 0 {
		n, err := unix.Pwrite(fd, data, at)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		at, data = at+int64(n), data[n:]
	}
	return nil
}

func (u *unpacker) symlink(in directory, base, name string, h *tar.Header) error {
	target := h.Linkname
	if target == "" || len(target) >= maxPath || strings.ContainsRune(target, 0) {
		return refused(name, "it is a link to nowhere")
	}
	if u.foreign && leadsOut(name, target) {
		return refused(name, "it is a link that leads out of the archive")
	}
	if err := u.tree.clear(in, base, name); err != nil {
		return err
	}
	if err := unix.Symlinkat(target, in.fd, base); err != nil {
		return err
	}
	if err := unix.Fchownat(in.fd, base, u.archive.uid, u.archive.gid, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	return setTime(in, base, h)
}

// leadsOut says whether a link of this name may have a target outside the archive.
// The directory that it lies in is none that a link leads to, so that ups from
// there can be counted; but behind a name, which may be a link's, they cannot.
func leadsOut(name, target string) bool {
	if strings.HasPrefix(target, "/") {
		return true
	}
	above, down := strings.Count(name, "/"), false
	for part := range strings.SplitSeq(target, "/") {
		switch part {
		case "", ".":
		case "..":
			if above--; above < 0 || down {
				return true
			}
		default:
			down = true
		}
	}
	return false
}

// hardLink gives a file of the archive one more name.
func (u *unpacker) hardLink(in directory, base, name string, h *tar.Header) error {
	target, err := clean(h.Linkname)
	if err != nil {
		return refused(name, "it is a hard link that leads out of the archive")
	}
	if target == name {
		return refused(name, "it is a hard link to itself")
	}
	from, fromBase, err := u.tree.find(target)
	if err != nil {
		return refused(name, "it is a hard link to what is no file before it in the archive")
	}
	defer from.Close()
	if stat, err := from.lstat(fromBase); err != nil || kind(stat) != unix.S_IFREG {
		return refused(name, "it is a hard link to what is no file before it in the archive")
	}
	if err := u.tree.clear(in, base, name); err != nil {
		return err
	}
	return unix.Linkat(from.fd, fromBase, in.fd, base, 0)
}

// setTime gives an entry, a link itself, its time of change.
func setTime(in directory, base string, h *tar.Header) error {
	at, err := unix.TimeToTimespec(h.ModTime)
	if err != nil {
		return refused(h.Name, "its time cannot be kept")
	}
	return setTimespec(in, base, at)
}

func setTimespec(in directory, base string, at unix.Timespec) error {
	err := unix.UtimesNanoAt(in.fd, base, []unix.Timespec{at, at}, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
		return nil // of links alone; it matters to nobody
	}
	return err
}
