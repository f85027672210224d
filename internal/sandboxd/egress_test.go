package sandboxd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandgate/internal/sandboxd/proxy"
	"sandgate/sandboxclient/wire"
)

// startWithEgress gives a daemon whose gateway refuses everything.
func startWithEgress(t *testing.T) *daemon {
	t.Helper()
	d := start(t)
	d.egress = egress{dir: filepath.Join(t.TempDir(), "egress"), proxy: proxy.Options{
		Dial: func(_ context.Context, target string) (net.Conn, error) {
			return nil, &wire.Error{Code: wire.CodeForbidden, Message: target + " is refused"}
		},
		Refused: (&refusals{executions: d.executions}).tell,
	}}
	return d
}

func (d *daemon) openEgressWith(settings string) answer {
	d.Helper()
	return d.do("PUT", "/v1/egress", strings.NewReader(settings))
}

// env runs printenv in the daemon's way, with one variable of the request's.
func (d *daemon) env(id string) string {
	d.Helper()
	a := d.post("/v1/exec", wire.ExecRequest{ID: id, Argv: []string{"env"}, Dir: d.inside, Env: map[string]string{"NO_PROXY": "mine"}})
	return "\n" + output(d.events(a, 0))
}

func TestEgress_isNotThereUntilItIsOpened(t *testing.T) {
	d := startWithEgress(t)
	if env := d.env("before"); strings.Contains(strings.ToLower(env), "http") {
		t.Errorf("the environment is%s", env)
	}
	d.wantError(d.openEgressWith("{"), http.StatusBadRequest, wire.CodeInvalid)
	for range 2 { // a gateway that takes over puts it again
		if a := d.openEgressWith(`{"bundle":"certificates","extra":"more","registry":"https://npm.example/"}`); a.status != http.StatusNoContent {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	env := d.env("after")
	for _, want := range []string{
		"\nHTTPS_PROXY=http://127.0.0.1:", "\nNO_PROXY=mine\n", "\nno_proxy=localhost,", "\nnpm_config_registry=https://npm.example/\n",
		"\nSSL_CERT_FILE=" + d.egress.dir + "/ca.pem\n", "\nNODE_EXTRA_CA_CERTS=" + d.egress.dir + "/extra.pem\n",
	} {
		if !strings.Contains(env, want) {
			t.Errorf("no %q in%s", want, env)
		}
	}
	for name, want := range map[string]string{"ca.pem": "certificates", "extra.pem": "more"} {
		file := filepath.Join(d.egress.dir, name)
		content, err := os.ReadFile(file)
		info, _ := os.Stat(file)
		if err != nil || string(content) != want || info.Mode().Perm() != 0o644 {
			t.Errorf("%s: %q, %v, %v", name, content, info, err)
		}
	}
}

// A refused connection is told to whatever runs: once for a host, and not to
// what has ended.
func TestEgress_tellsOfRefusals(t *testing.T) {
	d := startWithEgress(t)
	d.openEgressWith("{}")
	c := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: d.egress.open.Addr()}), DisableKeepAlives: true}}
	d.post("/v1/exec", wire.ExecRequest{ID: "early", Argv: []string{"true"}, Dir: d.inside})
	streams := make(chan answer)
	for _, id := range []string{"one", "two"} {
		go func() { // ends with the execution
			streams <- d.post("/v1/exec", wire.ExecRequest{ID: id, Argv: []string{"sleep", "600"}, Dir: d.inside})
		}()
	}
	for begin := time.Now(); d.executions.Busy() < 2; {
		if time.Since(begin) > time.Minute {
			t.Fatal("they do not start")
		}
		<-time.After(time.Millisecond)
	}
	for _, host := range []string{"Evil.example", "evil.example:81", "other.example"} {
		resp, err := c.Get("http://" + host + "/secret?token=1")
		if err != nil || resp.StatusCode != http.StatusForbidden {
			t.Fatal(resp, err)
		}
		resp.Body.Close()
	}
	for i := range 2 * maxRefusals {
		resp, err := c.Get(fmt.Sprintf("http://host%d.example/", i))
		if err == nil {
			resp.Body.Close()
		}
	}
	for _, id := range []string{"one", "two"} {
		d.do("DELETE", "/v1/executions/"+id, nil)
	}
	for range 2 {
		var warnings []string
		for _, e := range d.events(<-streams, 0) {
			if e.Type == wire.EventWarning && e.Code == wire.WarningEgressRefused {
				warnings = append(warnings, e.Message)
			}
		}
		if len(warnings) != maxRefusals+1 || warnings[0] != "Evil.example:80 is refused" || warnings[1] != "other.example:80 is refused" ||
			!strings.Contains(warnings[maxRefusals], "nothing more is told") || strings.Contains(strings.Join(warnings, ""), "secret") {
			t.Errorf("%d warnings: %q", len(warnings), warnings)
		}
	}
	for _, e := range d.events(d.do("GET", "/v1/executions/early/events", nil), 0) {
		if e.Type == wire.EventWarning {
			t.Errorf("what had ended was told %+v", e)
		}
	}
}

func TestEgress_closesWithTheDaemon(t *testing.T) {
	d := startWithEgress(t)
	d.openEgressWith("{}")
	addr := d.egress.open.Addr()
	d.egress.close()
	d.egress.close()
	if conn, err := net.Dial("tcp", addr); err == nil {
		conn.Close()
		t.Error("the proxy still listens")
	} else if _, ok := errors.AsType[*net.OpError](err); !ok {
		t.Error(err)
	}
}
