package livetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

func (s sandbox) put(path, content string) wire.FileInfo {
	s.Helper()
	info, err := s.WriteFile(s.Context(), path, strings.NewReader(content), sandboxclient.WriteOptions{})
	if err != nil {
		s.Fatalf("put %q: %v", path, err)
	}
	return info
}

func (s sandbox) get(path string) string {
	s.Helper()
	f, err := s.ReadFile(s.Context(), path, sandboxclient.ReadOptions{})
	if err != nil {
		s.Fatalf("get %q: %v", path, err)
	}
	defer f.Body.Close()
	content, err := io.ReadAll(f.Body)
	if err != nil {
		s.Fatal(err)
	}
	return string(content)
}

func (s sandbox) wantCode(err error, code sandboxclient.Code) {
	s.Helper()
	if got := sandboxclient.CodeOf(err); err == nil || got != code {
		s.Errorf("got %v, want %s", err, code)
	}
}

func TestFiles_belongToTheSandboxUser(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.put("a/b/f", "from outside")
	s.wantLines(s.sh(`stat -c '%u:%g %a %n' a a/b a/b/f; cat a/b/f; echo; echo more >>a/b/f && echo can write; rm -r a && echo can remove`),
		"20000:20000 755 a", "20000:20000 755 a/b", "20000:20000 644 a/b/f", "from outside", "can write", "can remove")
	s.sh(`echo from inside >g; chmod 640 g`)
	if got := s.get("g"); got != "from inside\n" {
		t.Errorf("got %q", got)
	}
	s.put("g", "replaced")
	s.wantLines(s.sh(`stat -c %a g; cat g; echo`), "640", "replaced")
}

func TestFiles_stayInside(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.sh(`ln -s /etc out; ln -s /etc/passwd passwd; ln -s ../etc/passwd up; mkfifo fifo; mkdir real; echo in >real/f; ln -s real link
		python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'`)
	for _, path := range []string{"out/passwd", "passwd", "up", "fifo", "socket", "fifo/x"} {
		_, err := s.ReadFile(t.Context(), path, sandboxclient.ReadOptions{})
		if code := sandboxclient.CodeOf(err); code != sandboxclient.CodeInvalid && code != sandboxclient.CodeConflict {
			t.Errorf("read %s: %v", path, err)
		}
	}
	if got := s.get("link/f"); got != "in\n" {
		t.Errorf("through a link within: %q", got)
	}
	_, err := s.WriteFile(t.Context(), "out/passwd", strings.NewReader("x"), sandboxclient.WriteOptions{})
	s.wantCode(err, sandboxclient.CodeInvalid)
	s.put("passwd", "mine")
	s.wantLines(s.sh(`grep -c root /etc/passwd; cat passwd; echo; test -L passwd || echo no link`), "1", "mine", "no link")
}

// A program turns a directory into a link and back while files are written and
// removed there and read: all may fail, none may reach what the link leads to.
func TestFiles_stayInsideInARace(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.sh(`mkdir /tmp/outside real; echo secret >/tmp/outside/secret; echo decoy >real/secret; ln -s /tmp/outside link`)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	attack := make(chan struct{})
	go func() {
		defer close(attack)
		_, _ = s.Exec(ctx, sandboxclient.Command{Argv: []string{"/usr/bin/python3", "-c", `
import ctypes
libc = ctypes.CDLL(None)
while True:
	libc.renameat2(-100, b"/workspace/real", -100, b"/workspace/link", 2)`}})
	}()
	reads := 0
	for i := range 300 {
		path := "real/secret"
		if i%2 == 0 {
			path = "link/secret"
		}
		if f, err := s.ReadFile(t.Context(), path, sandboxclient.ReadOptions{}); err == nil {
			content, _ := io.ReadAll(f.Body)
			f.Body.Close()
			reads++
			if string(content) == "secret\n" {
				t.Fatal("what is outside was read")
			}
		}
		_, _ = s.WriteFile(t.Context(), path, strings.NewReader("decoy"), sandboxclient.WriteOptions{})
		_, _ = s.MakeDir(t.Context(), fmt.Sprintf("real/dir%d", i))
		_, _ = s.Rename(t.Context(), fmt.Sprintf("real/dir%d", i), fmt.Sprintf("link/moved%d", i), false)
		_ = s.RemoveFile(t.Context(), fmt.Sprintf("link/moved%d", i), true)
	}
	stop()
	<-attack
	if reads == 0 {
		t.Error("nothing was read at all")
	}
	s.wantLines(s.sh(`ls -A /tmp/outside; cat /tmp/outside/secret`), "secret", "secret")
}

func TestFiles_large(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	content := bytes.Repeat([]byte("0123456789abcdef"), 4<<20) // 64 MiB
	if _, err := s.WriteFile(t.Context(), "big", bytes.NewReader(content), sandboxclient.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%x", sha256.Sum256(content))
	if got := strings.Fields(s.sh(`sha256sum big`))[0]; got != want {
		t.Errorf("inside it is %s, want %s", got, want)
	}
	f, err := s.ReadFile(t.Context(), "big", sandboxclient.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Body.Close()
	sum := sha256.New()
	if n, err := io.Copy(sum, f.Body); err != nil || n != int64(len(content)) || fmt.Sprintf("%x", sum.Sum(nil)) != want {
		t.Errorf("%d bytes come back, %v", n, err)
	}
}

func TestFiles_bodyThatBreaksOffChangesNothing(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.put("f", "before")
	broken := io.MultiReader(strings.NewReader(strings.Repeat("x", 3<<20)), errReader{})
	if _, err := s.WriteFile(t.Context(), "f", broken, sandboxclient.WriteOptions{}); err == nil {
		t.Error("a broken body is taken")
	}
	if got := s.get("f"); got != "before" {
		t.Errorf("it became %.20q", got)
	}
	s.sh(`for i in {1..500}; do [ "$(ls -A)" = f ] && exit 0; sleep 0.01; done; ls -A; exit 1`)
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errors.New("broken") }

func TestFiles_tagsOutliveTheSandbox(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	info := s.put("f", "x")
	s.sh("cat f >/dev/null; ls -l")
	if err := s.Destroy(t.Context(), sandboxclient.KeepWorkspace); err != nil {
		t.Fatal(err)
	}
	s.put("other", "so that inodes are seen in another order")
	again, err := s.Stat(t.Context(), "f")
	if err != nil || again.ETag != info.ETag {
		t.Errorf("tag %s became %s, %v", info.ETag, again.ETag, err)
	}
}
