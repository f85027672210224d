package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"sandgate/internal/sandboxtest"
)

// TestMain ends the gateway that tests share, which must end cleanly.
func TestMain(m *testing.M) {
	code := m.Run()
	if err := house.close(); err != nil {
		fmt.Fprintln(os.Stderr, "the shared gateway:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// house is the gateway that tests share.
var house sharedGateway

type sharedGateway struct {
	open    sync.Once
	gateway *sandboxtest.Gateway
	err     error
}

// shared gives the gateway of tests that need no settings of their own: one that
// neither kills nor fills anything, whose notebooks no other test uses, and that
// does not mind what was in the playground before. It must not be a parallel one.
func shared(t *testing.T) *sandboxtest.Gateway {
	t.Helper()
	sandboxtest.Require(t)
	house.open.Do(house.start)
	if house.err != nil {
		t.Fatal(house.err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the shared gateway's log:\n%s", house.gateway.Log())
		}
	})
	return house.gateway
}

// sharedWithoutFiles gives the shared gateway with nothing in its files.
func sharedWithoutFiles(t *testing.T) *sandboxtest.Gateway {
	t.Helper()
	g := shared(t)
	var listing struct{ Entries []struct{ Name string } }
	if err := json.Unmarshal([]byte(ask(t, http.MethodGet, file(g, ""), "").has(200).body), &listing); err != nil {
		t.Fatal(err)
	}
	for _, e := range listing.Entries {
		ask(t, http.MethodDelete, file(g, e.Name)+"&recursive=true", "").has(http.StatusNoContent)
	}
	return g
}

func (s *sharedGateway) start() {
	dir, err := os.MkdirTemp("", "sg")
	if err != nil {
		s.err = err
		return
	}
	if s.gateway, s.err = sandboxtest.StartGateway(dir); s.err != nil {
		_ = os.RemoveAll(dir)
	}
}

func (s *sharedGateway) close() error {
	if s.gateway == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return errors.Join(s.gateway.Stop(ctx), os.RemoveAll(s.gateway.Dir))
}
