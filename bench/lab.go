package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	"sandgate/internal/sandboxtest"
)

// lab is what the measurements use: a gateway for each Python engine, and a
// plain file server beside them.
type lab struct {
	dir      string
	standard *sandboxtest.Gateway // the standard-library engine
	ipython  *sandboxtest.Gateway
	plain    *plainServer
	http     *http.Client
	inside   *inside
	judge    *judge  // nil until something is compared with it
	owners   *owners // nil until they are wanted
	bedrooms []*sandboxtest.Gateway
	ping     sample
	fresh    int // notebooks named so far

	git        *gitServer
	repository string // that is tested; empty until then
}

func newLab() (_ *lab, err error) {
	l := &lab{http: newClient()}
	if l.dir, err = os.MkdirTemp("", "sgb"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if l.git, err = newGitServer(l.dir + "/git"); err != nil {
		return nil, err
	}
	if l.standard, err = sandboxtest.StartGateway(l.dir+"/s", "--python-engine", "python", "--egress-allow-private", l.git.host); err != nil {
		return nil, err
	}
	if l.ipython, err = sandboxtest.StartGateway(l.dir+"/i", "--python-engine", "ipython"); err != nil {
		return nil, err
	}
	if l.inside, err = newInside(l.dir + "/c"); err != nil {
		return nil, err
	}
	l.ping = l.newPing()
	l.plain, err = newPlainServer(l.dir)
	return l, err
}

// newClient gives a client that keeps enough connections for every worker.
func newClient() *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	return &http.Client{Transport: transport, Timeout: 10 * time.Minute}
}

func (l *lab) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, g := range append(l.bedrooms, l.standard, l.ipython) {
		if g == nil {
			continue
		}
		if err := g.Stop(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
	}
	if l.inside != nil {
		if err := l.inside.close(); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
	}
	if l.plain != nil {
		l.plain.close()
	}
	if l.judge != nil {
		l.judge.close()
	}
	if l.git != nil {
		l.git.close()
	}
	if l.owners != nil {
		if err := l.owners.Stop(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
	}
	_ = os.RemoveAll(l.dir)
}

// request sends one request, which has to succeed; the answer's bytes go to w.
func (l *lab) request(ctx context.Context, method, target string, body io.Reader, size int64, w io.Writer) error {
	req, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return err
	}
	if size > 0 {
		req.ContentLength = size
	}
	resp, err := l.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1000))
		return fmt.Errorf("%s %s: %s: %s", method, target, resp.Status, text)
	}
	_, err = io.Copy(w, resp.Body)
	return err
}

// post runs code and wants want in the answer.
func (l *lab) post(target, code, want string) sample {
	return timed(func(ctx context.Context) error {
		var answer bytes.Buffer
		if err := l.request(ctx, http.MethodPost, target, strings.NewReader(code), 0, &answer); err != nil {
			return err
		}
		if !strings.Contains(answer.String(), want) {
			return fmt.Errorf("%q answered %q", code, answer.String())
		}
		return nil
	})
}

// get fetches a page and forgets it.
func (l *lab) get(target string) sample {
	return timed(func(ctx context.Context) error {
		return l.request(ctx, http.MethodGet, target, nil, 0, io.Discard)
	})
}

// newPing makes the sample that asks a running notebook how it is: the way into
// a sandbox and back, with no work at its end.
func (l *lab) newPing() sample {
	target := l.standard.URL + "/notebook?notebook=ping"
	return prepared(l.post(target, "print(1)", `"1\n"`), l.get(target))
}

// python is P: how long the host's own interpreter takes to start and end.
func python(ctx context.Context) (float64, error) {
	return timed(func(ctx context.Context) error {
		return exec.CommandContext(ctx, "/usr/bin/python3", "-c", "pass").Run()
	})(ctx)
}

func fileURL(g *sandboxtest.Gateway, path string) string {
	return g.URL + "/files?path=" + url.QueryEscape(path)
}
