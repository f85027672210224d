package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sandgate/internal/sandboxtest"
	"sandgate/sandboxclient"
	"sandgate/sandboxclient/local"
)

// inside is a sandbox of the bench's own, for what no app offers over HTTP.
type inside struct {
	driver  *local.Driver
	client  *sandboxclient.Client
	sandbox *sandboxclient.Sandbox
}

func newInside(dir string) (*inside, error) {
	driver, err := local.New(context.Background(), local.Config{
		StateDir: dir, Runtime: sandboxtest.Bin("runsc"), Sandboxd: sandboxtest.Bin("sandboxd"),
	})
	if err != nil {
		return nil, err
	}
	client := sandboxclient.New(sandboxclient.Options{Driver: driver, Records: sandboxtest.NewRecords(), Key: []byte("bench")})
	ref := sandboxclient.Ref{Owner: "local", App: "bench", Name: "inside"}
	return &inside{driver: driver, client: client, sandbox: client.Sandbox(ref)}, nil
}

func (in *inside) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return errors.Join(in.client.Close(ctx), in.driver.Close())
}

// execTrue runs /bin/true through the client.
func (l *lab) execTrue(ctx context.Context) (float64, error) {
	return timed(func(ctx context.Context) error {
		result, err := l.inside.sandbox.Exec(ctx, sandboxclient.Command{Argv: []string{"/bin/true"}})
		if err == nil && result.Exit.ExitCode != 0 {
			err = fmt.Errorf("true ended with %d", result.Exit.ExitCode)
		}
		return err
	})(ctx)
}
