package identity

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"time"

	"sandgate/sandboxclient"
)

const (
	// sessionTime is how long a browser stays signed in at most.
	sessionTime = 7 * 24 * time.Hour
	sessionName = 32 // random bytes

	// A browser takes a cookie with the prefix over TLS alone, from this very
	// host, so that no neighbour can slip in one of its own.
	cookieName       = "sandgate_session"
	secureCookieName = "__Host-" + cookieName
)

// A Session is what the database knows of a browser that has shown a key.
type Session struct {
	Hash      []byte // of its name
	Key       string // that was shown
	CreatedAt time.Time
	ExpiresAt time.Time
}

// Sessions are the records of sessions. What is not there is an error with the
// code not_found.
type Sessions interface {
	// SaveSession adds one, and removes expired ones and the oldest of a key
	// that has too many.
	SaveSession(ctx context.Context, s Session) error
	Session(ctx context.Context, hash []byte) (Session, error)
	// DeleteSession forgets one; unknown is no error.
	DeleteSession(ctx context.Context, hash []byte) error
}

type knownSession struct {
	Session
	asked time.Time
}

// SignIn begins a session for who shows a key, and ends the one that the browser
// may have had. The cookie carries a new name, whatever came with the request.
func (k *Keyring) SignIn(r *http.Request, text string) (*http.Cookie, Identity, error) {
	key, err := k.holder(r, text)
	if err != nil {
		return nil, Identity{}, err
	}
	id, err := k.admit(r.Context(), key)
	if err != nil {
		return nil, Identity{}, err
	}
	var random [sessionName]byte
	_, _ = rand.Read(random[:]) // never fails
	name := base64.RawURLEncoding.EncodeToString(random[:])
	now := time.Now()
	s := Session{Hash: sessionHash(name), Key: key.ID, CreatedAt: now, ExpiresAt: now.Add(sessionTime)}
	if !key.ExpiresAt.IsZero() && key.ExpiresAt.Before(s.ExpiresAt) {
		s.ExpiresAt = key.ExpiresAt
	}
	if err := k.sessions.SaveSession(r.Context(), s); err != nil {
		return nil, Identity{}, cannotTell(err)
	}
	_ = k.end(r) // one that is left ends by itself
	return cookie(r, name, s.ExpiresAt.Sub(now)), id, nil
}

// SignOut ends the session of a request, at once, and gives the cookie that makes
// the browser forget it.
func (k *Keyring) SignOut(r *http.Request) (*http.Cookie, error) {
	if err := k.end(r); err != nil {
		return nil, cannotTell(err)
	}
	return cookie(r, "", -time.Second), nil
}

func (k *Keyring) end(r *http.Request) error {
	name, ok := presented(r)
	if !ok {
		return nil
	}
	hash := sessionHash(name)
	defer k.visits.Delete(string(hash))
	return k.sessions.DeleteSession(r.Context(), hash)
}

// visitor identifies a browser by its session.
func (k *Keyring) visitor(r *http.Request) (Identity, error) {
	name, ok := presented(r)
	if !ok {
		return Identity{}, unauthenticated("This gateway asks for a key: send one as Authorization: Bearer, or sign in at /app/")
	}
	s, err := k.session(r, sessionHash(name))
	if err != nil {
		return Identity{}, err
	}
	if !time.Now().Before(s.ExpiresAt) {
		return Identity{}, unauthenticated("The session is over; sign in again")
	}
	key, err := k.lookUp(r.Context(), s.Key)
	if err != nil {
		return Identity{}, err
	}
	return k.admit(r.Context(), key)
}

// session finds a session by the hash of its name.
func (k *Keyring) session(r *http.Request, hash []byte) (Session, error) {
	known, ok := k.visits.Get(string(hash))
	if ok && time.Since(known.asked) < Lifetime {
		return known.Session, nil
	}
	address := addressOf(r)
	if !ok && k.floods.waiting(address) {
		return Session{}, tooManyTries()
	}
	asked := time.Now()
	s, err := k.sessions.Session(r.Context(), hash)
	if err != nil && sandboxclient.CodeOf(err) == sandboxclient.CodeNotFound {
		k.visits.Delete(string(hash))
		k.floods.count(address)
		return Session{}, unauthenticated("There is no such session any more; sign in again")
	}
	if err != nil {
		return Session{}, cannotTell(err)
	}
	k.visits.Put(string(hash), knownSession{s, asked})
	return s, nil
}

// presented gives the name of the session that a browser presents with a
// request that one of our pages made, or its user. Two of them are none: one is
// from somebody else.
func presented(r *http.Request) (string, bool) {
	site := r.Header.Get("Sec-Fetch-Site")
	cookies := r.CookiesNamed(cookieOf(r))
	if len(cookies) != 1 || site != "" && site != "same-origin" && site != "none" {
		return "", false
	}
	name := cookies[0].Value
	decoded, err := base64.RawURLEncoding.DecodeString(name)
	return name, err == nil && len(decoded) == sessionName
}

func sessionHash(name string) []byte {
	sum := sha256.Sum256([]byte(name))
	return sum[:]
}

// cookie is what makes the browser keep a session's name, from our pages alone.
func cookie(r *http.Request, name string, age time.Duration) *http.Cookie {
	return &http.Cookie{
		Name: cookieOf(r), Value: name, Path: "/", MaxAge: int(age / time.Second),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: overTLS(r),
	}
}

func cookieOf(r *http.Request) string {
	if overTLS(r) {
		return secureCookieName
	}
	return cookieName
}

// overTLS says whether the browser speaks TLS, perhaps with a proxy before us.
// Whoever pretends so gets a cookie that its browser will not send.
func overTLS(r *http.Request) bool {
	return r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https"
}
