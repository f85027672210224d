package identity

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandgate/sandboxclient"
)

// with is a request that a browser makes with cookies, from one of our pages.
func with(cookies ...*http.Cookie) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/files", nil)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for _, c := range cookies {
		r.AddCookie(c)
	}
	return r
}

func signIn(t *testing.T, k *Keyring, r *http.Request, text string) *http.Cookie {
	t.Helper()
	cookie, id, err := k.SignIn(r, text)
	if err != nil || id.Owner != "alice" {
		t.Fatalf("%v, %v", id, err)
	}
	return cookie
}

func TestSession(t *testing.T) {
	r := newRecords()
	k := ring(r)
	cookie := signIn(t, k, with(), r.create(nil).Reveal())
	line := cookie.String()
	for _, part := range []string{"sandgate_session=", "Path=/", "HttpOnly", "SameSite=Strict", "Max-Age=604800"} {
		if !strings.Contains(line, part) {
			t.Errorf("%s lacks %s", line, part)
		}
	}
	if id, err := k.Identify(with(cookie)); err != nil || id.Owner != "alice" {
		t.Errorf("%v, %v", id, err)
	}
	for _, s := range r.sessions {
		if strings.Contains(string(s.Hash), cookie.Value) {
			t.Error("the database holds the session's name")
		}
	}
	gone, err := k.SignOut(with(cookie))
	if err != nil || !strings.Contains(gone.String(), "Max-Age=0") {
		t.Errorf("%v, %v", gone, err)
	}
	_, err = k.Identify(with(cookie))
	refused(t, err, sandboxclient.CodeUnauthenticated)
}

// Over TLS the browser must keep the cookie from neighbours.
func TestSession_overTLS(t *testing.T) {
	r := newRecords()
	k := ring(r)
	request := with()
	request.Header.Set("X-Forwarded-Proto", "https")
	cookie := signIn(t, k, request, r.create(nil).Reveal())
	if cookie.Name != "__Host-sandgate_session" || !cookie.Secure || cookie.Path != "/" {
		t.Errorf("%v", cookie)
	}
	request = with(cookie)
	request.Header.Set("X-Forwarded-Proto", "https")
	if _, err := k.Identify(request); err != nil {
		t.Error(err)
	}
}

// A session's name is never taken from a request: whoever slips in a cookie
// before somebody signs in does not know the session afterwards.
func TestSession_cannotBeFixed(t *testing.T) {
	r := newRecords()
	k := ring(r)
	key := r.create(nil).Reveal()
	before := signIn(t, k, with(), key) // the attacker's own, or one that is made up
	made := &http.Cookie{Name: cookieName, Value: strings.Repeat("A", 43)}
	for _, slipped := range []*http.Cookie{before, made} {
		after := signIn(t, k, with(slipped), key)
		if after.Value == slipped.Value {
			t.Error("the name was taken over")
		}
		_, err := k.Identify(with(slipped))
		refused(t, err, sandboxclient.CodeUnauthenticated)
	}
}

func TestSession_forged(t *testing.T) {
	r := newRecords()
	k := ring(r)
	good := signIn(t, k, with(), r.create(nil).Reveal())
	hash := string(sessionHash(good.Value))
	for name, value := range map[string]string{
		"empty":    "",
		"changed":  "A" + good.Value[1:],
		"longer":   good.Value + "A",
		"the hash": hash,
		"a key":    NewToken().Reveal(),
	} {
		if value == good.Value {
			continue
		}
		_, err := k.Identify(with(&http.Cookie{Name: cookieName, Value: value}))
		if err == nil {
			t.Errorf("%s: let in", name)
			continue
		}
		refused(t, err, sandboxclient.CodeUnauthenticated)
	}
	if _, err := k.Identify(with(good, &http.Cookie{Name: cookieName, Value: "other"})); err == nil {
		t.Error("of two sessions one was chosen")
	}
}

// What another site, or another port of this host, makes a browser send does
// not count.
func TestSession_fromOtherSites(t *testing.T) {
	r := newRecords()
	k := ring(r)
	cookie := signIn(t, k, with(), r.create(nil).Reveal())
	for site, in := range map[string]bool{"": true, "none": true, "same-origin": true, "same-site": false, "cross-site": false, "?": false} {
		request := with(cookie)
		request.Header.Set("Sec-Fetch-Site", site)
		if _, err := k.Identify(request); (err == nil) != in {
			t.Errorf("%q: %v", site, err)
		}
	}
}

// A session lives no longer than its key, nor than it was made for.
func TestSession_ends(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Key)
		after  time.Duration
	}{
		"revoked key": {func(k *Key) { k.RevokedAt = time.Now() }, Lifetime},
		"expired key": {func(k *Key) { k.ExpiresAt = time.Now() }, Lifetime},
		"its own end": {func(*Key) {}, sessionTime},
		"another key": {func(k *Key) { k.ID = "" }, Lifetime},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRecords()
			k := ring(r)
			key := r.create(nil)
			cookie := signIn(t, k, with(), key.Reveal())
			if _, err := k.Identify(with(cookie)); err != nil {
				t.Fatal(err)
			}
			r.change(key.ID(), tc.change)
			time.Sleep(tc.after)
			if _, err := k.Identify(with(cookie)); sandboxclient.CodeOf(err) != sandboxclient.CodeUnauthenticated {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// A flood of made-up sessions asks the database little.
func TestSession_flood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecords()
		k := ring(r)
		if asked := r.asks(func() {
			for range 1000 {
				_, _ = k.Identify(with(&http.Cookie{Name: cookieName, Value: NewToken().Reveal()[:43]}))
			}
		}); asked > Burst {
			t.Errorf("asked %d times", asked)
		}
	})
}
