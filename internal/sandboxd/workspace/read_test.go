package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sandgate/sandboxclient/wire"
)

func TestOpen_refusals(t *testing.T) {
	w, inside := open(t)
	put(t, w, "file", "x")
	put(t, w, "dir/file", "in dir")
	at := func(name string) string { return filepath.Join(inside, name) }
	must(t, syscall.Mkfifo(at("fifo"), 0o666))
	if err := syscall.Mknod(at("null"), syscall.S_IFCHR|0o666, 1<<8|3); errors.Is(err, syscall.EPERM) {
		must(t, syscall.Mkfifo(at("null"), 0o666)) // in a sandbox there are none to meet
	} else {
		must(t, err)
	}
	l, err := net.Listen("unix", at("socket"))
	must(t, err)
	defer l.Close()
	for name, target := range map[string]string{
		"absolute": "/etc/passwd", "up": "../outside", "device": "/dev/null", "proc": "/proc/self/environ",
		"dangling": "nowhere", "loop": "loop", "toFifo": "fifo", "outDir": "/etc", "good": "dir/file", "goodDir": "dir",
	} {
		must(t, os.Symlink(target, at(name)))
	}
	for name, code := range map[string]string{
		"fifo": wire.CodeInvalid, "null": wire.CodeInvalid, "socket": wire.CodeInvalid, "toFifo": wire.CodeInvalid,
		"absolute": wire.CodeInvalid, "up": wire.CodeInvalid, "device": wire.CodeInvalid, "proc": wire.CodeInvalid,
		"outDir/passwd": wire.CodeInvalid, "outDir": wire.CodeInvalid, "loop": wire.CodeInvalid,
		"dangling": wire.CodeNotFound, "nothing": wire.CodeNotFound, "no/such": wire.CodeNotFound,
		"file/below": wire.CodeConflict,
		"":           wire.CodeInvalid, "..": wire.CodeInvalid, "../x": wire.CodeInvalid, "/etc/passwd": wire.CodeInvalid,
		"a\x00": wire.CodeInvalid, ".sandgate-x": wire.CodeInvalid, strings.Repeat("x", 300): wire.CodeInvalid,
	} {
		t.Run(fmt.Sprintf("%.20q", name), func(t *testing.T) {
			f, err := w.Open(name)
			if err == nil {
				f.Close()
			}
			wantCode(t, err, code)
		})
	}
	if got := get(t, w, "good"); got != "in dir" {
		t.Errorf("a link within: %q", got)
	}
	if got := get(t, w, "goodDir/file"); got != "in dir" {
		t.Errorf("below a link within: %q", got)
	}
}

func TestStat_describesWhatIsThere(t *testing.T) {
	w, inside := open(t)
	put(t, w, "file", "12345")
	must(t, os.Chmod(filepath.Join(inside, "file"), 0o640))
	must(t, os.Mkdir(filepath.Join(inside, "dir"), 0o755))
	must(t, os.Chmod(filepath.Join(inside, "dir"), 0o755|os.ModeSticky|os.ModeSetgid))
	must(t, os.Symlink("/etc/passwd", filepath.Join(inside, "link")))
	must(t, syscall.Mkfifo(filepath.Join(inside, "fifo"), 0o600))
	for name, want := range map[string]wire.FileInfo{
		"file": {Type: wire.TypeFile, Size: 5, Mode: "0640"},
		"dir":  {Type: wire.TypeDirectory, Mode: "3755"},
		"link": {Type: wire.TypeSymlink, Size: 11, Mode: "0777"},
		"fifo": {Type: wire.TypeOther, Mode: "0600"},
		".":    {Type: wire.TypeDirectory, Mode: "0755"},
	} {
		got, err := w.Stat(name)
		must(t, err)
		if want.Type == wire.TypeDirectory {
			want.Size = got.Size
		}
		if got.Name != name || got.Type != want.Type || got.Size != want.Size || got.Mode != want.Mode || got.Modified.IsZero() {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
		if (got.ETag != "") != (want.Type == wire.TypeFile) {
			t.Errorf("%s: tag %q", name, got.ETag)
		}
	}
}

func TestList_isSortedAndHidesWhatIsOurs(t *testing.T) {
	w, inside := open(t)
	for _, name := range []string{"b", "a", "Z", ".hidden", "ä", ".sandgate-x"} {
		must(t, os.WriteFile(filepath.Join(inside, name), nil, 0o644))
	}
	must(t, os.Symlink("/etc", filepath.Join(inside, "link")))
	must(t, os.Mkdir(filepath.Join(inside, "c"), 0o755))
	got, err := w.List(t.Context(), ".")
	must(t, err)
	var names []string
	for _, e := range got.Entries {
		names = append(names, e.Name+":"+e.Type)
	}
	want := ".hidden:file Z:file a:file b:file c:directory link:symlink ä:file"
	if strings.Join(names, " ") != want || got.Path != "/workspace" || got.Truncated {
		t.Errorf("got %q at %s", names, got.Path)
	}
	empty, err := w.List(t.Context(), "c")
	if err != nil || empty.Entries == nil || len(empty.Entries) != 0 || empty.Path != "/workspace/c" {
		t.Errorf("an empty one: %+v, %v", empty, err)
	}
	_, err = w.List(t.Context(), "link")
	wantCode(t, err, wire.CodeInvalid)
	_, err = w.List(t.Context(), "a")
	wantCode(t, err, wire.CodeConflict)
}

func TestList_ofVeryMany(t *testing.T) {
	w, inside := open(t)
	const n = 2*MaxEntries + 2*entriesAtOnce + 7
	for i := range n {
		must(t, os.WriteFile(filepath.Join(inside, fmt.Sprintf("%06d", i*7919%n)), nil, 0o644))
	}
	got, err := w.List(t.Context(), ".")
	must(t, err)
	if len(got.Entries) != MaxEntries || !got.Truncated {
		t.Fatalf("%d entries, truncated %v", len(got.Entries), got.Truncated)
	}
	for i, e := range got.Entries {
		if e.Name != fmt.Sprintf("%06d", i) {
			t.Fatalf("entry %d is %s: not the first in order", i, e.Name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.List(ctx, "."); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// What we open lies inside, as os.Root has it, and means what the host
// means by it; what clean refuses is outside, too long or ours.
func FuzzPaths(f *testing.F) {
	for _, s := range []string{
		"a", ".", "..", "a/..", "a/../..", "/", "//", "a//b", "./a", "a/./b", "a/", "link/x", "out", "up/x",
		"..%2f", "..\\", "\x00", "...", "a/b/../../..", "dir/link/../..", ".sandgate-x", "up/workspace/a",
		strings.Repeat("a/", 3000), strings.Repeat("x", 256),
	} {
		f.Add(s)
	}
	inside := filepath.Join(f.TempDir(), "workspace")
	must(f, os.MkdirAll(filepath.Join(inside, "dir/sub"), 0o755))
	must(f, os.WriteFile(filepath.Join(inside, "a"), []byte("a"), 0o644))
	must(f, os.WriteFile(filepath.Join(filepath.Dir(inside), "secret"), []byte("s"), 0o644))
	must(f, os.Symlink("/etc", filepath.Join(inside, "out")))
	must(f, os.Symlink("..", filepath.Join(inside, "up")))
	must(f, os.Symlink("sub", filepath.Join(inside, "dir/link")))
	w := openAt(f, inside)
	root, err := os.OpenRoot(inside)
	must(f, err)
	f.Fuzz(func(t *testing.T, name string) {
		info, err := w.Stat(name)
		reference, referenceErr := root.Lstat(path.Clean(name)) // "a/" and "a/." are a, also if it is a file
		if err == nil && (referenceErr != nil || reference.Size() != info.Size) {
			t.Errorf("%q: we find %+v, os.Root %v", name, info, referenceErr)
		}
		resolved, hostErr := filepath.EvalSymlinks(filepath.Join(inside, name))
		within := resolved == inside || strings.HasPrefix(resolved, inside+"/")
		opened, err := w.Open(name)
		if err != nil {
			if _, ours := errors.AsType[*wire.Error](err); !ours {
				t.Errorf("%q: %v is not for a visitor", name, err)
			}
			return
		}
		defer opened.Close()
		if errors.Is(hostErr, fs.ErrNotExist) || (hostErr == nil && !within) {
			t.Errorf("%q: opened, but is %q on the host, %v", name, resolved, hostErr)
		}
	})
}
