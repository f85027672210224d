package sleeptest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

// A sandbox is talked to as the client does; what fails ends the test.
type sandbox struct {
	*testing.T
	host *host
	id   sandboxclient.ID
	http *http.Client
}

func (s *sandbox) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// within gives a context that ends before the patience does.
func (s *sandbox) within() context.Context {
	ctx, cancel := context.WithTimeout(s.Context(), hang)
	s.Cleanup(cancel)
	return ctx
}

// hangUp closes connections, as the client does before a sandbox sleeps.
func (s *sandbox) hangUp() {
	if s.http != nil {
		s.http.CloseIdleConnections()
		s.http = nil
	}
}

func (s *sandbox) sleep() {
	s.Helper()
	s.do(http.MethodPost, "/v1/sleep", nil).Close()
	s.hangUp()
	s.must(s.host.driver.Hibernate(s.within(), s.id, nil))
}

func (s *sandbox) wake() {
	s.Helper()
	s.must(s.host.driver.Wake(s.within(), spec(s.id)))
}

// do sends a request and gives the answer, whose status must be good.
func (s *sandbox) do(method, path string, body io.Reader) io.ReadCloser {
	s.Helper()
	if s.http == nil {
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return s.host.driver.Dial(ctx, s.id) }
		s.http = &http.Client{Transport: &http.Transport{DialContext: dial}}
	}
	req, err := http.NewRequestWithContext(s.within(), method, "http://sandbox"+path, body)
	s.must(err)
	resp, err := s.http.Do(req)
	s.must(err)
	if resp.StatusCode >= http.StatusBadRequest {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4096))
		s.Fatalf("%s: %s %s", path, resp.Status, text)
	}
	return resp.Body
}

func (s *sandbox) call(method, path string, in, out any) {
	s.Helper()
	data, err := json.Marshal(in)
	s.must(err)
	body := s.do(method, path, bytes.NewReader(data))
	defer body.Close()
	if out != nil {
		s.must(json.NewDecoder(body).Decode(out))
	}
	_, _ = io.Copy(io.Discard, body)
}

func (s *sandbox) health() (h wire.Health) {
	s.Helper()
	s.call(http.MethodGet, "/v1/health", nil, &h)
	return h
}

// An outcome is what an execution told.
type outcome struct {
	start  wire.Start
	output string
	result string
	exit   wire.Exit
	last   int64 // number of the last event
}

// collect reads events until the terminal one, or until one is enough.
func (s *sandbox) collect(body io.ReadCloser, after int64, enough func(wire.Event) bool) (o outcome) {
	s.Helper()
	defer body.Close()
	var output strings.Builder
	defer func() { o.output = output.String() }()
	for events := wire.NewEventReader(body, after); ; {
		e, err := events.Next()
		if errors.Is(err, io.EOF) {
			return o
		}
		s.must(err)
		output.Write(e.Data)
		o.add(s, e)
		if enough(e) {
			return o
		}
	}
}

func (o *outcome) add(s *sandbox, e wire.Event) {
	s.Helper()
	o.last = e.Seq
	switch e.Type {
	case wire.EventStart:
		o.start = *e.Start
	case wire.EventResult:
		o.result = e.Result.Text
	case wire.EventComplete:
		o.exit = *e.Exit
	case wire.EventError:
		s.Fatalf("%s: %s", e.Code, e.Message)
	}
}

func never(wire.Event) bool { return false }

func context0(language string) wire.ContextSpec {
	env := map[string]string{"SANDGATE_PYTHON_ENGINE": "python"} // starts soonest
	return wire.ContextSpec{ID: "default-" + language, Language: language, Env: env}
}

// begin starts a cell and leaves after the event that is enough.
func (s *sandbox) begin(req wire.RunRequest, enough func(wire.Event) bool) (id string, o outcome) {
	s.Helper()
	req.ID = uuid.NewString()
	data, err := json.Marshal(req)
	s.must(err)
	return req.ID, s.collect(s.do(http.MethodPost, "/v1/run", bytes.NewReader(data)), 0, enough)
}

// follow reads an execution from an event on to its end.
func (s *sandbox) follow(id string, after int64) outcome {
	s.Helper()
	path := "/v1/executions/" + id + "/events?after=" + jsonText(after)
	return s.collect(s.do(http.MethodGet, path, nil), after, never)
}

func jsonText(v any) string {
	text, _ := json.Marshal(v) // a number
	return string(text)
}

func (s *sandbox) run(language, code string) outcome {
	s.Helper()
	_, o := s.begin(wire.RunRequest{Context: context0(language), Code: code}, never)
	return o
}

// cell runs Python that must not fail, and gives its value.
func (s *sandbox) cell(code string) string {
	s.Helper()
	o := s.run(wire.Python, code)
	if o.exit.Status != wire.StatusExited || o.exit.ExitCode != 0 {
		s.Fatalf("%s\nended as %+v: %s", code, o.exit, o.output)
	}
	return o.result
}

// sh runs a script that must not fail, and gives what it prints.
func (s *sandbox) sh(script string) string {
	s.Helper()
	data, err := json.Marshal(wire.ExecRequest{ID: uuid.NewString(), Argv: []string{"/bin/bash", "-c", script}})
	s.must(err)
	o := s.collect(s.do(http.MethodPost, "/v1/exec", bytes.NewReader(data)), 0, never)
	if o.exit.Status != wire.StatusExited || o.exit.ExitCode != 0 {
		s.Fatalf("%s\nended as %+v: %s", script, o.exit, o.output)
	}
	return strings.TrimSuffix(o.output, "\n")
}
