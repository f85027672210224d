package drivertest

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

// visitOutside asks the sandbox's proxy for a page, in bash's own words.
const visitOutside = `hostport=${http_proxy#http://}
exec 3<>"/dev/tcp/${hostport%:*}/${hostport#*:}"
printf 'GET http://site.example/ HTTP/1.1\r\nHost: site.example\r\nConnection: close\r\n\r\n' >&3
cat <&3`

// checkEgress wants what asks for the outside handed over: to whoever answers
// for that sandbox, and to nobody else.
func checkEgress(r *rig) {
	_, ok := r.driver.(sandboxclient.Egresser)
	r.need(ok, "way out")
	id, neighbour := r.start(), r.start()
	r.openEgress(id)
	r.openEgress(neighbour)
	r.visit(id, "502 Bad Gateway")

	r.answerFor(id, "hello")
	r.visit(id, "hello to site.example:80")
	r.visit(neighbour, "502 Bad Gateway")
	r.answerFor(neighbour, "good day")
	r.visit(neighbour, "good day to site.example:80")
	r.visit(id, "hello to site.example:80")

	r.restart()
	r.visit(id, "502 Bad Gateway")
	ended := r.answerFor(id, "hello again")
	r.visit(id, "hello again to site.example:80")
	r.destroy(id, sandboxclient.KeepWorkspace)
	select {
	case <-ended():
	case <-time.After(patience):
		r.Error("who answers for a sandbox is not told of its end")
	}
}

// openEgress has sandboxd listen as a proxy.
func (r *rig) openEgress(id sandboxclient.ID) {
	r.Helper()
	req, err := http.NewRequestWithContext(r.ctx(), http.MethodPut, "http://sandbox/v1/egress", strings.NewReader("{}"))
	if err != nil {
		r.Fatal(err)
	}
	resp, err := r.client(id).http.Do(req)
	if err != nil {
		r.Fatalf("open egress: %v", err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusNoContent {
		r.Fatalf("open egress: %s", resp.Status)
	}
}

// answerFor greets whoever asks for the outside of a sandbox. The function that
// it returns gives what is closed when the last one's context has ended.
func (r *rig) answerFor(id sandboxclient.ID, greeting string) func() <-chan struct{} {
	r.Helper()
	last := make(chan context.Context, 100)
	serve := func(ctx context.Context, target string, conn net.Conn) {
		defer conn.Close()
		last <- ctx
		if wire.WriteEgressReply(conn, nil) != nil {
			return
		}
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
			return
		}
		text := greeting + " to " + target
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
	}
	if err := r.driver.(sandboxclient.Egresser).Egress(id, serve); err != nil {
		r.Fatalf("egress: %v", err)
	}
	return func() <-chan struct{} { return (<-last).Done() }
}

func (r *rig) visit(id sandboxclient.ID, want string) {
	r.Helper()
	if res := r.run(id, "bash", "-c", visitOutside); !strings.Contains(res.stdout, want) {
		r.Errorf("asked for the outside: %s, want %q", res, want)
	}
}
