// Package objectstest is what every object store has to do, as tests.
package objectstest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"testing"

	"sandgate/internal/objects"
)

// Store is an object store, as its users want it.
type Store interface {
	Put(ctx context.Context, key string, content io.Reader) (objects.Info, error)
	Get(ctx context.Context, key string, offset int64) (io.ReadCloser, objects.Info, error)
	Delete(ctx context.Context, key string) error
	List(ctx context.Context, prefix string) iter.Seq2[objects.Info, error]
}

// Test holds a store to its contract. The function opens a new, empty one, and
// closes it after the test.
func Test(t *testing.T, open func(t *testing.T) Store) {
	tests := []struct {
		name string
		test func(*testing.T, rig)
	}{
		{"put gives what get finds", putGet},
		{"an object of many parts", manyParts},
		{"replaced in one step", replaced},
		{"content that fails leaves what was", failingContent},
		{"a context that ends leaves what was", endedContext},
		{"get from an offset", offsets},
		{"get of what is not there", missing},
		{"a reader keeps its object", readerKeeps},
		{"delete", deletes},
		{"keys that are none", noKeys},
		{"list is in order", listOrder},
		{"list by prefix", listPrefix},
		{"list can be left", listLeft},
		{"like a map", likeMap},
		{"many at once on one key", manyOnOne},
		{"many at once in one folder", manyInFolder},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.test(t, rig{t, open(t)}) })
	}
}

// rig is a store in a test; what should work ends the test when it does not.
type rig struct {
	t     *testing.T
	store Store
}

func (r rig) put(key string, content []byte) objects.Info {
	r.t.Helper()
	info, err := r.store.Put(r.t.Context(), key, bytes.NewReader(content))
	if err != nil {
		r.t.Fatalf("put %s: %v", key, err)
	}
	return info
}

func (r rig) get(key string, offset int64) []byte {
	r.t.Helper()
	content, _, err := r.store.Get(r.t.Context(), key, offset)
	if err != nil {
		r.t.Fatalf("get %s: %v", key, err)
	}
	defer content.Close()
	all, err := io.ReadAll(content)
	if err != nil {
		r.t.Fatalf("read %s: %v", key, err)
	}
	return all
}

func (r rig) delete(key string) {
	r.t.Helper()
	if err := r.store.Delete(r.t.Context(), key); err != nil {
		r.t.Fatalf("delete %s: %v", key, err)
	}
}

func (r rig) list(prefix string) []string {
	r.t.Helper()
	var keys []string
	for info, err := range r.store.List(r.t.Context(), prefix) {
		if err != nil {
			r.t.Fatalf("list %q: %v", prefix, err)
		}
		keys = append(keys, info.Key)
	}
	return keys
}

// want checks an object; nil is that there is none.
func (r rig) want(key string, content []byte) {
	r.t.Helper()
	if content == nil {
		r.wantNone(key)
		return
	}
	if got := r.get(key, 0); !bytes.Equal(got, content) {
		r.t.Errorf("%s has %d bytes %.60q, want %d bytes %.60q", key, len(got), got, len(content), content)
	}
}

func (r rig) wantNone(key string) {
	r.t.Helper()
	found, _, err := r.store.Get(r.t.Context(), key, 0)
	if err == nil {
		_ = found.Close()
	}
	if !errors.Is(err, objects.ErrNotExist) {
		r.t.Errorf("get %s: %v, want %v", key, err, objects.ErrNotExist)
	}
}
