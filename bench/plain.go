package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
)

// plainServer is the least that serves files: what transfers through the
// gateway and a sandbox are compared with.
type plainServer struct {
	url    string
	server *http.Server
}

func newPlainServer(dir string) (*plainServer, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "plain")
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPut {
			http.ServeFile(w, r, path)
			return
		}
		if err := save(path, r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}
	p := &plainServer{url: "http://" + listener.Addr().String(), server: &http.Server{Handler: http.HandlerFunc(handler)}}
	go func() { _ = p.server.Serve(listener) }() // ends with close
	return p, nil
}

func save(path string, body io.Reader) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, body); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

func (p *plainServer) close() { _ = p.server.Close() }
