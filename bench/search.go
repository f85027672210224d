package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"sandgate/sandboxclient"
)

// searches lists what it takes to search.
func (l *lab) searches() []comparison {
	return []comparison{{
		name: "GET /search over 2,000 files", against: "grep", aim: "no aim yet", unit: "ms", rounds: 20,
		measured: l.search(), reference: l.grepInside(),
	}}
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
func (l *lab) search() sample {
	upload := timed(func(ctx context.Context) error {
		return tree(func(path, content string) error {
			return l.request(ctx, http.MethodPut, fileURL(l.standard, path), strings.NewReader(content), 0, io.Discard)
		})
	})
	target := l.standard.URL + "/search?path=tree&q=" + url.QueryEscape("the needle") // and not in the large files beside it
	return prepared(upload, timed(func(ctx context.Context) error {
		var found bytes.Buffer
		if err := l.request(ctx, http.MethodGet, target, nil, 0, &found); err != nil {
			return err
		}
		if !strings.Contains(found.String(), "the needle") {
			return fmt.Errorf("the needle is not in %q", found.String())
		}
		return nil
	}))
}

// grepScript greps as its user would and says how many milliseconds it took.
const grepScript = `import subprocess, time
began = time.perf_counter()
subprocess.run(["grep", "-rn", "--", "the needle", "/workspace/tree"], stdout=subprocess.DEVNULL, check=True)
print((time.perf_counter() - began) * 1000)`

// grepInside times grep alone, inside a sandbox with the same tree.
func (l *lab) grepInside() sample {
	plant := timed(func(ctx context.Context) error {
		return tree(func(path, content string) error {
			_, err := l.inside.sandbox.WriteFile(ctx, path, strings.NewReader(content), sandboxclient.WriteOptions{})
			return err
		})
	})
	return prepared(plant, func(ctx context.Context) (float64, error) {
		run, err := l.inside.sandbox.RunCode(ctx, grepScript, sandboxclient.RunOptions{})
		if err != nil {
			return 0, err
		}
		return strconv.ParseFloat(strings.TrimSpace(run.Stdout), 64)
	})
}
