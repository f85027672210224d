package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
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

// tree is what is searched: 2,000 files with one needle.
func tree(add func(path, content string) error) error {
	for d := range 40 {
		for f := range 50 {
			var b strings.Builder
			for n := range 100 {
				fmt.Fprintf(&b, "line %d of file %d in %d\n", n, f, d)
			}
			if d == 7 && f == 7 {
				b.WriteString("the needle\n")
			}
			if err := add(fmt.Sprintf("tree/%d/%d.txt", d, f), b.String()); err != nil {
				return err
			}
		}
	}
	return nil
}

// search asks for the needle over HTTP; the tree is uploaded the first time.
func (l *lab) search(ctx context.Context) (float64, error) {
	if !l.uploaded {
		err := tree(func(path, content string) error {
			return l.request(ctx, http.MethodPut, fileURL(l.standard, path), strings.NewReader(content), 0, io.Discard)
		})
		if err != nil {
			return 0, err
		}
		l.uploaded = true
	}
	return timed(func(ctx context.Context) error {
		var found bytes.Buffer
		target := l.standard.URL + "/search?path=tree&q=" + url.QueryEscape("the needle") // and not in the large files beside it
		if err := l.request(ctx, http.MethodGet, target, nil, 0, &found); err != nil {
			return err
		}
		if !strings.Contains(found.String(), "the needle") {
			return fmt.Errorf("the needle is not in %q", found.String())
		}
		return nil
	})(ctx)
}

// grepScript greps as its user would and says how many milliseconds it took.
const grepScript = `import subprocess, time
began = time.perf_counter()
subprocess.run(["grep", "-rn", "--", "the needle", "/workspace/tree"], stdout=subprocess.DEVNULL, check=True)
print((time.perf_counter() - began) * 1000)`

// grepInside times grep alone, inside a sandbox with the same tree.
func (l *lab) grepInside(ctx context.Context) (float64, error) {
	if !l.planted {
		err := tree(func(path, content string) error {
			_, err := l.inside.sandbox.WriteFile(ctx, path, strings.NewReader(content), sandboxclient.WriteOptions{})
			return err
		})
		if err != nil {
			return 0, err
		}
		l.planted = true
	}
	run, err := l.inside.sandbox.RunCode(ctx, grepScript, sandboxclient.RunOptions{})
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(strings.TrimSpace(run.Stdout), 64)
}

// memory reads one of a process's figures from /proc, in MiB.
func memory(pid int, field string) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb / kiB, err
		}
	}
	return 0, fmt.Errorf("no %s of process %d", field, pid)
}

// resetPeak makes VmHWM start again from what is used now.
func resetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}
