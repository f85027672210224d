package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"

	"sandgate/sandboxclient/wire"
)

// Whatever an archive holds, all comes or nothing changes, and nothing lies
// outside afterwards.
func TestRestore_refusesHostileArchives(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	must(t, os.WriteFile(outside, []byte("untouched"), 0o644))
	up := "../../../../../../../../../.." + outside
	long := strings.Repeat("d/", 300) + "f"
	for name, archive := range map[string][]byte{
		"dots":                  makeTar(t, entry{"../x", tar.TypeReg, "x", 0}),
		"dots within":           makeTar(t, entry{"a/../../x", tar.TypeReg, "x", 0}),
		"absolute":              makeTar(t, entry{outside, tar.TypeReg, "x", 0}),
		"link, then through it": makeTar(t, entry{"l", tar.TypeSymlink, "/tmp", 0}, entry{"l/x", tar.TypeReg, "x", 0}),
		"link, then below it":   makeTar(t, entry{"l", tar.TypeSymlink, ".", 0}, entry{"l/", tar.TypeDir, "", 0}),
		"nested links":          makeTar(t, entry{"a/", tar.TypeDir, "", 0}, entry{"a/l", tar.TypeSymlink, "..", 0}, entry{"a/l/l/x", tar.TypeReg, "x", 0}),
		"hard link outside":     makeTar(t, entry{"h", tar.TypeLink, outside, 0}),
		"hard link up":          makeTar(t, entry{"h", tar.TypeLink, up, 0}),
		"hard link by a link":   makeTar(t, entry{"l", tar.TypeSymlink, "/etc", 0}, entry{"h", tar.TypeLink, "l/passwd", 0}),
		"hard link to a link":   makeTar(t, entry{"l", tar.TypeSymlink, "/etc/passwd", 0}, entry{"h", tar.TypeLink, "l", 0}),
		"hard link to nothing":  makeTar(t, entry{"h", tar.TypeLink, "later", 0}, entry{"later", tar.TypeReg, "x", 0}),
		"hard link to itself":   makeTar(t, entry{"h", tar.TypeReg, "x", 0}, entry{"h", tar.TypeLink, "h", 0}),
		"setuid":                makeTar(t, entry{"s", tar.TypeReg, "x", 0o4000}),
		"setgid directory":      makeTar(t, entry{"s/", tar.TypeDir, "", 0o2000}),
		"device":                makeTar(t, entry{"d", tar.TypeChar, "", 0}),
		"block device":          makeTar(t, entry{"d", tar.TypeBlock, "", 0}),
		"fifo":                  makeTar(t, entry{"f", tar.TypeFifo, "", 0}),
		"a name of 256 bytes":   makeTar(t, entry{strings.Repeat("n", 256), tar.TypeReg, "x", 0}),
		"our own names":         makeTar(t, entry{".sandgate-x", tar.TypeReg, "x", 0}),
		"top is a file":         makeTar(t, entry{".", tar.TypeReg, "x", 0}),
		"too deep":              makeTar(t, entry{long, tar.TypeReg, "x", 0}),
		"file, then below it":   makeTar(t, entry{"f", tar.TypeReg, "x", 0}, entry{"f/g", tar.TypeReg, "x", 0}),
		"directory, then file":  makeTar(t, entry{"f/g", tar.TypeReg, "x", 0}, entry{"f", tar.TypeReg, "x", 0}),
		"name too long":         makeTar(t, entry{strings.Repeat("n/", 2500) + "f", tar.TypeReg, "", 0}),
		"name of a NUL":         bytes.Replace(makeTar(t, entry{strings.Repeat("q", 120), tar.TypeReg, "x", 0}), []byte("qqq"), []byte("q\x00q"), 1),
		"no archive":            []byte("this is no archive at all, and never was one"),
		"nothing":               {},
		"cut":                   makeTar(t, entry{"f", tar.TypeReg, strings.Repeat("x", 3000), 0})[:2000],
		"half zstd":             zstdMagic,
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			r := newRig(t)
			r.put("app/file", "what was")
			want := describe(t, r.dir)
			for _, dir := range []string{"app", "new", "."} {
				_, err := r.Restore(t.Context(), dir, bytes.NewReader(archive), RestoreOptions{})
				if e, ok := errors.AsType[*wire.Error](err); !ok || e.Code != wire.CodeInvalid {
					t.Errorf("in %s: %v", dir, err)
				}
				r.tidy.Wait()
			}
			wantSame(t, withoutTimes(describe(t, r.dir)), withoutTimes(want))
		})
	}
	if got, err := os.ReadFile(outside); err != nil || string(got) != "untouched" {
		t.Errorf("outside is %q, %v", got, err)
	}
}

// withoutTimes leaves out the first line's, which is the workspace's own: entries
// came into it and went.
func withoutTimes(lines []string) []string { return lines[1:] }

// Links of our own archives stay what they are; those of others must not lead out.
func TestRestore_foreignLinks(t *testing.T) {
	r := newRig(t)
	for target, in := range map[string]bool{
		"b": true, "../a/b": true, "./../a/b": true, "..": true, ".//..//a": true,
		"d/..": false, "../a/../a/b": false, // d and a may be links, and lead further up than they seem to
		"/etc/passwd": false, "../../x": false, "../..": false, "../../../etc": false,
	} {
		archive := makeTar(t, entry{"a/l", tar.TypeSymlink, target, 0})
		_, err := r.Restore(t.Context(), "foreign", bytes.NewReader(archive), RestoreOptions{Foreign: true})
		if (err == nil) != in {
			t.Errorf("%s: %v", target, err)
		}
		r.restore("own", archive)
		if got, err := os.Readlink(filepath.Join(r.dir, "own/a/l")); err != nil || got != target {
			t.Errorf("%s became %q, %v", target, got, err)
		}
	}
}

// Links that each stay in the archive do not lead out of it one by another.
func TestRestore_foreignLinksByLinks(t *testing.T) {
	r := newRig(t)
	r.put("secret", "of another directory")
	archive := makeTar(t,
		entry{"z/file", tar.TypeReg, "x", 0},
		entry{"p/q/d", tar.TypeSymlink, "../../z", 0},
		entry{"p/q/out", tar.TypeSymlink, "d/../../secret", 0})
	_, err := r.Restore(t.Context(), "foreign", bytes.NewReader(archive), RestoreOptions{Foreign: true})
	wantCode(t, err, wire.CodeInvalid)
	if got, err := os.ReadFile(filepath.Join(r.dir, "foreign/p/q/out")); err == nil {
		t.Errorf("a link of the archive leads to %q", got)
	}
}

// Little that becomes much is refused before the disk is full of it.
func TestRestore_boundsWhatComes(t *testing.T) {
	r := newRig(t)
	r.put("app/file", "what was")
	var bomb bytes.Buffer
	z, err := zstd.NewWriter(&bomb)
	must(t, err)
	_, err = z.Write(makeTar(t, entry{"bomb", tar.TypeReg, strings.Repeat("x", 8<<20), 0}))
	must(t, err)
	must(t, z.Close())
	_, err = r.Restore(t.Context(), "app", &bomb, RestoreOptions{MaxBytes: 1 << 20})
	wantCode(t, err, wire.CodeTooLarge)
	endless := io.MultiReader(bytes.NewReader(makeTar(t, entry{"f", tar.TypeReg, "x", 0})), zeroReader{})
	_, err = r.Restore(t.Context(), "app", endless, RestoreOptions{})
	wantCode(t, err, wire.CodeInvalid)
	if got, err := os.ReadFile(filepath.Join(r.dir, "app/file")); err != nil || string(got) != "what was" {
		t.Errorf("%q, %v", got, err)
	}
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// A body that breaks off, even after its last byte, changes nothing.
func TestRestore_bodyBreaksOff(t *testing.T) {
	r := newRig(t)
	r.put("app/file", "packed")
	archive, _ := r.pack("app", Options{})
	r.put("app/file", "what was")
	for _, dir := range []string{"app", "."} {
		body := io.MultiReader(bytes.NewReader(archive), iotest.ErrReader(errors.New("broken")))
		_, err := r.Restore(t.Context(), dir, body, RestoreOptions{})
		wantCode(t, err, wire.CodeInvalid)
	}
	ctx, cancel := context.WithCancel(t.Context())
	body := io.MultiReader(bytes.NewReader(archive), readerFunc(func([]byte) (int, error) { cancel(); return 0, io.EOF }))
	if _, err := r.Restore(ctx, "app", body, RestoreOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if got, err := os.ReadFile(filepath.Join(r.dir, "app/file")); err != nil || string(got) != "what was" {
		t.Errorf("%q, %v", got, err)
	}
	r.tidy.Wait()
	if entries, err := os.ReadDir(r.dir); err != nil || len(entries) != 1 {
		t.Errorf("%v is left, %v", entries, err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func FuzzRestore(f *testing.F) {
	f.Add(makeTar(f, entry{"a/b", tar.TypeReg, "x", 0}, entry{"l", tar.TypeSymlink, "a", 0}, entry{"h", tar.TypeLink, "a/b", 0}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, archive []byte) {
		r := newRig(t)
		r.put("kept/file", "kept")
		_, _ = r.Restore(t.Context(), "app", bytes.NewReader(archive), RestoreOptions{MaxBytes: 1 << 20})
		r.tidy.Wait()
		if got, err := os.ReadFile(filepath.Join(r.dir, "kept/file")); err != nil || string(got) != "kept" {
			t.Errorf("%q, %v", got, err)
		}
	})
}
