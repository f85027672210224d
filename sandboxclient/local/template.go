package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"sandgate/sandboxclient"
)

var _ sandboxclient.Templater = (*Driver)(nil)

// maxTemplates bounds how many are kept: those of other limits, or of another
// name, that were used before.
const maxTemplates = 4

// A template is a checkpoint that many sandboxes begin with.
type template struct {
	dir   string
	m     manifest
	files []hostFile
}

// templates are those on disk, and what was read of them.
type templates struct {
	root string

	mu  sync.Mutex
	all map[string]*template // by directory
}

func newTemplates(root string) *templates {
	return &templates{root: root, all: map[string]*template{}}
}

// dirOf names the template of a shape and a name.
func (t *templates) dirOf(shape, name string) string {
	sum := sha256.Sum256([]byte(shape + "\n" + name))
	return filepath.Join(t.root, hex.EncodeToString(sum[:16]))
}

// find gives the template of a spec if it can be used now, else nil. One that
// can never be used again is given up.
func (t *templates) find(d *Driver, spec sandboxclient.Spec) *template {
	if spec.Template == "" || !d.CanHibernate() {
		return nil
	}
	form, err := d.shapeOf(spec)
	if err != nil {
		return nil
	}
	one := t.read(t.dirOf(form, spec.Template))
	if one == nil {
		return nil
	}
	err = d.current(one.dir, one.m, form)
	if err == nil {
		err = unchanged(one.files)
	}
	if lost, ok := errors.AsType[*sandboxclient.LostError](err); ok {
		d.log.Info("a template is given up", "why", lost.Why)
		t.drop(one)
	}
	if err != nil {
		return nil
	}
	return one
}

// read gives what is in a directory, nil when that is no template.
func (t *templates) read(dir string) *template {
	t.mu.Lock()
	defer t.mu.Unlock()
	if one := t.all[dir]; one != nil {
		return one
	}
	one := &template{dir: dir}
	var err error
	if one.m, err = readManifest(dir); err != nil || readJSON(filepath.Join(dir, filesName), &one.files) != nil {
		return nil
	}
	t.all[dir] = one
	return one
}

// drop removes a template. Who begins with it at this moment fails, and begins anew.
func (t *templates) drop(one *template) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all[one.dir] != one { // another was made meanwhile
		return
	}
	delete(t.all, one.dir)
	_ = os.RemoveAll(one.dir) // what is left of it is no template, and swept
}

// keep puts a template that was written beside its place there.
func (t *templates) keep(written, dir string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.all, dir)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(written, dir)
}

// sweep removes what no template became of, and the oldest of too many.
func (t *templates) sweep() error {
	entries, err := os.ReadDir(t.root)
	if err != nil {
		return err
	}
	type aged struct {
		dir  string
		made time.Time
	}
	var all []aged
	for _, e := range entries {
		dir := filepath.Join(t.root, e.Name())
		m, err := readManifest(dir)
		if err != nil || filepath.Ext(dir) != "" {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
			continue
		}
		all = append(all, aged{dir, m.Made})
	}
	slices.SortFunc(all, func(a, b aged) int { return b.made.Compare(a.made) })
	for _, old := range all[min(len(all), maxTemplates):] {
		if err := os.RemoveAll(old.dir); err != nil {
			return err
		}
	}
	return nil
}

// HasTemplate implements sandboxclient.Templater.
func (d *Driver) HasTemplate(spec sandboxclient.Spec) bool { return d.templates.find(d, spec) != nil }

// MakeTemplate implements sandboxclient.Templater.
func (d *Driver) MakeTemplate(ctx context.Context, spec sandboxclient.Spec) error {
	if err := d.makeTemplate(ctx, spec); err != nil {
		return fmt.Errorf("make a template of sandbox %s: %w", spec.ID, err)
	}
	return nil
}

// DropTemplate implements sandboxclient.Templater.
func (d *Driver) DropTemplate(spec sandboxclient.Spec) {
	if one := d.templates.find(d, spec); one != nil {
		d.templates.drop(one)
	}
}

func (d *Driver) makeTemplate(ctx context.Context, spec sandboxclient.Spec) error {
	m, files, err := d.survey(spec.ID)
	if err != nil {
		return err
	}
	dir := d.templates.dirOf(m.Spec, spec.Template)
	written := dir + ".new"
	if err := remake(written); err != nil {
		return err
	}
	mark, err := prepare(written, m, files)
	if err == nil {
		defer mark.Close()
		err = d.write(ctx, spec.ID, written, mark, false)
	}
	if err == nil { // it ended as it was to: nobody needs to mourn
		err = os.Remove(filepath.Join(d.layout.bundle(spec.ID), recordName))
	}
	if err == nil {
		err = syncTemplate(written)
	}
	if err == nil {
		err = d.templates.keep(written, dir)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(written))
	}
	return nil
}

// syncTemplate has another boot trust a template.
func syncTemplate(dir string) error {
	if err := syncFiles(dir); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, syncedName), nil, 0o600)
}
