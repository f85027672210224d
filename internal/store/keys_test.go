package store

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sandgate/internal/identity"
	"sandgate/sandboxclient"
)

var aKey = identity.Key{
	ID: "abcdefgh", Hash: bytes.Repeat([]byte{7}, 32), Owner: "alice", Label: "laptop", Class: "small",
	Apps: []string{"notebook", "files"}, ReadOnly: true,
	CreatedAt: time.UnixMicro(1_700_000_000_000_000).UTC(), ExpiresAt: time.UnixMicro(1_800_000_000_000_000).UTC(),
}

func TestKeys(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"))
	ctx := t.Context()
	other := identity.Key{ID: "22222222", Hash: []byte{1}, Owner: "bob", Admin: true, CreatedAt: aKey.CreatedAt.Add(1000)}
	for _, k := range []identity.Key{aKey, other} {
		if err := s.CreateKey(ctx, k); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.CreateKey(ctx, aKey); err == nil {
		t.Error("a key was made twice")
	}
	used := aKey.CreatedAt.Add(time.Hour)
	if err := s.KeyUsed(ctx, aKey.ID, used); err != nil {
		t.Fatal(err)
	}
	want := aKey
	want.LastUsed = used
	if got, err := s.Key(ctx, aKey.ID); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
	if _, err := s.Key(ctx, "nobody"); sandboxclient.CodeOf(err) != sandboxclient.CodeNotFound {
		t.Error(err)
	}
	all, err := s.ListKeys(ctx, "")
	if err != nil || len(all) != 2 || all[0].ID != aKey.ID {
		t.Errorf("%v %v", all, err)
	}
	if bobs, err := s.ListKeys(ctx, "bob"); err != nil || len(bobs) != 1 || !bobs[0].Admin {
		t.Errorf("%v %v", bobs, err)
	}
}

// Revoking keeps the first time, ends the sessions, and minds a wrong name.
func TestKeys_revoke(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"))
	ctx := t.Context()
	if err := s.CreateKey(ctx, aKey); err != nil {
		t.Fatal(err)
	}
	session := identity.Session{Hash: []byte("h"), Key: aKey.ID, CreatedAt: aKey.CreatedAt, ExpiresAt: aKey.CreatedAt.Add(time.Hour)}
	if err := s.SaveSession(ctx, session); err != nil {
		t.Fatal(err)
	}
	at := aKey.CreatedAt.Add(time.Minute)
	for _, when := range []time.Time{at, at.Add(time.Minute)} {
		if err := s.RevokeKey(ctx, aKey.ID, when); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := s.Key(ctx, aKey.ID); !got.RevokedAt.Equal(at) {
		t.Errorf("revoked at %v", got.RevokedAt)
	}
	if _, err := s.Session(ctx, session.Hash); sandboxclient.CodeOf(err) != sandboxclient.CodeNotFound {
		t.Errorf("the session is there: %v", err)
	}
	if err := s.RevokeKey(ctx, "nobody", at); sandboxclient.CodeOf(err) != sandboxclient.CodeNotFound {
		t.Error(err)
	}
}

func TestSessions_areBounded(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"))
	ctx := t.Context()
	if err := s.CreateKey(ctx, aKey); err != nil {
		t.Fatal(err)
	}
	session := func(i int) identity.Session {
		at := aKey.CreatedAt.Add(time.Duration(i) * time.Second)
		return identity.Session{Hash: fmt.Append(nil, i), Key: aKey.ID, CreatedAt: at, ExpiresAt: at.Add(time.Hour)}
	}
	for i := range maxSessions + 1 {
		if err := s.SaveSession(ctx, session(i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Session(ctx, session(0).Hash); sandboxclient.CodeOf(err) != sandboxclient.CodeNotFound {
		t.Errorf("the oldest is there: %v", err)
	}
	want := session(1)
	if got, err := s.Session(ctx, want.Hash); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
	if err := s.SaveSession(ctx, session(10_000)); err != nil { // all others have expired by then
		t.Fatal(err)
	}
	if _, err := s.Session(ctx, want.Hash); sandboxclient.CodeOf(err) != sandboxclient.CodeNotFound {
		t.Errorf("an expired one is there: %v", err)
	}
	if err := s.DeleteSession(ctx, session(10_000).Hash); err != nil {
		t.Fatal(err)
	}
	if err := s.SaveSession(ctx, identity.Session{Hash: []byte("x"), Key: "nobody", CreatedAt: time.Now(), ExpiresAt: time.Now()}); err == nil {
		t.Error("a session without a key was saved")
	}
}
