package objects

import (
	"cmp"
	"context"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
)

// List gives the objects whose keys begin with prefix, by key. What is put or
// deleted meanwhile may be among them or not. After an error it ends.
func (l *Local) List(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		if err := CheckPrefix(prefix); err != nil {
			yield(Info{}, err)
			return
		}
		w := walk{local: l, ctx: ctx, prefix: prefix, yield: yield}
		w.folder(path.Dir(prefix + "x")) // of a/b/ as of a/b/c it is a/b
	}
}

// walk is one listing at work.
type walk struct {
	local  *Local
	ctx    context.Context
	prefix string
	yield  func(Info, error) bool
}

// folder gives what is in a folder and below; it reports whether to go on.
func (w walk) folder(folder string) bool {
	entries, err := w.local.entries(folder)
	if err != nil {
		w.yield(Info{}, failure("list", folder, err))
		return false
	}
	for _, entry := range entries {
		key := path.Join(folder, entry.Name())
		if !isName(entry.Name()) || !strings.HasPrefix(key, w.prefix) {
			continue
		}
		if !w.entry(key, entry) {
			return false
		}
	}
	return true
}

func (w walk) entry(key string, entry fs.DirEntry) bool {
	if w.ctx.Err() != nil {
		w.yield(Info{}, context.Cause(w.ctx))
		return false
	}
	if entry.IsDir() {
		return w.folder(key)
	}
	stat, err := w.local.root.Lstat(key)
	if isGone(err) {
		return true
	}
	if err != nil {
		w.yield(Info{}, failure("list", key, err))
		return false
	}
	return !stat.Mode().IsRegular() || w.yield(infoOf(key, stat), nil)
}

// entries gives a folder's entries in the order of the keys that they are, or
// begin: a-b comes before a/b.
func (l *Local) entries(folder string) ([]fs.DirEntry, error) {
	f, err := l.root.Open(folder)
	if isGone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if isGone(err) {
		return nil, nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(begins(a), begins(b)) })
	return entries, err
}

func begins(entry fs.DirEntry) string {
	if entry.IsDir() {
		return entry.Name() + "/"
	}
	return entry.Name()
}
