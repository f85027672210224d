package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"sandgate/internal/sandboxd/workspace"
	"sandgate/sandboxclient/wire"
)

// A rig is a workspace, and its directory as the host sees it.
type rig struct {
	*Archiver
	t   testing.TB
	dir string
	end context.CancelFunc
}

func newRig(t testing.TB) *rig {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("files are given to another user, which needs root")
	}
	dir := filepath.Join(t.TempDir(), "workspace")
	must(t, os.Mkdir(dir, 0o755))
	return openRig(t, dir)
}

func openRig(t testing.TB, dir string) *rig {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithCancel(context.Background())
	must(t, Recover(dir))
	files, err := workspace.Open(dir, log)
	must(t, err)
	must(t, files.Sweep(ctx))
	a, err := Open(ctx, dir, files, log)
	must(t, err)
	r := &rig{Archiver: a, t: t, dir: dir, end: cancel}
	t.Cleanup(func() {
		r.Close()
		cancel()
		_ = files.Close()
	})
	return r
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t testing.TB, err error, code string) {
	t.Helper()
	if e, ok := errors.AsType[*wire.Error](err); !ok || e.Code != code {
		t.Errorf("got error %v, want %s", err, code)
	}
}

// put makes a file with its directories.
func (r *rig) put(name, content string) string {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	must(r.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(r.t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

func (r *rig) pack(dir string, o Options) ([]byte, wire.ArchiveInfo) {
	r.t.Helper()
	s, err := r.Source(dir, o)
	must(r.t, err)
	defer s.Close()
	var b bytes.Buffer
	info, err := s.Pack(r.t.Context(), &b)
	must(r.t, err)
	return b.Bytes(), info
}

func (r *rig) restore(dir string, archive []byte) wire.ArchiveInfo {
	r.t.Helper()
	info, err := r.Restore(r.t.Context(), dir, bytes.NewReader(archive), RestoreOptions{})
	must(r.t, err)
	r.tidy.Wait()
	return info
}

// describe gives a line for all that is in a directory, with all that an archive
// keeps of it; what waits for the sweep is not. Files that are one have the same number.
func describe(t testing.TB, dir string) []string {
	t.Helper()
	var lines []string
	numbers := make(map[uint64]int)
	must(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.HasPrefix(filepath.Base(path), workspace.Temporary) {
			return fs.SkipDir
		}
		var stat unix.Stat_t
		if err := unix.Lstat(path, &stat); err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		line := fmt.Sprintf("%q %o %d.%09d", name, stat.Mode, stat.Mtim.Sec, stat.Mtim.Nsec)
		switch stat.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if stat.Nlink > 1 {
				if numbers[stat.Ino] == 0 {
					numbers[stat.Ino] = len(numbers) + 1
				}
				line += fmt.Sprintf(" link %d", numbers[stat.Ino])
			}
			line += fmt.Sprintf(" %d bytes %.40q", len(content), content)
		case unix.S_IFLNK:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			line += " -> " + target
		}
		lines = append(lines, line)
		return nil
	}))
	return lines
}

func wantSame(t testing.TB, got, want []string) {
	t.Helper()
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

// entry is one of a tar of a test.
type entry struct {
	name string
	kind byte
	body string // or where a link leads
	mode int64
}

func makeTar(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Typeflag: e.kind, Name: e.name, Mode: 0o644 | e.mode, Format: tar.FormatPAX}
		switch e.kind {
		case tar.TypeReg:
			h.Size = int64(len(e.body))
		case tar.TypeLink, tar.TypeSymlink:
			h.Linkname = e.body
		case tar.TypeDir:
			h.Mode |= 0o111
		}
		must(t, w.WriteHeader(h))
		if e.kind == tar.TypeReg {
			_, err := w.Write([]byte(e.body))
			must(t, err)
		}
	}
	must(t, w.Close())
	return b.Bytes()
}
