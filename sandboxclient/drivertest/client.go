package drivertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/google/uuid"

	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

// A client speaks HTTP to one sandbox's sandboxd over dialled connections.
type client struct {
	transport *http.Transport
	http      *http.Client
}

func (r *rig) client(id sandboxclient.ID) *client {
	if c, ok := r.clients[id]; ok {
		return c
	}
	driver := r.driver
	transport := &http.Transport{
		DialContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return driver.Dial(ctx, id) },
		MaxIdleConnsPerHost: 4,
	}
	c := &client{transport: transport, http: &http.Client{Transport: transport}}
	r.clients[id] = c
	return c
}

func (c *client) close() { c.transport.CloseIdleConnections() }

// health shakes hands.
func (c *client) health(ctx context.Context) error {
	body, err := c.send(ctx, http.MethodGet, "/v1/health", nil)
	if err != nil {
		return err
	}
	defer body.Close()
	var h wire.Health
	if err := json.NewDecoder(body).Decode(&h); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, body)
	if h.Version != wire.Version {
		return fmt.Errorf("sandboxd says version %d", h.Version)
	}
	return nil
}

func (c *client) send(ctx context.Context, method, path string, body any) (io.ReadCloser, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://sandbox"+path, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4096))
		_ = resp.Body.Close()
		return nil, fmt.Errorf("%s: %s: %s", path, resp.Status, text)
	}
	return resp.Body, nil
}

// result is how a command ended.
type result struct {
	stdout, stderr string
	exit           wire.Exit
}

func (r result) ok() bool { return r.exit.Status == wire.StatusExited && r.exit.ExitCode == 0 }

func (r result) String() string {
	return fmt.Sprintf("%s %d, stdout %q, stderr %q", r.exit.Status, r.exit.ExitCode, r.stdout, r.stderr)
}

// exec runs a command as the sandbox user.
func (c *client) exec(ctx context.Context, timeout time.Duration, argv ...string) (result, error) {
	body, err := c.send(ctx, http.MethodPost, "/v1/exec", wire.ExecRequest{
		ID: uuid.NewString(), Argv: argv, TimeoutMS: timeout.Milliseconds(),
		Output: wire.Output{Keep: 1 << 20, Max: 1 << 20},
	})
	if err != nil {
		return result{}, err
	}
	defer body.Close()
	return readResult(wire.NewEventReader(body, 0))
}

func readResult(events *wire.EventReader) (result, error) {
	var res result
	for {
		e, err := events.Next()
		switch {
		case errors.Is(err, io.EOF):
			return res, nil
		case err != nil:
			return res, err
		case e.Type == wire.EventError:
			return res, &wire.Error{Code: e.Code, Message: e.Message}
		case e.Type == wire.EventStdout:
			res.stdout += string(e.Data)
		case e.Type == wire.EventStderr:
			res.stderr += string(e.Data)
		case e.Type == wire.EventComplete:
			res.exit = *e.Exit
		}
	}
}

// sh runs a shell script in the sandbox, to whatever end.
func (r *rig) sh(id sandboxclient.ID, script string) result {
	r.Helper()
	return r.run(id, "/bin/sh", "-c", script)
}

func (r *rig) run(id sandboxclient.ID, argv ...string) result {
	r.Helper()
	res, err := r.client(id).exec(r.ctx(), patience/2, argv...)
	if err != nil {
		r.Fatalf("exec %q: %v", argv, err)
	}
	return res
}

// must runs a script that has to succeed.
func (r *rig) must(id sandboxclient.ID, script string) string {
	r.Helper()
	res := r.sh(id, script)
	if !res.ok() {
		r.Fatalf("%s: %s", script, res)
	}
	return res.stdout
}
