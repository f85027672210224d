package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	minImage     = 16 << 20
	bytesPerFile = 8192 // of an image, for each file that it can hold
)

// errNoMkfs says what to do about it.
var errNoMkfs = errors.New("mkfs.ext4 is missing, which makes workspaces of a limited size: install e2fsprogs, or set their size to 0, which means no limit")

// toolDirs are where tools of a system lie that not every PATH leads to.
var toolDirs = []string{"", "/usr/sbin", "/sbin"}

func findTool(name string) (string, bool) {
	for _, dir := range toolDirs {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, true
		}
	}
	return "", false
}

// makeImage makes a file that holds an empty file system of a size, whose root
// belongs to the sandbox user. It takes as much room as is used of it.
//
// It has a journal: without one a power cut would call for a check of the whole
// file system, with its directories at stake. A small one costs nothing that
// could be measured.
func makeImage(ctx context.Context, path string, size int64) error {
	mkfs, ok := findTool("mkfs.ext4")
	if !ok {
		return errNoMkfs
	}
	if err := makeSparse(path, size); err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, mkfs, "-q", "-F", "-m", "0",
		"-i", fmt.Sprint(bytesPerFile),
		"-J", fmt.Sprintf("size=%d", journalMiB(size)),
		"-E", fmt.Sprintf("lazy_itable_init=1,lazy_journal_init=1,nodiscard,root_owner=%d:%d", sandboxUID, sandboxGID),
		path).CombinedOutput()
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %.500s", mkfs, errors.Join(err, full(path)), strings.TrimSpace(string(out)))
	}
	return nil
}

func journalMiB(size int64) int {
	if size < 512<<20 {
		return 4
	}
	return 16
}

func makeSparse(path string, size int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Close())
}

// full is ENOSPC when nothing more can be written beside a file.
func full(path string) error {
	var stat unix.Statfs_t
	if unix.Statfs(path, &stat) == nil && stat.Bavail == 0 {
		return unix.ENOSPC
	}
	return nil
}

// copyImage copies the parts of an image that hold anything, and puts the copy
// in place once it is on disk: a torn one would be a workspace lost.
func copyImage(from, to string) error {
	next := to + ".new"
	err := copySparse(from, next)
	if err == nil {
		err = os.Rename(next, to)
	}
	if err != nil {
		return errors.Join(err, removeFile(next))
	}
	return nil
}

func copySparse(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(copyData(dst, src), dst.Sync(), dst.Close())
}

// copyData copies what is not a hole, and the size.
func copyData(dst, src *os.File) error {
	info, err := src.Stat()
	if err != nil {
		return err
	}
	if err := dst.Truncate(info.Size()); err != nil {
		return err
	}
	for end := int64(0); ; {
		start, err := src.Seek(end, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			return nil // nothing but a hole follows
		}
		if err != nil {
			return err
		}
		if end, err = src.Seek(start, unix.SEEK_HOLE); err != nil {
			return err
		}
		if _, err := io.Copy(io.NewOffsetWriter(dst, start), io.NewSectionReader(src, start, end-start)); err != nil {
			return err
		}
	}
}
