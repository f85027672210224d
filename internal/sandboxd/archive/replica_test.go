package archive

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sandgate/sandboxclient/wire"
)

// oddTree makes a tree of all that has to come back.
func oddTree(r *rig, top string) {
	r.t.Helper()
	in := func(name string) string { return filepath.Join(top, name) }
	old := time.Date(1999, 12, 31, 23, 59, 59, 123456789, time.UTC)
	run := r.put(in("bin/run.sh"), "#!/bin/sh\n")
	must(r.t, os.Chmod(run, 0o755))
	secret := r.put(in("secret"), "nobody may read this")
	must(r.t, os.Chmod(secret, 0))
	first := r.put(in("links/first"), "one file, three names")
	must(r.t, os.Link(first, filepath.Join(r.dir, in("links/second"))))
	must(r.t, os.Link(first, filepath.Join(r.dir, in("a-third"))))
	must(r.t, os.Symlink("../bin/run.sh", filepath.Join(r.dir, in("links/relative"))))
	must(r.t, os.Symlink("/usr/bin/python3", filepath.Join(r.dir, in("links/absolute"))))
	must(r.t, os.Symlink("../../../../etc/shadow", filepath.Join(r.dir, in("links/outside"))))
	must(r.t, os.Symlink("nowhere", filepath.Join(r.dir, in("links/dangling"))))
	for _, name := range []string{"with space", "new\nline", "tab\there", "-rf", "ünïcödé", "\xff\xfe", "trailing ", "#hash", "!bang", strings.Repeat("n", 255)} {
		r.put(in("odd/"+name), name)
	}
	r.put(in(strings.Repeat("deep/", 20)+"file"), "deep")
	must(r.t, os.MkdirAll(filepath.Join(r.dir, in("empty/inside")), 0o755))
	must(r.t, os.Chmod(filepath.Join(r.dir, in("empty/inside")), 0))
	holes, err := os.Create(filepath.Join(r.dir, in("sparse")))
	must(r.t, err)
	_, err = holes.WriteAt([]byte("end"), 4<<20)
	must(r.t, err)
	must(r.t, holes.Close())
	r.put(in("empty-file"), "")
	must(r.t, os.Chtimes(run, old, old))
	must(r.t, os.Chtimes(filepath.Join(r.dir, in("empty/inside")), old, old))
	must(r.t, os.Chtimes(filepath.Join(r.dir, in("odd")), old, old))
	must(r.t, os.Chtimes(filepath.Join(r.dir, top), old, old))
}

// Five times round, a tree is the same to the last bit, and so is its archive.
func TestRestore_isExactReplica(t *testing.T) {
	for _, dir := range []string{"app", "deep/er/app", "."} {
		t.Run(dir, func(t *testing.T) {
			r := newRig(t)
			oddTree(r, dir)
			path := filepath.Join(r.dir, dir)
			want := describe(t, path)
			archive, info := r.pack(dir, Options{})
			if info.Skipped != 0 || info.Changed != 0 {
				t.Errorf("%+v", info)
			}
			for range 5 {
				must(t, os.Remove(filepath.Join(path, "secret")))
				must(t, os.WriteFile(filepath.Join(path, "bin/run.sh"), []byte("spoiled"), 0o644))
				r.put(filepath.Join(dir, "newer/file"), "must go")
				if got := r.restore(dir, archive); got != info {
					t.Errorf("restored %+v, packed %+v", got, info)
				}
				wantSame(t, describe(t, path), want)
				again, _ := r.pack(dir, Options{})
				if !bytes.Equal(again, archive) {
					t.Error("its archive is another one")
				}
			}
			var stat unix.Stat_t
			must(t, unix.Stat(filepath.Join(path, "sparse"), &stat))
			if stat.Blocks*512 > 1<<18 {
				t.Errorf("the sparse file takes %d bytes", stat.Blocks*512)
			}
			must(t, unix.Lstat(filepath.Join(path, "links/absolute"), &stat))
			if int(stat.Uid) != r.uid || int(stat.Gid) != r.gid {
				t.Errorf("a link belongs to %d:%d", stat.Uid, stat.Gid)
			}
		})
	}
}

func TestRestore_touchesNothingElse(t *testing.T) {
	r := newRig(t)
	oddTree(r, "app")
	r.put("other/file", "stays")
	archive, _ := r.pack("app", Options{})
	top := describe(t, r.dir)[0]
	_, err := r.Restore(t.Context(), "other/again", bytes.NewReader(archive), RestoreOptions{})
	must(t, err)
	r.tidy.Wait()
	if got := describe(t, r.dir)[0]; got != top {
		t.Errorf("the workspace itself is %s, and was %s", got, top)
	}
	want := describe(t, filepath.Join(r.dir, "other"))
	r.restore("copy/of/app", archive)
	wantSame(t, describe(t, filepath.Join(r.dir, "other")), want)
	wantSame(t, describe(t, filepath.Join(r.dir, "copy/of/app")), describe(t, filepath.Join(r.dir, "app")))
	entries, err := os.ReadDir(r.dir)
	must(t, err)
	if len(entries) != 3 {
		t.Errorf("the workspace has %v", entries)
	}
}

func TestRestore_takesWhatOthersPack(t *testing.T) {
	r := newRig(t)
	plainTar := makeTar(t, entry{"a/b/c", tar.TypeReg, "content", 0}, entry{"a/b/c", tar.TypeReg, "again", 0}, entry{"./d/", tar.TypeDir, "", 0})
	r.restore("app", plainTar)
	if got, err := os.ReadFile(filepath.Join(r.dir, "app/a/b/c")); err != nil || string(got) != "again" {
		t.Errorf("%q, %v", got, err)
	}
	if info, err := os.Stat(filepath.Join(r.dir, "app/d")); err != nil || !info.IsDir() {
		t.Errorf("%v, %v", info, err)
	}
}

// Nobody who may not write into a directory once it is whole is kept from making it.
func TestRestore_entersADirectoryAgain(t *testing.T) {
	r := newRig(t)
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []tar.Header{
		{Typeflag: tar.TypeDir, Name: "a/", Mode: 0o500},
		{Typeflag: tar.TypeReg, Name: "a/x"},
		{Typeflag: tar.TypeReg, Name: "b/y", Mode: 0o644},
		{Typeflag: tar.TypeReg, Name: "a/z", Mode: 0o600},
	} {
		must(t, w.WriteHeader(&h))
	}
	must(t, w.Close())
	r.restore("app", b.Bytes())
	for name, mode := range map[string]os.FileMode{"a": os.ModeDir | 0o500, "a/x": 0, "a/z": 0o600} {
		if info, err := os.Lstat(filepath.Join(r.dir, "app", name)); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

func TestSource_leavesOut(t *testing.T) {
	r := newRig(t)
	for _, name := range []string{"keep.txt", "a.log", "sub/b.log", "node_modules/x/y", "sub/node_modules/z", "build/out", "sub/build/kept", "sub/secret", "sub/deeper/secret", "important.log", "{x}"} {
		r.put("app/"+name, name)
	}
	r.put("app/.gitignore", "*.log\n!important.log\n/build\n# a comment\n\n")
	r.put("app/sub/.gitignore", "secret\n")
	r.put("app/.sandgate-hidden", "ours")
	must(t, unix.Mkfifo(filepath.Join(r.dir, "app/fifo"), 0o644))
	archive, info := r.pack("app", Options{Gitignore: true, Excludes: []string{"node_modules/", "{x}"}})
	if info.Skipped != 1 {
		t.Errorf("%+v: a FIFO is left out, and told", info)
	}
	r.restore("copy", archive)
	want := []string{".gitignore", "important.log", "keep.txt", "sub", "sub/.gitignore", "sub/build", "sub/build/kept", "sub/deeper"}
	var got []string
	for _, line := range describe(t, filepath.Join(r.dir, "copy"))[1:] {
		got = append(got, strings.Split(line, `"`)[1])
	}
	wantSame(t, got, want)
}

func TestSource_refuses(t *testing.T) {
	r := newRig(t)
	r.put("file", "")
	must(t, os.Symlink("/", filepath.Join(r.dir, "root")))
	for dir, code := range map[string]string{
		"missing": wire.CodeNotFound, "file": wire.CodeConflict, "root": wire.CodeConflict, "root/etc": wire.CodeInvalid,
		"../x": wire.CodeInvalid, "": wire.CodeInvalid, ".sandgate-x": wire.CodeInvalid, "a\x00b": wire.CodeInvalid,
	} {
		_, err := r.Source(dir, Options{})
		if wantCode(t, err, code); t.Failed() {
			t.Fatalf("%q", dir)
		}
	}
	if _, err := r.Source(".", Options{Excludes: []string{"[a"}}); err == nil {
		t.Error("a pattern that is none was taken")
	}
	r.put("large", strings.Repeat("x", 2000))
	s, err := r.Source(".", Options{MaxBytes: 1000})
	must(t, err)
	defer s.Close()
	_, err = s.Pack(t.Context(), &bytes.Buffer{})
	wantCode(t, err, wire.CodeTooLarge)
}

// What could not be restored is not packed.
func TestPack_nameTooLong(t *testing.T) {
	r := newRig(t)
	at := r.dir
	dir, err := os.OpenRoot(at)
	must(t, err)
	name := strings.Repeat("n", 250)
	for range maxPath/len(name) + 1 { // one by one, since no call takes all of such a name
		must(t, dir.Mkdir(name, 0o755))
		below, err := dir.OpenRoot(name)
		must(t, err)
		must(t, dir.Close())
		dir = below
	}
	must(t, dir.Close())
	s, err := r.Source(".", Options{})
	must(t, err)
	defer s.Close()
	_, err = s.Pack(t.Context(), io.Discard)
	wantCode(t, err, wire.CodeInvalid)
}

// Who has to leave it out is told which.
func TestPack_tooDeep(t *testing.T) {
	r := newRig(t)
	must(t, os.MkdirAll(filepath.Join(r.dir, "fine")+strings.Repeat("/d", maxDepth-1), 0o755))
	r.pack(".", Options{})
	must(t, os.MkdirAll(filepath.Join(r.dir, "deep")+strings.Repeat("/d", maxDepth), 0o755))
	s, err := r.Source(".", Options{})
	must(t, err)
	defer s.Close()
	_, err = s.Pack(t.Context(), io.Discard)
	if wantCode(t, err, wire.CodeInvalid); !strings.Contains(err.Error(), `"deep/d/`) {
		t.Error(err)
	}
}

// A directory of that name is the user's like any other: a new file system's own
// is removed before anybody sees it.
func TestReplica_ofLostAndFound(t *testing.T) {
	r := newRig(t)
	r.put("lost+found/file", "packed")
	archive, info := r.pack(".", Options{})
	r.put("lost+found/file", "later")
	r.put("lost+found/other", "later")
	if back := r.restore(".", archive); back.Files != info.Files {
		t.Errorf("%d files of %d", back.Files, info.Files)
	}
	again, _ := r.pack(".", Options{})
	if !bytes.Equal(again, archive) {
		t.Errorf("it is another one: %v", describe(t, r.dir))
	}
}
