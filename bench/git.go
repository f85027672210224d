package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// gitServer serves the repositories of a directory, for runs to clone from.
type gitServer struct {
	host   string // and port
	root   string
	server *http.Server
}

func newGitServer(root string) (*gitServer, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	backend := &cgi.Handler{
		Path: git, Args: []string{"http-backend"}, Dir: root,
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1"},
	}
	g := &gitServer{host: listener.Addr().String(), root: root, server: &http.Server{Handler: backend}}
	go func() { _ = g.server.Serve(listener) }() // ends with close
	return g, nil
}

// add makes a repository of a directory's files and gives its URL.
func (g *gitServer) add(name, dir string) (string, error) {
	script := `git init -q -b main .
git --git-dir .git --work-tree "$1" add -A
git -c user.name=bench -c user.email=bench@localhost commit -q -m files`
	repository := filepath.Join(g.root, name)
	if err := os.Mkdir(repository, 0o700); err != nil {
		return "", err
	}
	cmd := exec.Command("sh", "-euc", script, "sh", dir)
	cmd.Dir = repository
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
	}
	return "http://" + g.host + "/" + name, nil
}

func (g *gitServer) close() { _ = g.server.Close() }
