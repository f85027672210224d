package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"sandgate/internal/sandboxtest"
	"sandgate/internal/webui"
	"sandgate/internal/webui/bundle"
)

// pages lists what a browser loads, compressed as it comes over the wire: all
// of it at the first visit, then what each part adds to the frame.
func (l *lab) pages() []comparison {
	built, err := bundle.Read(os.DirFS(filepath.Join(filepath.Dir(sandboxtest.Bin("gateway")), "../internal/webui/dist")))
	if err != nil {
		return []comparison{l.size("pages", "", func() ([]string, error) { return nil, err })}
	}
	first := []string{bundle.Frame, bundle.Page(bundle.First), bundle.Editor}
	all := []comparison{
		l.size("pages: first load, with the editor", "≤ 250", func() ([]string, error) {
			files, err := built.Files(first...)
			return append(files, ""), err
		}),
		l.size("pages: frame", "no aim", func() ([]string, error) { return built.Files(bundle.Frame) }),
	}
	for _, name := range built.Pages() {
		all = append(all, l.size("pages: "+name, "no aim", func() ([]string, error) {
			return beyond(built, []string{bundle.Frame}, bundle.Page(name))
		}))
	}
	return append(all,
		l.size("pages: editor", "no aim", func() ([]string, error) {
			return beyond(built, []string{bundle.Frame}, bundle.Editor)
		}),
		l.size("pages: language packs, all of them", "no aim", func() ([]string, error) {
			packs, err := built.Lazy(bundle.Editor)
			if err != nil {
				return nil, err
			}
			return beyond(built, first, packs...)
		}))
}

// beyond gives the files of modules that those before them did not load yet.
func beyond(built *bundle.Bundle, before []string, modules ...string) ([]string, error) {
	known, err := built.Files(before...)
	if err != nil {
		return nil, err
	}
	files, err := built.Files(modules...)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(files, func(file string) bool { return slices.Contains(known, file) }), nil
}

// size makes a line of how many kilobytes files of the pages are together.
func (l *lab) size(name, aim string, files func() ([]string, error)) comparison {
	return comparison{name: name, aim: aim, unit: "kB", rounds: 1, measured: func(ctx context.Context) (float64, error) {
		names, err := files()
		if err != nil {
			return 0, err
		}
		var total int64
		for _, name := range names {
			n, err := l.compressed(ctx, l.standard.URL+webui.Prefix+name)
			if err != nil {
				return 0, err
			}
			total += n
		}
		return float64(total) / 1000, nil
	}}
}

// compressed counts the bytes of an answer to a client that takes gzip.
func (l *lab) compressed(ctx context.Context, target string) (int64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Accept-Encoding", "gzip") // asked for by hand, it is not undone
	resp, err := l.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("GET %s: %s", target, resp.Status)
	}
	return io.Copy(io.Discard, resp.Body)
}
