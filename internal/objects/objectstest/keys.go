package objectstest

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"sandgate/internal/objects"
)

func (r rig) wantKeys(prefix string, want ...string) {
	r.t.Helper()
	if got := r.list(prefix); !slices.Equal(got, want) {
		r.t.Errorf("list %q: %q, want %q", prefix, got, want)
	}
}

func deletes(_ *testing.T, r rig) {
	for _, key := range []string{"a/b/c", "a/b/d", "a/e", "f"} {
		r.put(key, []byte(key))
	}
	for range 2 { // the second time it is not there, which is no error
		r.delete("a/b/c")
	}
	for _, none := range []string{"a", "a/b", "a/b/d/x", "g"} {
		r.delete(none)
	}
	r.wantKeys("", "a/b/d", "a/e", "f")
	r.wantNone("a/b/c")
	r.delete("a/b/d")
	r.delete("a/e")
	r.wantKeys("", "f")
	r.put("a", []byte("was a folder"))
	r.wantKeys("", "a", "f")
}

// noKeys refuses what is no key, and takes what only looks like it.
func noKeys(t *testing.T, r rig) {
	name := strings.Repeat("n", 128)
	for _, key := range []string{
		"", "/", "/a", "a/", "a//b", ".", "..", "./a", "../a", "a/../b", "a/..", "a/.", ".hidden", "a/.hidden", ".unfinished/a",
		"a\x00b", "a b", "a\nb", "a\\b", "a:b", "a%2fb", "a*", "a?", "a#b", "ü", "a\xff", "~a",
		name + "n", strings.Repeat(name+"/", 4) + "n",
	} {
		r.refuses(key)
	}
	for _, key := range []string{"a...b", "a..", "a.", "-", "--help", "_", "0", "A", "con", name, strings.Repeat(name[:127]+"/", 3) + name} {
		r.put(key, []byte(key))
		r.want(key, []byte(key))
		r.delete(key)
	}
	for _, prefix := range []string{"/", "//", "a//", "../", ".", "a/.", "a b", "*"} {
		if err := r.listFailure(prefix); !errors.Is(err, objects.ErrKey) {
			t.Errorf("list %q: %v", prefix, err)
		}
	}
	r.wantKeys("")
}

func (r rig) refuses(key string) {
	r.t.Helper()
	_, putting := r.store.Put(r.t.Context(), key, bytes.NewReader(nil))
	_, _, getting := r.store.Get(r.t.Context(), key, 0)
	deleting := r.store.Delete(r.t.Context(), key)
	for _, err := range []error{putting, getting, deleting} {
		if !errors.Is(err, objects.ErrKey) {
			r.t.Errorf("key %q: %v", key, err)
		}
	}
}

func (r rig) listFailure(prefix string) error {
	var failure error
	for _, err := range r.store.List(r.t.Context(), prefix) {
		failure = err
	}
	return failure
}

func listOrder(_ *testing.T, r rig) {
	keys := []string{"a-b", "a.b", "a/b", "a/b-c", "a/c/d", "a/c0", "a0", "a_b", "aB", "ab", "B", "b/a", "0"}
	for _, key := range keys {
		r.put(key, []byte(key))
	}
	slices.Sort(keys)
	r.wantKeys("", keys...)
}

func listPrefix(t *testing.T, r rig) {
	for _, key := range []string{"runs/1/log", "runs/1/artifacts/1", "runs/12/log", "runs-old/1", "backups/1"} {
		r.put(key, []byte(key))
	}
	r.wantKeys("runs/1/", "runs/1/artifacts/1", "runs/1/log")
	r.wantKeys("runs/1", "runs/1/artifacts/1", "runs/1/log", "runs/12/log")
	r.wantKeys("runs", "runs-old/1", "runs/1/artifacts/1", "runs/1/log", "runs/12/log")
	r.wantKeys("runs/1/log", "runs/1/log")
	for _, none := range []string{"runs/1/log/", "runs/3/", "r/", "x", "runs/1/log/x"} {
		r.wantKeys(none)
	}
	for info, err := range r.store.List(t.Context(), "b") {
		if err != nil || info.Size != int64(len("backups/1")) || info.Modified.IsZero() {
			t.Errorf("%+v, %v", info, err)
		}
	}
}

func listLeft(t *testing.T, r rig) {
	for _, key := range []string{"a/1", "a/2", "b/1", "c"} {
		r.put(key, nil)
	}
	for leave := 1; leave <= 4; leave++ {
		seen := 0
		for _, err := range r.store.List(t.Context(), "") {
			if err != nil {
				t.Fatal(err)
			}
			if seen++; seen == leave {
				break
			}
		}
		if seen != leave {
			t.Errorf("%d seen, want %d", seen, leave)
		}
	}
}
