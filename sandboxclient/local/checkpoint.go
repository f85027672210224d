package local

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"sandgate/sandboxclient"
)

// A manifest says what a checkpoint is of, and what must not have changed for it
// to be of use. It gets its name last: a checkpoint without one is none.
type manifest struct {
	Made    time.Time `json:"made"`
	Bytes   int64     `json:"bytes"`
	Machine machine   `json:"machine"`
	Spec    string    `json:"spec"` // fingerprint of the bundle's shape
	Boot    string    `json:"boot"` // until it is synced, another boot may have lost parts of it
	Note    []byte    `json:"note,omitempty"`
	// Lost is why there is no checkpoint, for whoever asks for it; "" when there is.
	Lost string `json:"lost,omitempty"`
}

// A machine is what a checkpoint is restored by and on.
type machine struct {
	Runtime hostFile `json:"runtime"`
	Kernel  string   `json:"kernel"`
}

// In a checkpoint's directory.
const (
	manifestName = "manifest.json"
	pendingName  = "manifest.pending" // what is the manifest once all is written
	filesName    = "files.json"       // the host's files that it depends on
	syncedName   = "synced"           // everything of it has reached the disk, the workspace included
	maxManifest  = 64 << 20
)

// machine describes this one now.
func (d *Driver) machine() (machine, error) {
	runtime, err := identifyFile(d.engine.Command)
	return machine{Runtime: runtime, Kernel: hostKernel()}, err
}

// prepare notes what will make the files in dir a checkpoint when the runtime has
// written it, and gives the mark that it holds meanwhile.
func prepare(dir string, m manifest, files []hostFile) (*os.File, error) {
	mark, err := newMark(dir)
	if err != nil {
		return nil, err
	}
	err = writeJSON(filepath.Join(dir, filesName), files)
	if err == nil {
		err = writeJSON(filepath.Join(dir, pendingName), m)
	}
	if err != nil {
		return nil, errors.Join(err, mark.Close())
	}
	return mark, nil
}

// complete makes the files in dir a checkpoint.
func complete(dir string) error {
	pending := filepath.Join(dir, pendingName)
	var m manifest
	if err := readJSON(pending, &m); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	m.Bytes = 0 // a gateway may have been killed behind the count
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		m.Bytes += info.Size()
		if err := os.Chmod(filepath.Join(dir, e.Name()), 0o600); err != nil {
			return err
		}
	}
	if err := writeJSON(pending, m); err != nil && !errors.Is(err, unix.ENOSPC) { // it is whole, only not counted
		return err
	}
	return os.Rename(pending, filepath.Join(dir, manifestName))
}

// writeJSON puts a file in place that only root may read.
func writeJSON(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	next := path + ".new"
	if err := os.WriteFile(next, data, 0o600); err != nil {
		return errors.Join(err, removeFile(next))
	}
	return os.Rename(next, path)
}

// errMalformed is a file that holds something else than it did.
var errMalformed = errors.New("malformed")

func readJSON(path string, v any) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxManifest))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w: %w", path, errMalformed, err)
	}
	return nil
}

// lastWord says whether an error of reading is one that stays. Any other, as one
// of too many open files, may be gone at the next attempt.
func lastWord(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, errMalformed)
}

// readManifest reads what makes dir a checkpoint; without it there is none, which
// is sandboxclient.ErrNotAsleep.
func readManifest(dir string) (manifest, error) {
	var m manifest
	err := readJSON(filepath.Join(dir, manifestName), &m)
	if errors.Is(err, os.ErrNotExist) {
		return m, sandboxclient.ErrNotAsleep
	}
	return m, err
}

// fit says why a checkpoint cannot be used: never again, which is a
// sandboxclient.LostError, or not at the moment.
func (d *Driver) fit(dir string, m manifest, shape string) error {
	if m.Lost != "" {
		return lost(m.Lost)
	}
	if err := d.current(dir, m, shape); err != nil {
		return err
	}
	var files []hostFile
	if err := readJSON(filepath.Join(dir, filesName), &files); lastWord(err) {
		return &sandboxclient.LostError{Why: "what it depends on cannot be read any more", Err: err}
	} else if err != nil {
		return err
	}
	return unchanged(files)
}

func lost(why string) error { return &sandboxclient.LostError{Why: why} }

// unchanged is fit for the host's files that were in use.
func unchanged(files []hostFile) error {
	path, err := firstChanged(files)
	if path != "" {
		return lost(path + ", which it was using, was changed while it slept")
	}
	return err
}

// current is fit without a look at the files that were in use.
func (d *Driver) current(dir string, m manifest, shape string) error {
	now, err := d.machine()
	switch {
	case err != nil && !lastWord(err):
		return err
	case err != nil || now.Runtime != m.Machine.Runtime:
		return lost("the sandbox runtime was replaced while it slept")
	case now.Kernel != m.Machine.Kernel:
		return lost("this machine has another kernel than when it fell asleep")
	case shape != m.Spec:
		return lost("the limits of sandboxes were changed while it slept")
	}
	if synced, err := exists(filepath.Join(dir, syncedName)); err != nil || synced {
		return err
	}
	switch bootID() {
	case m.Boot:
		return nil
	case "":
		return errNoBoot
	}
	return lost("the machine stopped before its memory was safely on disk")
}

// shape is the fingerprint of what must be the same in the bundle that a
// checkpoint is taken of and in the one that it is restored into: all but who
// the sandbox is.
func shape(oci *specs.Spec) (string, error) {
	same := *oci
	linux := *oci.Linux
	linux.CgroupsPath = ""
	same.Linux = &linux
	same.Mounts = nil
	for _, m := range oci.Mounts {
		for _, own := range ownTrees() {
			if m.Destination == own {
				m.Source = ""
			}
		}
		same.Mounts = append(same.Mounts, m)
	}
	data, err := json.Marshal(same)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// errNoBoot is a host whose boot is not known.
var errNoBoot = errors.New("this host does not tell its boot id")

// bootID names this boot of the host; "" when it is not told.
func bootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
