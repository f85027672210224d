package identity

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"sandgate/sandboxclient"
)

func TestKeyring_identifies(t *testing.T) {
	r := newRecords()
	key := r.create(func(k *Key) { k.Apps, k.ReadOnly, k.Admin, k.Class = []string{"files"}, true, true, "small" })
	want := Identity{Owner: "alice", Key: key.ID(), Class: "small", Apps: []string{"files"}, ReadOnly: true, Admin: true}
	for _, scheme := range []string{"Bearer ", "bearer ", "BEARER   "} {
		request := httptest.NewRequest(http.MethodGet, "/files", nil)
		request.Header.Set("Authorization", scheme+key.Reveal())
		if got, err := ring(r).Identify(request); err != nil || cmp.Diff(want, got) != "" {
			t.Errorf("%s: %v\n%s", scheme, err, cmp.Diff(want, got))
		}
	}
}

func TestKeyring_refuses(t *testing.T) {
	r := newRecords()
	now := time.Now()
	good := r.create(nil).Reveal()
	revoked := r.create(func(k *Key) { k.RevokedAt = now }).Reveal()
	expired := r.create(func(k *Key) { k.ExpiresAt = now }).Reveal()
	unknown := NewToken().Reveal()
	guessed := Token{id: good[3:11], secret: unknown[12:44]}.Reveal() // a right identifier with a wrong secret
	for name, header := range map[string][]string{
		"nothing":   nil,
		"empty":     {""},
		"no scheme": {good},
		"basic":     {"Basic " + good},
		"two":       {"Bearer " + good, "Bearer " + good},
		"mistyped":  {"Bearer " + good[:50] + "a", "", ""},
		"unknown":   {"Bearer " + unknown},
		"guessed":   {"Bearer " + guessed},
		"revoked":   {"Bearer " + revoked},
		"expired":   {"Bearer " + expired},
		"more":      {"Bearer " + good + " " + good},
	} {
		request := httptest.NewRequest(http.MethodGet, "/files", nil)
		request.Header["Authorization"] = header
		if header == nil {
			delete(request.Header, "Authorization")
		}
		_, err := ring(r).Identify(request)
		if err == nil {
			t.Errorf("%s: let in", name)
			continue
		}
		refused(t, err, sandboxclient.CodeUnauthenticated)
	}
}

// Whether there is a key of that identifier is not told.
func TestKeyring_unknownIsLikeWrong(t *testing.T) {
	r := newRecords()
	good := r.create(nil)
	wrong := Token{id: good.id, secret: NewToken().secret}
	_, first := ring(r).Identify(bearer(NewToken().Reveal()))
	_, second := ring(r).Identify(bearer(wrong.Reveal()))
	if first == nil || second == nil || first.Error() != second.Error() {
		t.Errorf("%v, %v", first, second)
	}
}

func TestKeyring_refusesKeysInQueries(t *testing.T) {
	r := newRecords()
	key := r.create(nil)
	request := bearer(key.Reveal()) // as a header as well
	request.URL.RawQuery = "token=" + key.Reveal()
	_, err := ring(r).Identify(request)
	refused(t, err, sandboxclient.CodeInvalid)
}

// A key is as revoked as the database says after a second at most, and in that
// second the database is not asked.
func TestKeyring_believesForASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecords()
		key := r.create(nil)
		k := ring(r)
		ask := func() error { _, err := k.Identify(bearer(key.Reveal())); return err }
		if n := r.asks(func() {
			for range 1000 {
				if err := ask(); err != nil {
					t.Fatal(err)
				}
			}
		}); n != 1 {
			t.Errorf("asked %d times", n)
		}
		r.change(key.ID(), func(k *Key) { k.RevokedAt = time.Now() })
		time.Sleep(Lifetime)
		refused(t, ask(), sandboxclient.CodeUnauthenticated)
	})
}

// slow answers late, with what was right when it was asked.
type slow struct{ *records }

func (s slow) Key(ctx context.Context, id string) (Key, error) {
	key, err := s.records.Key(ctx, id)
	time.Sleep(Lifetime - time.Millisecond)
	return key, err
}

// That second begins as the database is asked, and not when it answers.
func TestKeyring_believesForASecondOfAskingASlowOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecords()
		key := r.create(nil)
		k := NewKeyring(slow{r}, r, slog.New(slog.DiscardHandler))
		go func() {
			time.Sleep(time.Millisecond)
			r.change(key.ID(), func(k *Key) { k.RevokedAt = time.Now() })
		}()
		if _, err := k.Identify(bearer(key.Reveal())); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Millisecond)
		_, err := k.Identify(bearer(key.Reveal()))
		refused(t, err, sandboxclient.CodeUnauthenticated)
	})
}

// Who writes down when a key was used does not take back what others have found
// out about it meanwhile.
func TestKeyring_useDoesNotReviveAKey(t *testing.T) {
	r := newRecords()
	key := r.create(nil)
	k := ring(r)
	before, err := k.ask(t.Context(), key.ID())
	if err != nil {
		t.Fatal(err)
	}
	r.change(key.ID(), func(k *Key) { k.RevokedAt = time.Now() })
	if _, err := k.ask(t.Context(), key.ID()); err != nil {
		t.Fatal(err)
	}
	if _, err := k.admit(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	_, err = k.Identify(bearer(key.Reveal()))
	refused(t, err, sandboxclient.CodeUnauthenticated)
}

// A key expires at its time, whatever is remembered.
func TestKeyring_expires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecords()
		key := r.create(func(k *Key) { k.ExpiresAt = time.Now().Add(100 * time.Millisecond) })
		k := ring(r)
		if _, err := k.Identify(bearer(key.Reveal())); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		_, err := k.Identify(bearer(key.Reveal()))
		refused(t, err, sandboxclient.CodeUnauthenticated)
	})
}

func TestKeyring_notesUseOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecords()
		key := r.create(nil)
		k := ring(r)
		for range 150 { // seconds
			if _, err := k.Identify(bearer(key.Reveal())); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		if r.used != 3 {
			t.Errorf("written down %d times", r.used)
		}
	})
}

// Nobody is let in while the database does not answer.
func TestKeyring_failsClosed(t *testing.T) {
	r := newRecords()
	key := r.create(nil)
	r.broken = errors.New("no disk")
	_, err := ring(r).Identify(bearer(key.Reveal()))
	refused(t, err, sandboxclient.CodeUnavailable)
}

// A flood of wrong keys costs the database little and memory nothing that grows,
// and locks nobody out whose key was right a while ago.
func TestKeyring_flood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecords()
		key := r.create(nil)
		k := ring(r)
		if _, err := k.Identify(bearer(key.Reveal())); err != nil {
			t.Fatal(err)
		}
		asked := r.asks(func() {
			for range 10_000 {
				_, _ = k.Identify(bearer(NewToken().Reveal()))
			}
		})
		if asked > Burst {
			t.Errorf("the database was asked %d times", asked)
		}
		_, err := k.Identify(bearer(NewToken().Reveal()))
		refused(t, err, sandboxclient.CodeExhausted)
		time.Sleep(2 * Lifetime)
		for range Burst { // again, as two tries came back meanwhile
			_, _ = k.Identify(bearer(NewToken().Reveal()))
		}
		if _, err := k.Identify(bearer(key.Reveal())); err != nil {
			t.Errorf("the right key: %v", err)
		}
		elsewhere := bearer(r.create(nil).Reveal())
		elsewhere.RemoteAddr = "198.51.100.7:1"
		if _, err := k.Identify(elsewhere); err != nil {
			t.Errorf("from elsewhere: %v", err)
		}
	})
}

func TestFloods_areBounded(t *testing.T) {
	f := newFloods()
	for i := range 4 * maxAddresses {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = fmt.Sprintf("[2001:db8:%x:%x::1]:1", i>>16, i&0xffff)
		f.count(addressOf(r))
	}
	if n := f.tries.Len(); n > maxAddresses {
		t.Errorf("%d addresses", n)
	}
}

// One household is one address, however many it has.
func TestAddressOf(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.1:80":          "192.0.2.1/32",
		"[::ffff:192.0.2.1]:80": "192.0.2.1/32",
		"[2001:db8::1]:80":      "2001:db8::/64",
		"[2001:db8::2]:80":      "2001:db8::/64",
		"[fe80::1%eth0]:80":     "fe80::/64",
		"@":                     "invalid Prefix",
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = remote
		if got := addressOf(r).String(); got != want {
			t.Errorf("%s: %s", remote, got)
		}
	}
}

// Secrets are compared in one place, by subtle. How long that takes cannot be
// measured in a test, but that nothing else compares hashes can be read.
func TestHashes_areComparedInOnePlace(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			selected, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			from, _ := selected.X.(*ast.Ident)
			if from != nil && from.Name == "subtle" {
				calls++
			}
			if from != nil && from.Name == "bytes" && selected.Sel.Name == "Equal" {
				t.Errorf("%s compares bytes", name)
			}
			return true
		})
	}
	if calls != 1 {
		t.Errorf("subtle is used in %d places", calls)
	}
}
