// Package recent keeps what was used lately, and never more than a bounded
// number of things: what strangers can fill must not grow.
package recent

import "sync"

// A Map holds between half of most and most entries of those that were used
// last. Its methods may be called from many goroutines.
type Map[K comparable, V any] struct {
	mu         sync.Mutex
	half       int
	young, old map[K]V
}

// New makes a map of at most that many entries.
func New[K comparable, V any](most int) *Map[K, V] {
	return &Map[K, V]{half: max(most/2, 1), young: map[K]V{}, old: map[K]V{}}
}

// Get gives what is under a key.
func (m *Map[K, V]) Get(key K) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.get(key)
}

// GetOr gives what is under a key, which is made when it is not there.
func (m *Map[K, V]) GetOr(key K, fresh func() V) V {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok := m.get(key)
	if !ok {
		value = fresh()
		m.put(key, value)
	}
	return value
}

// Put puts a value under a key.
func (m *Map[K, V]) Put(key K, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(key, value)
}

// Delete forgets a key.
func (m *Map[K, V]) Delete(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.young, key)
	delete(m.old, key)
}

// Len is how many entries there are.
func (m *Map[K, V]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.young) + len(m.old)
}

func (m *Map[K, V]) get(key K) (V, bool) {
	value, ok := m.young[key]
	if ok {
		return value, true
	}
	if value, ok = m.old[key]; ok {
		m.put(key, value)
	}
	return value, ok
}

// put lets the old half go when the young one is full.
func (m *Map[K, V]) put(key K, value V) {
	delete(m.old, key)
	if _, ok := m.young[key]; !ok && len(m.young) >= m.half {
		m.young, m.old = map[K]V{}, m.young
	}
	m.young[key] = value
}
