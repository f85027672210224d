package identity

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"sandgate/internal/recent"
	"sandgate/sandboxclient"
)

const (
	// Lifetime is how long what the database says of a key or session is
	// believed without asking again.
	Lifetime = time.Second
	// usedEvery is how often the last use of a key is written down at most.
	usedEvery = time.Minute
	// maxKnown bounds the keys and the sessions that are remembered.
	maxKnown = 4096
)

// A Keyring is the mode that asks for keys.
type Keyring struct {
	keys     Keys
	sessions Sessions
	log      *slog.Logger

	known  *recent.Map[string, knownKey]
	visits *recent.Map[string, knownSession]
	floods *floods
}

type knownKey struct {
	Key
	asked time.Time // when the database was
}

func (k knownKey) fresh() bool { return time.Since(k.asked) < Lifetime }

// NewKeyring makes a mode on records of keys and sessions.
func NewKeyring(keys Keys, sessions Sessions, log *slog.Logger) *Keyring {
	return &Keyring{
		keys:     keys,
		sessions: sessions,
		log:      log,
		known:    recent.New[string, knownKey](maxKnown),
		visits:   recent.New[string, knownSession](maxKnown),
		floods:   newFloods(),
	}
}

// Identify implements httpapi's Identifier: by the Authorization header if there
// is one, by the session's cookie otherwise.
func (k *Keyring) Identify(r *http.Request) (Identity, error) {
	if inQuery(r.URL.RawQuery) {
		return Identity{}, sandboxclient.Errorf(sandboxclient.CodeInvalid,
			"A key does not belong into an address, which logs and histories keep: send it as Authorization: Bearer, and have this one revoked")
	}
	given := r.Header.Values("Authorization")
	if len(given) == 0 {
		return k.visitor(r)
	}
	scheme, text, _ := strings.Cut(given[0], " ")
	if len(given) > 1 || !strings.EqualFold(scheme, "Bearer") {
		return Identity{}, unauthenticated("Send one key, as Authorization: Bearer")
	}
	key, err := k.holder(r, strings.TrimSpace(text))
	if err != nil {
		return Identity{}, err
	}
	return k.admit(r.Context(), key)
}

// holder finds the key that a text is, and proves that it is that one.
func (k *Keyring) holder(r *http.Request, text string) (Key, error) {
	token, ok := ParseToken(text)
	if !ok {
		return Key{}, unauthenticated("This is no key, or one with a typing error: it reads sg_, eight signs, _ and thirty-nine more")
	}
	known, ok := k.known.Get(token.ID())
	right := ok && token.matches(known.Hash)
	if right && known.fresh() {
		return known.Key, nil
	}
	address := addressOf(r)
	if !right && k.floods.waiting(address) {
		return Key{}, tooManyTries()
	}
	key, err := k.ask(r.Context(), token.ID())
	if err != nil {
		return Key{}, err
	}
	if !token.matches(key.Hash) {
		k.floods.count(address)
		return Key{}, unauthenticated("This gateway knows no such key")
	}
	return key, nil
}

// nobodysHash is compared with where there is no key, so that this takes as long.
var nobodysHash = make([]byte, 32)

// ask asks the database for a key, and remembers it. One that is not there has
// a hash that no secret has.
func (k *Keyring) ask(ctx context.Context, id string) (Key, error) {
	asked := time.Now() // before the answer, which may be late
	key, err := k.keys.Key(ctx, id)
	if sandboxclient.CodeOf(err) == sandboxclient.CodeNotFound && err != nil {
		return Key{Hash: nobodysHash}, nil
	}
	if err != nil {
		return Key{}, cannotTell(err)
	}
	k.known.Put(id, knownKey{key, asked})
	return key, nil
}

// admit gives the identity of a key that is neither revoked nor expired.
func (k *Keyring) admit(ctx context.Context, key Key) (Identity, error) {
	now := time.Now()
	if state := key.State(now); state != active {
		return Identity{}, unauthenticated("This key is " + state)
	}
	if now.Sub(key.LastUsed) >= usedEvery {
		k.noteUse(ctx, key, now)
	}
	return key.identity(), nil
}

func (k *Keyring) noteUse(ctx context.Context, key Key, now time.Time) {
	if known, ok := k.known.Get(key.ID); ok { // what others see meanwhile, who may know more of it by now
		known.LastUsed = now
		k.known.Put(key.ID, known)
	}
	if err := k.keys.KeyUsed(context.WithoutCancel(ctx), key.ID, now); err != nil {
		k.log.Warn("the use of a key was not written down", "key", key.ID, "error", err)
	}
}

func unauthenticated(message string) error {
	return &sandboxclient.Error{Code: sandboxclient.CodeUnauthenticated, Message: message}
}

// cannotTell refuses everybody while the database does not answer.
func cannotTell(err error) error {
	return &sandboxclient.Error{Code: sandboxclient.CodeUnavailable, Message: "The gateway cannot look keys up at the moment", Err: err}
}

// lookUp gives a key by its identifier alone, for what was made with it.
func (k *Keyring) lookUp(ctx context.Context, id string) (Key, error) {
	known, ok := k.known.Get(id)
	if ok && known.fresh() {
		return known.Key, nil
	}
	key, err := k.ask(ctx, id)
	if err == nil && (id == "" || key.ID != id) {
		err = unauthenticated("The key of this is gone")
	}
	return key, err
}

// CheckKey says why a key is not good any more, or never was; nil if it is.
func (k *Keyring) CheckKey(ctx context.Context, id string) error {
	key, err := k.lookUp(ctx, id)
	if err == nil && key.State(time.Now()) != active {
		err = unauthenticated("This key is " + key.State(time.Now()))
	}
	return err
}
