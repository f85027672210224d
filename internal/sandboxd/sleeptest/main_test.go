package sleeptest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"sandgate/internal/sandboxtest"
	"sandgate/sandboxclient"
	"sandgate/sandboxclient/local"
)

func TestMain(m *testing.M) { os.Exit(sandboxtest.Main(m)) }

// hang is the bound that tells a hang from a slow machine.
const hang = 2 * time.Minute

// A host has the driver of a test, which its sandboxes end with.
type host struct {
	*testing.T
	driver *local.Driver
	state  string
}

func newHost(t *testing.T) *host {
	t.Helper()
	sandboxtest.Require(t)
	state, err := os.MkdirTemp("", "sg") // sockets lie below it: t.TempDir is too long
	if err != nil {
		t.Fatal(err)
	}
	driver, err := local.New(t.Context(), local.Config{
		StateDir: state, Runtime: sandboxtest.Bin("runsc"), Sandboxd: sandboxtest.Bin("sandboxd"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := driver.Close(); err != nil {
			t.Error(err)
		}
		if err := os.RemoveAll(state); err != nil {
			t.Error(err)
		}
	})
	return &host{T: t, driver: driver, state: state}
}

var sandboxes atomic.Int64

func newID() sandboxclient.ID {
	name := fmt.Sprint(sandboxes.Add(1), time.Now().UnixNano())
	return sandboxclient.DeriveID([]byte("key"), sandboxclient.Ref{Owner: "test", App: "sleeptest", Name: name})
}

func spec(id sandboxclient.ID) sandboxclient.Spec {
	return sandboxclient.Spec{ID: id, Limits: sandboxclient.DefaultLimits()}
}

// start starts a sandbox.
func (h *host) start() *sandbox {
	h.Helper()
	s := h.sandbox(newID())
	s.must(h.driver.Create(s.within(), spec(s.id)))
	return s
}

// sandbox gives a handle; nothing is started.
func (h *host) sandbox(id sandboxclient.ID) *sandbox {
	s := &sandbox{T: h.T, host: h, id: id}
	h.Cleanup(func() {
		s.hangUp()
		ctx, cancel := context.WithTimeout(context.Background(), hang)
		defer cancel()
		if err := h.driver.Destroy(ctx, id, sandboxclient.RemoveWorkspace); err != nil {
			h.Error(err)
		}
	})
	return s
}

// clone starts a sandbox with the memory of one that sleeps, which goes on
// sleeping. What workspace does to the new one's own comes before that.
func (h *host) clone(template *sandbox, workspace func(*sandbox)) *sandbox {
	h.Helper()
	s := h.sandbox(newID())
	if workspace != nil {
		s.must(h.driver.Create(s.within(), spec(s.id)))
		workspace(s)
		s.hangUp()
		s.must(h.driver.Destroy(s.within(), s.id, sandboxclient.KeepWorkspace))
	}
	s.must(os.CopyFS(h.checkpoint(s.id), os.DirFS(h.checkpoint(template.id))))
	s.wake()
	return s
}

func (h *host) checkpoint(id sandboxclient.ID) string {
	return filepath.Join(h.state, "sandboxes", string(id), "checkpoint")
}
