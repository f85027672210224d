package identity

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"sandgate/sandboxclient"
)

// records are keys and sessions in memory, which count how often they are asked.
type records struct {
	mu       sync.Mutex
	keys     map[string]Key
	sessions map[string]Session
	asked    int
	used     int
	broken   error
}

var (
	_ Keys     = (*records)(nil)
	_ Sessions = (*records)(nil)
)

func newRecords() *records {
	return &records{keys: map[string]Key{}, sessions: map[string]Session{}}
}

func (r *records) Key(_ context.Context, id string) (Key, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	key, ok := r.keys[id]
	if r.broken == nil && !ok {
		return Key{}, sandboxclient.Errorf(sandboxclient.CodeNotFound, "no")
	}
	return key, r.broken
}

func (r *records) KeyUsed(_ context.Context, id string, at time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used++
	key := r.keys[id]
	key.LastUsed = at
	r.keys[id] = key
	return nil
}

func (r *records) SaveSession(_ context.Context, s Session) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sessions[string(s.Hash)] = s
	return nil
}

func (r *records) Session(_ context.Context, hash []byte) (Session, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	s, ok := r.sessions[string(hash)]
	if !ok {
		return Session{}, sandboxclient.Errorf(sandboxclient.CodeNotFound, "no")
	}
	return s, nil
}

func (r *records) DeleteSession(_ context.Context, hash []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.sessions, string(hash))
	return nil
}

// create makes a key of alice's and gives its text.
func (r *records) create(change func(*Key)) Token {
	t := NewToken()
	key := Key{ID: t.ID(), Hash: t.Hash(), Owner: "alice", CreatedAt: time.Now()}
	if change != nil {
		change(&key)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys[key.ID] = key
	return t
}

func (r *records) change(id string, change func(*Key)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := r.keys[id]
	change(&key)
	r.keys[id] = key
}

// asks tells how often the database was asked meanwhile.
func (r *records) asks(do func()) int {
	before := r.asked
	do()
	return r.asked - before
}

func ring(r *records) *Keyring { return NewKeyring(r, r, slog.New(slog.DiscardHandler)) }

// bearer is a request that shows a key, from an address.
func bearer(text string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/run", nil)
	r.Header.Set("Authorization", "Bearer "+text)
	return r
}

func refused(t *testing.T, err error, code sandboxclient.Code) {
	t.Helper()
	e, ok := errors.AsType[*sandboxclient.Error](err)
	if !ok || e.Code != code || e.Message == "" {
		t.Errorf("got %v, want %s in words", err, code)
	}
}
