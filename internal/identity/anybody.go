package identity

import (
	"context"
	"net/http"

	"sandgate/sandboxclient"
)

// Anybody is the mode that asks nobody: everyone is the same owner.
type Anybody struct{}

// Identify implements httpapi's Identifier.
func (Anybody) Identify(*http.Request) (Identity, error) { return Identity{Owner: Local}, nil }

// CheckKey finds no key good: where nobody is asked for one, nobody knows whether
// it was revoked. What was done without a key names none.
func (Anybody) CheckKey(_ context.Context, id string) error {
	if id != "" {
		return sandboxclient.Errorf(sandboxclient.CodeUnauthenticated, "This gateway knows no keys")
	}
	return nil
}

// SignIn has nothing to do.
func (Anybody) SignIn(*http.Request, string) (*http.Cookie, Identity, error) {
	return nil, Identity{}, sandboxclient.Errorf(sandboxclient.CodeConflict, "This gateway asks nobody for a key")
}

// SignOut has nothing to do.
func (Anybody) SignOut(*http.Request) (*http.Cookie, error) {
	return nil, sandboxclient.Errorf(sandboxclient.CodeConflict, "This gateway asks nobody for a key")
}
