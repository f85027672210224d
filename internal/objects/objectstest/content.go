package objectstest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
	"time"

	"sandgate/internal/objects"
)

func putGet(t *testing.T, r rig) {
	before := time.Now().Add(-time.Minute) // clocks differ
	for name, content := range map[string][]byte{
		"empty":       {},
		"one-byte":    {0},
		"text":        []byte("some text\n"),
		"a/b/c/d/e":   noise(1, 100<<10),
		"runs/1/log":  noise(2, 1<<20+1),
		"A_b.tar.zst": noise(3, 4096),
	} {
		info := r.put(name, content)
		if info.Key != name || info.Size != int64(len(content)) || info.Modified.Before(before) {
			t.Errorf("put %s: %+v", name, info)
		}
		r.want(name, content)
		stream, got, err := r.store.Get(t.Context(), name, 0)
		if err != nil {
			t.Fatal(err)
		}
		_ = stream.Close()
		if got.Key != name || got.Size != info.Size || got.Modified.Before(before) {
			t.Errorf("get %s: %+v", name, got)
		}
	}
}

// manyParts is longer than what stores take in one request, comes in odd pieces
// and does not say how long it is.
func manyParts(t *testing.T, r rig) {
	const size = 40<<20 + 12345
	sent := sha256.New()
	content := io.TeeReader(iotest.DataErrReader(odd{io.LimitReader(rand.NewChaCha8([32]byte{1}), size)}), sent)
	info, err := r.store.Put(t.Context(), "large", content)
	if err != nil || info.Size != size {
		t.Fatalf("%+v, %v", info, err)
	}
	stream, _, err := r.store.Get(t.Context(), "large", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	came := sha256.New()
	if _, err := io.Copy(came, stream); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(sent.Sum(nil), came.Sum(nil)) {
		t.Error("another object comes back")
	}
	if got := r.get("large", size-7); len(got) != 7 {
		t.Errorf("%d bytes at its end", len(got))
	}
}

// odd gives pieces of odd lengths.
type odd struct{ io.Reader }

func (o odd) Read(p []byte) (int, error) { return o.Reader.Read(p[:min(len(p), 8191)]) }

func replaced(_ *testing.T, r rig) {
	for _, content := range [][]byte{noise(1, 5000), []byte("shorter"), {}, noise(2, 6000)} {
		r.put("key", content)
		r.want("key", content)
	}
}

var errContent = errors.New("the content cannot be read")

func failingContent(t *testing.T, r rig) {
	r.put("old", []byte("what was"))
	for _, key := range []string{"old", "new", "folder/new"} {
		content := io.MultiReader(bytes.NewReader(noise(1, 100<<10)), iotest.ErrReader(errContent))
		if _, err := r.store.Put(t.Context(), key, content); !errors.Is(err, errContent) {
			t.Errorf("put %s: %v", key, err)
		}
	}
	r.want("old", []byte("what was"))
	r.want("new", nil)
	r.wantKeys("", "old")
}

func endedContext(t *testing.T, r rig) {
	r.put("old", []byte("what was"))
	ended, end := context.WithCancel(t.Context())
	end()
	checks := map[string]error{"delete": r.store.Delete(ended, "old")}
	_, checks["put"] = r.store.Put(ended, "old", bytes.NewReader(nil))
	_, _, checks["get"] = r.store.Get(ended, "old", 0)
	for _, err := range r.store.List(ended, "") {
		checks["list"] = err
	}
	for name, err := range checks {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, listed := checks["list"]; !listed {
		t.Error("list says nothing")
	}

	during, end := context.WithCancel(t.Context())
	endless := readerFunc(func(p []byte) (int, error) {
		end()
		return len(p), nil
	})
	if _, err := r.store.Put(during, "old", endless); !errors.Is(err, context.Canceled) {
		t.Errorf("put during which it ended: %v", err)
	}
	r.want("old", []byte("what was"))
	r.wantKeys("", "old")
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func offsets(t *testing.T, r rig) {
	content := noise(1, 10000)
	r.put("key", content)
	r.put("empty", nil)
	for _, offset := range []int64{0, 1, 4096, 9999, 10000} {
		if got := r.get("key", offset); !bytes.Equal(got, content[offset:]) {
			t.Errorf("from %d: %d other bytes", offset, len(got))
		}
	}
	if got := r.get("empty", 0); len(got) != 0 {
		t.Errorf("%d bytes of nothing", len(got))
	}
	_, info, err := r.store.Get(t.Context(), "key", 9999)
	if err != nil || info.Size != 10000 {
		t.Errorf("%+v, %v: the size is the whole object's", info, err)
	}
	for key, offset := range map[string]int64{"key": 10001, "empty": 1} {
		if _, _, err := r.store.Get(t.Context(), key, offset); !errors.Is(err, objects.ErrOffset) {
			t.Errorf("%s from %d: %v", key, offset, err)
		}
	}
	if _, _, err := r.store.Get(t.Context(), "key", -1); !errors.Is(err, objects.ErrOffset) {
		t.Errorf("from -1: %v", err)
	}
}

func missing(_ *testing.T, r rig) {
	r.put("a/b", []byte("there"))
	for _, key := range []string{"x", "a", "a/c", "a/b/c", "x/y/z"} {
		r.wantNone(key)
	}
	r.want("a/b", []byte("there"))
}

// readerKeeps wants of a reader that has begun that it goes on with the object
// as it was.
func readerKeeps(t *testing.T, r rig) {
	content := noise(1, 300<<10)
	for name, change := range map[string]func(){
		"replaced": func() { r.put("key", noise(2, 300<<10)) },
		"deleted":  func() { r.delete("key") },
	} {
		r.put("key", content)
		stream, _, err := r.store.Get(t.Context(), "key", 0)
		if err != nil {
			t.Fatal(err)
		}
		first := make([]byte, 10)
		if _, err := io.ReadFull(stream, first); err != nil {
			t.Fatal(err)
		}
		change()
		rest, err := io.ReadAll(stream)
		if err != nil || !bytes.Equal(append(first, rest...), content) {
			t.Errorf("%s: %d bytes, %v", name, len(rest), err)
		}
		_ = stream.Close()
	}
}

// noise is the same for the same seed.
func noise(seed byte, size int) []byte {
	content := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(content) // it never fails
	return content
}
