package local

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// syntheticEtc is the part of /etc that says who is who. Nothing of the host's
// users, names or servers is in it.
func syntheticEtc() map[string]string {
	return map[string]string{
		"passwd": fmt.Sprintf("root:x:0:0:root:/root:/bin/sh\n"+
			"sandbox:x:%d:%d:sandbox:/home/sandbox:/bin/bash\n"+
			"nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n", sandboxUID, sandboxGID),
		"group":         fmt.Sprintf("root:x:0:\ntty:x:5:\nsandbox:x:%d:\nnogroup:x:65534:\n", sandboxGID),
		"hosts":         "127.0.0.1\tlocalhost " + hostname + "\n::1\tlocalhost\n",
		"hostname":      hostname + "\n",
		"resolv.conf":   "",
		"nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: files\nservices: files\nprotocols: files\n",
	}
}

// identityFiles are the names of the synthetic part, in a fixed order.
func identityFiles() []string {
	return []string{"group", "hostname", "hosts", "nsswitch.conf", "passwd", "resolv.conf"}
}

// hostEtc is what programs in /usr look for in /etc and what tells nothing of
// the host. Each may be missing.
func hostEtc() []string {
	return []string{
		"alternatives", "ca-certificates", "crypto-policies", "fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d",
		"localtime", "matplotlibrc", "mime.types", "os-release", "pki/ca-trust/extracted", "pki/tls/certs",
		"protocols", "services", "ssl/certs", "ssl/openssl.cnf", "terminfo", "timezone",
	}
}

// An etcTree is the /etc that all sandboxes share, while it is being made. What
// is there already and right is not touched, since living sandboxes use it.
type etcTree struct {
	dir   string
	kept  map[string]bool // relative paths that belong
	bytes int64           // copied so far
}

// Bounds of what is copied from the host.
const (
	maxEtcBytes = 64 << 20
	maxEtcFiles = 20_000
)

// makeEtc makes the shared /etc.
func makeEtc(dir string) error {
	t := &etcTree{dir: dir, kept: map[string]bool{".": true}}
	for _, name := range hostEtc() {
		if err := t.copy(name); err != nil {
			return err
		}
	}
	for name, text := range syntheticEtc() {
		if err := t.write(name, []byte(text)); err != nil {
			return err
		}
	}
	return t.prune()
}

// copy takes a file, link or tree over from the host's /etc. Links are taken as
// links: they mean inside what they mean outside, or nothing.
func (t *etcTree) copy(name string) error {
	return fs.WalkDir(os.DirFS("/etc"), name, func(name string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case len(t.kept) > maxEtcFiles:
			return errors.New("/etc holds too many files for a sandbox")
		case e.Type() == fs.ModeSymlink:
			return t.copyLink(name)
		case e.Type().IsRegular():
			return t.copyFile(name)
		}
		return nil
	})
}

func (t *etcTree) copyLink(name string) error {
	target, err := os.Readlink(filepath.Join("/etc", name))
	if err != nil {
		return err
	}
	if err := t.claim(name); err != nil {
		return err
	}
	link := filepath.Join(t.dir, name)
	if err := vacate(link, fs.ModeSymlink); err != nil {
		return err
	}
	return symlink(target, link)
}

func (t *etcTree) copyFile(name string) error {
	f, err := os.Open(filepath.Join("/etc", name))
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxEtcBytes-t.bytes+1))
	if err != nil {
		return err
	}
	return t.write(name, data)
}

// write puts a file in place unless it is there with the same content.
func (t *etcTree) write(name string, data []byte) error {
	if t.bytes += int64(len(data)); t.bytes > maxEtcBytes {
		return errors.New("/etc is too large for a sandbox")
	}
	if err := t.claim(name); err != nil {
		return err
	}
	file := filepath.Join(t.dir, name)
	if err := vacate(file, 0); err != nil {
		return err
	}
	if now, err := os.ReadFile(file); err == nil && bytes.Equal(now, data) {
		return nil
	}
	return replaceFile(file, data)
}

// claim marks a name and its parents as belonging, and makes the parents.
func (t *etcTree) claim(name string) error {
	t.kept[name] = true
	parent := path.Dir(name)
	if t.kept[parent] {
		return nil
	}
	if err := t.claim(parent); err != nil {
		return err
	}
	dir := filepath.Join(t.dir, parent)
	if err := vacate(dir, fs.ModeDir); err != nil {
		return err
	}
	return makeDir(dir, 0o755)
}

// vacate removes what is at a path unless it is of the wanted type.
func vacate(path string, want fs.FileMode) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() == want:
		return nil
	}
	return os.RemoveAll(path)
}

// prune removes what the host no longer has.
func (t *etcTree) prune() error {
	return filepath.WalkDir(t.dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(t.dir, file)
		if err != nil || t.kept[name] {
			return err
		}
		if err := os.RemoveAll(file); err != nil {
			return err
		}
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}
