package archive

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"path"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"sandgate/internal/sandboxd/workspace"
	"sandgate/sandboxclient/wire"
)

// A Source is a directory that is about to be packed.
type Source struct {
	dir      directory
	stat     unix.Stat_t
	excludes patterns
	options  Options
}

// Options say how a directory is packed.
type Options struct {
	Excludes  []string // in git's notation
	Gitignore bool     // leave out what the .gitignore files in the directory do
	Plain     bool     // do not compress
	MaxBytes  int64    // of content; 0: the most that is ever packed
}

// Source opens a directory to be packed. What can be wrong with the request is
// said here, before there is a first byte.
func (a *Archiver) Source(dir string, o Options) (*Source, error) {
	excludes, err := newPatterns(o.Excludes)
	if err != nil {
		return nil, err
	}
	info, err := a.files.Stat(dir)
	if err != nil {
		return nil, err
	}
	if info.Type != wire.TypeDirectory {
		return nil, fail(wire.CodeConflict, "The path is not a directory")
	}
	opened, err := a.root.directory(dir, within)
	if err != nil {
		return nil, explain(err)
	}
	s := &Source{dir: opened, excludes: excludes, options: o}
	if err := unix.Fstat(opened.fd, &s.stat); err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return s, nil
}

// Close lets the directory go.
func (s *Source) Close() error { return s.dir.Close() }

// Pack packs the directory. Only with a nil error is what was written whole.
func (s *Source) Pack(ctx context.Context, w io.Writer) (wire.ArchiveInfo, error) {
	if s.options.Plain {
		info, err := s.pack(ctx, w)
		return info, explain(err)
	}
	z, err := compressed(w)
	if err != nil {
		return wire.ArchiveInfo{}, err
	}
	info, err := s.pack(ctx, z)
	return info, explain(errors.Join(err, z.Close()))
}

func (s *Source) pack(ctx context.Context, w io.Writer) (wire.ArchiveInfo, error) {
	p := packer{
		ctx: ctx, tar: tar.NewWriter(w), buf: make([]byte, copyBuffer), gitignore: s.options.Gitignore,
		most: bound(s.options.MaxBytes), links: make(map[inode]string),
	}
	if err := p.directory(s.dir, s.stat, ".", s.excludes, 0); err != nil {
		return p.info, err
	}
	return p.info, p.tar.Close()
}

// copyBuffer is how much of a file is moved at once.
const copyBuffer = 256 << 10

func bound(asked int64) int64 {
	if asked <= 0 {
		return maxBytes
	}
	return min(asked, maxBytes)
}

// A packer writes one archive.
type packer struct {
	ctx       context.Context
	tar       *tar.Writer
	buf       []byte
	gitignore bool
	most      int64 // bytes of content
	entries   int
	links     map[inode]string // names of files that have more than one
	info      wire.ArchiveInfo
}

type inode struct{ device, number uint64 }

// directory packs a directory and all below it. name is its name in the
// archive, "." for the top.
func (p *packer) directory(dir directory, stat unix.Stat_t, name string, excludes patterns, depth int) error {
	if depth > maxDepth {
		return fail(wire.CodeInvalid, "There are more than %d directories in one another, in %.60q…: leave it out by excludes", maxDepth, name)
	}
	h := header(stat, name+"/")
	h.Typeflag = tar.TypeDir
	if err := p.begin(h); err != nil {
		return err
	}
	if p.gitignore {
		excludes = excludes.with(dir, name)
	}
	all, err := dir.dirents(maxEntries - p.entries)
	if err != nil {
		return err
	}
	for _, e := range all {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		if strings.HasPrefix(e.name, workspace.Temporary) {
			continue
		}
		if err := p.entry(dir, e, path.Join(name, e.name), excludes, depth); err != nil {
			return err
		}
	}
	return nil
}

// entry packs one entry. One that is gone meanwhile is left out, and counted.
func (p *packer) entry(in directory, e dirent, name string, excludes patterns, depth int) error {
	var stat unix.Stat_t
	if e.kind == unix.DT_UNKNOWN || e.kind == unix.DT_LNK {
		var err error
		if stat, err = in.lstat(e.name); gone(err) {
			p.info.Changed++
			return nil
		} else if err != nil {
			return err
		}
		e.kind = uint8(kind(stat) >> 12) // which is how the one becomes the other
	}
	if excludes.excludes(name, e.kind == unix.DT_DIR) {
		return nil
	}
	switch e.kind {
	case unix.DT_DIR:
		return p.below(in, e.name, name, excludes, depth)
	case unix.DT_REG:
		return p.file(in, e.name, name)
	case unix.DT_LNK:
		return p.link(in, e.name, name, stat)
	}
	p.info.Skipped++
	return nil
}

func (p *packer) below(in directory, base, name string, excludes patterns, depth int) error {
	dir, err := in.directory(base, itself)
	if gone(err) {
		p.info.Changed++
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	var stat unix.Stat_t
	if err := unix.Fstat(dir.fd, &stat); err != nil {
		return err
	}
	return p.directory(dir, stat, name, excludes, depth+1)
}

func (p *packer) link(in directory, base, name string, stat unix.Stat_t) error {
	target, err := in.readlink(base)
	if err != nil {
		p.info.Changed++
		return nil // it is no link any more
	}
	h := header(stat, name)
	h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, target, 0o777
	p.info.Files++
	return p.begin(h)
}

func (p *packer) file(in directory, base, name string) error {
	fd, err := in.open(base, unix.O_RDONLY|unix.O_NONBLOCK, 0, itself)
	if gone(err) {
		p.info.Changed++
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	if kind(stat) != unix.S_IFREG {
		p.info.Changed++
		return nil
	}
	p.info.Files++
	h := header(stat, name)
	if first, again := p.linked(stat, name); again {
		h.Typeflag, h.Linkname = tar.TypeLink, first
		return p.begin(h)
	}
	h.Typeflag, h.Size = tar.TypeReg, stat.Size
	if h.Size > p.most-p.info.Bytes {
		return tooLarge(p.most)
	}
	if err := p.begin(h); err != nil {
		return err
	}
	p.info.Bytes += h.Size
	return p.content(fd, h.Size)
}

// linked gives the name under which a file was packed already.
func (p *packer) linked(stat unix.Stat_t, name string) (first string, again bool) {
	if stat.Nlink < 2 {
		return "", false
	}
	key := inode{stat.Dev, stat.Ino}
	if first, again = p.links[key]; !again {
		p.links[key] = name
	}
	return first, again
}

// content packs as many bytes as were promised: of a file that shrinks
// meanwhile the rest is zeros, and it is counted.
func (p *packer) content(fd int, size int64) error {
	for size > 0 {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		n, err := unix.Read(fd, p.buf[:min(size, int64(len(p.buf)))])
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		if n <= 0 {
			p.info.Changed++
			return p.zeros(size)
		}
		if _, err := p.tar.Write(p.buf[:n]); err != nil {
			return err
		}
		size -= int64(n)
	}
	return nil
}

func (p *packer) zeros(size int64) error {
	clear(p.buf)
	for size > 0 {
		n, err := p.tar.Write(p.buf[:min(size, int64(len(p.buf)))])
		if err != nil {
			return err
		}
		size -= int64(n)
	}
	return nil
}

func (p *packer) begin(h *tar.Header) error {
	if p.entries++; p.entries > maxEntries {
		return tooMany()
	}
	if len(h.Name) > maxPath { // programs reach such names one directory at a time, and it could not be restored
		return fail(wire.CodeInvalid, "The directory holds a name of more than %d bytes, %.100q…: leave it out by excludes", maxPath, h.Name)
	}
	return p.tar.WriteHeader(h)
}

// header describes an entry. Bits that lend rights to others are dropped.
func header(stat unix.Stat_t, name string) *tar.Header {
	return &tar.Header{
		Format:  tar.FormatPAX, // for times, long names and names that are no text
		Name:    name,
		Mode:    int64(stat.Mode & 0o1777),
		ModTime: time.Unix(stat.Mtim.Unix()),
	}
}
