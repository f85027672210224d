package objectstest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"sandgate/internal/objects"
)

// likeMap does anything in any order to the store and to a map.
func likeMap(t *testing.T, r rig) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	keys := []string{"a/1", "a/2", "a/b/1", "b", "c/d/e/f", "c/d/g"}
	model := make(map[string][]byte)
	for step := range 200 {
		key := keys[random.IntN(len(keys))]
		if random.IntN(2) == 0 {
			r.delete(key)
			delete(model, key)
		} else {
			model[key] = noise(byte(step), random.IntN(200))
			r.put(key, model[key])
		}
		r.wantKeys("", slices.Sorted(maps.Keys(model))...)
		for _, key := range keys {
			r.want(key, model[key])
		}
		if t.Failed() {
			t.Fatalf("at step %d, with %s", step, key)
		}
	}
}

// manyOnOne wants one whole object at any time.
func manyOnOne(t *testing.T, r rig) {
	const writers, rounds, size = 4, 10, 100 << 10
	r.put("key", bytes.Repeat([]byte{0}, size))
	var writing sync.WaitGroup
	for i := range writers {
		writing.Go(func() {
			for range rounds {
				if _, err := r.store.Put(t.Context(), "key", bytes.NewReader(bytes.Repeat([]byte{byte(i)}, size))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	var reading sync.WaitGroup
	for range 2 {
		reading.Go(func() {
			for range writers * rounds {
				checkWhole(t, r, size)
			}
		})
	}
	writing.Wait()
	reading.Wait()
	r.wantKeys("", "key")
}

func checkWhole(t *testing.T, r rig, size int) {
	stream, _, err := r.store.Get(t.Context(), "key", 0)
	if err != nil {
		t.Error(err)
		return
	}
	defer stream.Close()
	got, err := io.ReadAll(stream)
	if err != nil || len(got) != size || strings.Trim(string(got), string(got[:1])) != "" {
		t.Errorf("%d bytes, %v: not one whole object", len(got), err)
	}
}

// manyInFolder empties and fills folders at the same time.
func manyInFolder(t *testing.T, r rig) {
	const many, rounds = 6, 15
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			key := fmt.Sprintf("folder/%d/object-%d", i%2, i)
			for range rounds {
				if err := r.putAndDelete(key); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	r.wantKeys("")
}

func (r rig) putAndDelete(key string) error {
	if _, err := r.store.Put(r.t.Context(), key, strings.NewReader(key)); err != nil {
		return err
	}
	stream, info, err := r.store.Get(r.t.Context(), key, 0)
	if err != nil || info.Size != int64(len(key)) {
		return errors.Join(err, fmt.Errorf("%+v", info))
	}
	_ = stream.Close()
	for _, err := range r.store.List(r.t.Context(), "folder/") {
		if err != nil {
			return err
		}
	}
	if err := r.store.Delete(r.t.Context(), key); err != nil {
		return err
	}
	if _, _, err := r.store.Get(r.t.Context(), key, 0); !errors.Is(err, objects.ErrNotExist) {
		return fmt.Errorf("after it was deleted: %w", err)
	}
	return nil
}
