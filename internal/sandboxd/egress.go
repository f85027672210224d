package sandboxd

import (
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"sandgate/internal/sandboxd/proxy"
	"sandgate/sandboxclient/wire"
)

// bundleDir is where programs find the authorities to trust. Only root writes
// below /run.
const bundleDir = "/run/egress"

// An egress is the sandbox's way out, once the gateway has opened one.
type egress struct {
	proxy proxy.Options
	dir   string

	mu     sync.Mutex
	open   *proxy.Proxy // nil: there is none
	mirror string       // HOST:PORT of the mirror of the npm registry, once it is open
	env    map[string]string
}

// PUT /v1/egress
func (s *server) openEgress(w http.ResponseWriter, r *http.Request) error {
	var settings wire.Egress
	if err := readJSON(w, r, &settings); err != nil {
		return err
	}
	if err := s.egress.set(settings); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// set opens the proxy unless it is open, and notes what programs must know.
func (e *egress) set(settings wire.Egress) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	bundle, err := e.write("ca.pem", settings.Bundle)
	if err != nil {
		return err
	}
	extra, err := e.write("extra.pem", settings.Extra)
	if err != nil {
		return err
	}
	if e.open == nil {
		p, err := proxy.Listen(e.proxy)
		if err != nil {
			return err
		}
		e.open = p
	}
	registry, err := e.registry(settings)
	if err != nil {
		return err
	}
	e.env = proxy.Environment(e.open.Addr(), proxy.Settings{Bundle: bundle, Extra: extra, Registry: registry})
	return nil
}

// registry gives the URL of npm's registry, and opens the port of its mirror
// if there is to be one and it is not open. e.mu is held.
func (e *egress) registry(settings wire.Egress) (string, error) {
	if !settings.Mirror {
		return settings.Registry, nil
	}
	if e.mirror == "" {
		addr, err := e.open.Relay(wire.MirrorTarget)
		if err != nil {
			return "", err
		}
		e.mirror = addr
	}
	return "http://" + e.mirror + "/", nil
}

// write puts a file in place as a whole, since programs may be reading it, and
// gives its path; without a content there is none.
func (e *egress) write(name, content string) (string, error) {
	if content == "" {
		return "", nil
	}
	if err := os.MkdirAll(e.dir, 0o755); err != nil {
		return "", err
	}
	file := filepath.Join(e.dir, name)
	fresh := file + ".new"
	if err := os.WriteFile(fresh, []byte(content), 0o644); err != nil {
		return "", errors.Join(err, os.Remove(fresh))
	}
	return file, os.Rename(fresh, file)
}

// environment adds the way out to what a request wants programs to find, and
// lets the request have the last word.
func (e *egress) environment(wanted map[string]string) map[string]string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open == nil {
		return wanted
	}
	env := maps.Clone(e.env)
	maps.Copy(env, wanted)
	return env
}

// close ends the proxy.
func (e *egress) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open != nil {
		e.open.Close()
		e.open, e.mirror, e.env = nil, "", nil
	}
}
