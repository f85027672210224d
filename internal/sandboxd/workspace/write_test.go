package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"sandgate/internal/sandboxd/shim"
	"sandgate/sandboxclient/wire"
)

func TestWrite_roundTripsAnyBytes(t *testing.T) {
	w, _ := open(t)
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	contents := map[string]string{
		"empty":      "",
		"every byte": string(every),
		"no newline": "abc",
		"crlf":       "a\r\nb\r\n",
		"bom":        "\xef\xbb\xbfx",
		"one buffer": strings.Repeat("x", copyBuffer),
		"and more":   strings.Repeat("y", copyBuffer+1),
		"several":    strings.Repeat("0123456789", 300_000),
	}
	for name, content := range contents {
		info := put(t, w, name, content)
		if info.Size != int64(len(content)) || info.Type != wire.TypeFile || info.Name != name {
			t.Errorf("%s: told as %+v", name, info)
		}
		if get(t, w, name) != content {
			t.Errorf("%s comes back different", name)
		}
	}
}

func TestWrite_roundTripsInAnyPieces(t *testing.T) {
	w, _ := open(t)
	rapid.Check(t, func(t *rapid.T) {
		content := rapid.SliceOfN(rapid.Byte(), 0, 5000).Draw(t, "content")
		readers := map[string]io.Reader{
			"bytes":  iotest.OneByteReader(bytes.NewReader(content)),
			"halves": iotest.HalfReader(bytes.NewReader(content)),
			"eof":    iotest.DataErrReader(bytes.NewReader(content)),
		}
		kind := rapid.SampledFrom([]string{"bytes", "halves", "eof"}).Draw(t, "pieces")
		if _, err := w.Write(context.Background(), "f", readers[kind], Conditions{}); err != nil {
			t.Fatal(err)
		}
		f, err := w.Open("f")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, content) {
			t.Fatalf("%d bytes came back as %d, %v", len(content), len(got), err)
		}
	})
}

func TestWrite_handsFilesAndParentsToTheSandboxUser(t *testing.T) {
	w, inside := open(t)
	defer syscall.Umask(syscall.Umask(0o077))
	put(t, w, "a/b/c", "x")
	for path, mode := range map[string]os.FileMode{"a": 0o755 | os.ModeDir, "a/b": 0o755 | os.ModeDir, "a/b/c": 0o644} {
		info, err := os.Lstat(filepath.Join(inside, path))
		must(t, err)
		stat := info.Sys().(*syscall.Stat_t)
		if stat.Uid != shim.SandboxUID || stat.Gid != shim.SandboxGID || info.Mode() != mode {
			t.Errorf("%s: %d:%d %v, want mode %v", path, stat.Uid, stat.Gid, info.Mode(), mode)
		}
	}
	wantNames(t, inside, "a")
}

func TestWrite_keepsTheModeButNoPrivilege(t *testing.T) {
	w, inside := open(t)
	put(t, w, "f", "x")
	must(t, os.Chmod(filepath.Join(inside, "f"), 0o751|os.ModeSetuid))
	put(t, w, "f", "y")
	info, err := os.Stat(filepath.Join(inside, "f"))
	must(t, err)
	if info.Mode() != 0o751 {
		t.Errorf("mode %v, want 0751", info.Mode())
	}
}

func TestWrite_replacesALinkAndNotItsTarget(t *testing.T) {
	w, inside := open(t)
	outside := filepath.Join(filepath.Dir(inside), "outside")
	must(t, os.WriteFile(outside, []byte("theirs"), 0o600))
	put(t, w, "target", "mine")
	for name, target := range map[string]string{"in": "target", "out": outside, "dangling": "nowhere", "loop": "loop"} {
		must(t, os.Symlink(target, filepath.Join(inside, name)))
		put(t, w, name, "new")
		if got := get(t, w, name); got != "new" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := get(t, w, "target"); got != "mine" {
		t.Errorf("the target inside became %q", got)
	}
	if got, _ := os.ReadFile(outside); string(got) != "theirs" {
		t.Errorf("the target outside became %q", got)
	}
}

func TestWrite_refusals(t *testing.T) {
	w, inside := open(t)
	put(t, w, "file", "x")
	must(t, os.Mkdir(filepath.Join(inside, "dir"), 0o755))
	must(t, os.Symlink("/etc", filepath.Join(inside, "out")))
	must(t, os.Symlink("..", filepath.Join(inside, "up")))
	must(t, os.Symlink("nowhere", filepath.Join(inside, "dangling")))
	must(t, syscall.Mkfifo(filepath.Join(inside, "fifo"), 0o666))
	tests := []struct{ name, code string }{
		{"", wire.CodeInvalid},
		{".", wire.CodeConflict},
		{"dir", wire.CodeConflict},
		{"dir/", wire.CodeConflict},
		{"file/below", wire.CodeConflict},
		{"file/far/below", wire.CodeConflict},
		{"dangling/below", wire.CodeConflict},
		{"fifo/below", wire.CodeConflict},
		{"fifo/far/below", wire.CodeConflict},
		{"../escape", wire.CodeInvalid},
		{"dir/../../escape", wire.CodeInvalid},
		{"/etc/passwd", wire.CodeInvalid},
		{"out/passwd", wire.CodeInvalid},
		{"out/new/passwd", wire.CodeInvalid},
		{"up/escape", wire.CodeInvalid},
		{"a\x00b", wire.CodeInvalid},
		{strings.Repeat("n", 256), wire.CodeInvalid},
		{strings.Repeat("long/", 1000), wire.CodeInvalid},
		{".sandgate-mine", wire.CodeInvalid},
		{"dir/.sandgate-mine/f", wire.CodeInvalid},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%.20q", tt.name), func(t *testing.T) {
			_, err := w.Write(t.Context(), tt.name, strings.NewReader("y"), Conditions{})
			wantCode(t, err, tt.code)
		})
	}
	wantNames(t, inside, "dangling", "dir", "fifo", "file", "out", "up")
	wantNames(t, filepath.Join(inside, "dir"))
}

func TestWrite_takesAwkwardNames(t *testing.T) {
	w, _ := open(t)
	for _, name := range []string{
		"a b", "ä☕", "-rf", "*", "\xff\xfe", "new\nline", "..x", "...", ".hidden", ".sandgat", "x.sandgate-y",
		strings.Repeat("n", 255), strings.TrimSuffix(strings.Repeat("d/", 400), "/"),
	} {
		put(t, w, name, name)
		if got := get(t, w, name); got != name {
			t.Errorf("%.20q holds %.20q", name, got)
		}
	}
}

func TestWrite_changesNothingWhenTheBodyBreaks(t *testing.T) {
	w, inside := open(t)
	put(t, w, "f", "before")
	broken := []struct {
		body io.Reader
		code string
	}{
		{io.MultiReader(strings.NewReader("half"), iotest.ErrReader(io.ErrUnexpectedEOF)), wire.CodeInvalid},
		{io.MultiReader(bytes.NewReader(make([]byte, 2*copyBuffer)), iotest.ErrReader(io.ErrUnexpectedEOF)), wire.CodeInvalid},
	}
	for _, tt := range broken {
		for _, name := range []string{"f", "new"} {
			_, err := w.Write(t.Context(), name, tt.body, Conditions{})
			wantCode(t, err, tt.code)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	body := io.MultiReader(bytes.NewReader(make([]byte, copyBuffer)), call(cancel), bytes.NewReader(make([]byte, copyBuffer)))
	if _, err := w.Write(ctx, "f", body, Conditions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if got := get(t, w, "f"); got != "before" {
		t.Errorf("the file became %q", got)
	}
	wantNames(t, inside, "f")
}

// call is a reader that calls a function when it is its turn.
func call(f func()) io.Reader {
	return readerFunc(func([]byte) (int, error) { f(); return 0, io.EOF })
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestWrite_conditions(t *testing.T) {
	w, inside := open(t)
	first := put(t, w, "f", "one").ETag
	must(t, os.Symlink("f", filepath.Join(inside, "link")))
	tests := []struct {
		name      string
		path      string
		condition Conditions
		fails     bool
	}{
		{"the right tag", "f", Conditions{IfMatch: first}, false},
		{"an old tag", "f", Conditions{IfMatch: first}, true},
		{"one of several tags", "f", Conditions{IfMatch: `"other", CURRENT`}, false},
		{"a weak tag", "f", Conditions{IfMatch: `W/CURRENT`}, true},
		{"must exist, and does", "f", Conditions{IfMatch: "*"}, false},
		{"must exist, and does not", "new/er", Conditions{IfMatch: "*"}, true},
		{"a tag of nothing", "new/er", Conditions{IfMatch: first}, true},
		{"must not exist, but does", "f", Conditions{IfNoneMatch: "*"}, true},
		{"must not exist, but is a link", "link", Conditions{IfNoneMatch: "*"}, true},
		{"not this tag, but it is", "f", Conditions{IfNoneMatch: "CURRENT"}, true},
		{"not this tag, and it is not", "f", Conditions{IfNoneMatch: first}, false},
		{"a link has its target's tag", "link", Conditions{IfMatch: "CURRENT"}, false},
		{"must not exist, and does not", "new", Conditions{IfNoneMatch: "*"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := w.Open("f")
			must(t, err)
			defer f.Close()
			tt.condition.IfMatch = strings.ReplaceAll(tt.condition.IfMatch, "CURRENT", f.Info.ETag)
			tt.condition.IfNoneMatch = strings.ReplaceAll(tt.condition.IfNoneMatch, "CURRENT", f.Info.ETag)
			_, err = w.Write(t.Context(), tt.path, strings.NewReader("two"), tt.condition)
			if tt.fails {
				wantCode(t, err, wire.CodePreconditionFailed)
			} else {
				must(t, err)
			}
		})
	}
	wantNames(t, inside, "f", "link", "new")
}

func TestWrite_givesEveryContentItsTag(t *testing.T) {
	w, inside := open(t)
	seen := make(map[string]string)
	for i := range 500 {
		content := fmt.Sprintf("%03d", i)
		tag := put(t, w, "f", content).ETag
		if before, dup := seen[tag]; dup {
			t.Fatalf("%q and %q have the tag %s", before, content, tag)
		}
		seen[tag] = content
	}
	f, err := w.Open("f")
	must(t, err)
	f.Close()
	past := f.Info.Modified
	must(t, os.WriteFile(filepath.Join(inside, "f"), []byte("abc"), 0o644))
	must(t, os.Chtimes(filepath.Join(inside, "f"), past, past))
	again, err := w.Open("f")
	must(t, err)
	again.Close()
	if again.Info.ETag == f.Info.ETag {
		t.Error("a program that sets the time back keeps the tag")
	}
}

func TestWrite_ofManyAtOnceNeverMixes(t *testing.T) {
	w, inside := open(t)
	stop := make(chan struct{})
	put(t, w, "f", strings.Repeat("0", 100_000))
	var writers, readers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			for range 30 {
				put(t, w, "f", strings.Repeat(string(rune('a'+i)), 100_000))
			}
		})
	}
	readers.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			content := get(t, w, "f")
			if len(content) != 100_000 || strings.Count(content, content[:1]) != len(content) {
				t.Error("a reader sees a mix")
				return
			}
		}
	})
	writers.Wait()
	close(stop)
	readers.Wait()
	wantNames(t, inside, "f")
}

func TestWrite_conditionalWritersLoseNoUpdate(t *testing.T) {
	w, _ := open(t)
	put(t, w, "counter", "0")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for done := 0; done < 10; {
				f, err := w.Open("counter")
				must(t, err)
				content, err := io.ReadAll(f)
				f.Close()
				must(t, err)
				var n int
				_, err = fmt.Sscan(string(content), &n)
				must(t, err)
				_, err = w.Write(t.Context(), "counter", strings.NewReader(fmt.Sprint(n+1)), Conditions{IfMatch: f.Info.ETag})
				if err == nil {
					done++
				} else {
					wantCode(t, err, wire.CodePreconditionFailed)
				}
			}
		})
	}
	wg.Wait()
	if got := get(t, w, "counter"); got != "80" {
		t.Errorf("80 increments make %s", got)
	}
}

func TestWrite_onAFullDisk(t *testing.T) {
	dir := t.TempDir()
	must(t, unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m,nr_inodes=20"))
	t.Cleanup(func() { must(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	w := openAt(t, dir)
	put(t, w, "f", "before")

	_, err := w.Write(t.Context(), "f", bytes.NewReader(make([]byte, 4<<20)), Conditions{})
	wantCode(t, err, wire.CodeNoSpace)
	if got := get(t, w, "f"); got != "before" {
		t.Errorf("the file became %q", got)
	}
	wantNames(t, dir, "f")

	for i := 0; ; i++ {
		_, err = w.Write(t.Context(), fmt.Sprintf("inode%d", i), strings.NewReader(""), Conditions{})
		if err != nil {
			break
		}
	}
	wantCode(t, err, wire.CodeNoSpace)
	_, err = w.Write(t.Context(), "d/e/f", strings.NewReader(""), Conditions{})
	wantCode(t, err, wire.CodeNoSpace)

	must(t, w.Remove(t.Context(), "inode0", false))
	put(t, w, "g", "there is room again")
}

func TestWrite_onAReadOnlyDisk(t *testing.T) {
	dir := t.TempDir()
	must(t, unix.Mount("tmpfs", dir, "tmpfs", unix.MS_RDONLY, ""))
	t.Cleanup(func() { must(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	_, err := openAt(t, dir).Write(t.Context(), "f", strings.NewReader(""), Conditions{})
	wantCode(t, err, wire.CodeNoSpace)
}

// Directories turn into links and back while files are written and read: all
// may fail, nothing may reach what lies outside.
func TestWrite_neverFollowsALinkOutInARace(t *testing.T) {
	w, inside := open(t)
	outside := filepath.Join(filepath.Dir(inside), "outside")
	must(t, os.Mkdir(outside, 0o777))
	must(t, os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o644))
	must(t, os.Mkdir(filepath.Join(inside, "real"), 0o777))
	must(t, os.WriteFile(filepath.Join(inside, "real", "secret"), []byte("decoy"), 0o644))
	link := filepath.Join(inside, "link")
	must(t, os.Symlink(outside, link))

	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		dir := filepath.Join(inside, "real")
		for {
			select {
			case <-stop:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, dir, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
			}
		}
	})
	for i := range 2000 {
		_, _ = w.Write(t.Context(), "real/new", strings.NewReader("x"), Conditions{})
		_, _ = w.Mkdir(fmt.Sprintf("real/dir%d", i))
		_ = w.Remove(t.Context(), "real/secret", true)
		_, _ = w.Rename("real/new", "real/newer", true)
		_, _ = w.Write(t.Context(), "real/secret", strings.NewReader("decoy"), Conditions{})
		if f, err := w.Open("real/secret"); err == nil {
			content, _ := io.ReadAll(f)
			f.Close()
			if string(content) == "secret" {
				t.Fatal("what is outside was read")
			}
		}
	}
	close(stop)
	swapper.Wait()
	wantNames(t, outside, "secret")
	if got, _ := os.ReadFile(filepath.Join(outside, "secret")); string(got) != "secret" {
		t.Errorf("what is outside became %q", got)
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, size := range []int{1 << 10, 64 << 20} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			w, _ := open(b)
			content := make([]byte, size)
			b.SetBytes(int64(size))
			for b.Loop() {
				if _, err := w.Write(b.Context(), "f", bytes.NewReader(content), Conditions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
