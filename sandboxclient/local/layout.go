package local

import (
	"crypto/rand"
	"fmt"
	"path/filepath"

	"sandgate/sandboxclient"
)

// A layout names every path below the state directory.
//
//	sandboxes/<id>/workspace   the only durable tree, /workspace inside
//	sandboxes/<id>/workspace.img
//	                           the file system mounted there, if it has a size
//	sandboxes/<id>/bundle      config.json, the process record, the runtime's log,
//	                           and its instance if that is not the id
//	sandboxes/<id>/checkpoint  its memory, while it is hibernated
//	templates/<key>           the memory that fresh sandboxes start with
//	run/<instance>             the link: socket and token, /run/sandgate inside
//	run/runsc, run/runc        the runtimes' own state
//	shared/rootfs, shared/etc  what all sandboxes see, read-only; the sleeping ones
//	                           depend on it, so it stays over a reboot
//	run/blank-<size>.img       an empty workspace to copy
//
// The bundle directory is made first and removed last: while it is there, the
// sandbox is not forgotten.
type layout struct{ state string }

func (l layout) sandboxes() string         { return filepath.Join(l.state, "sandboxes") }
func (l layout) run() string               { return filepath.Join(l.state, "run") }
func (l layout) runtimeRoot(k kind) string { return filepath.Join(l.run(), string(k)) }
func (l layout) shared() string            { return filepath.Join(l.state, "shared") }
func (l layout) rootfs() string            { return filepath.Join(l.shared(), "rootfs") }
func (l layout) etc() string               { return filepath.Join(l.shared(), "etc") }

func (l layout) sandbox(id sandboxclient.ID) string {
	return filepath.Join(l.sandboxes(), string(id))
}

func (l layout) workspace(id sandboxclient.ID) string {
	return filepath.Join(l.sandbox(id), "workspace")
}

func (l layout) image(id sandboxclient.ID) string {
	return l.workspace(id) + ".img"
}

func (l layout) blank(size int64) string {
	return filepath.Join(l.run(), fmt.Sprintf("blank-%d.img", size))
}

func (l layout) bundle(id sandboxclient.ID) string {
	return filepath.Join(l.sandbox(id), "bundle")
}

func (l layout) checkpoint(id sandboxclient.ID) string {
	return filepath.Join(l.sandbox(id), "checkpoint")
}

// waking is where a checkpoint lies while it is used up.
func (l layout) waking(id sandboxclient.ID) string { return l.checkpoint(id) + wakingExt }

const wakingExt = ".waking"

// aside is where a checkpoint lies while it is removed.
func (l layout) aside(id sandboxclient.ID) string { return l.checkpoint(id) + "." + rand.Text() }

func (l layout) templates() string { return filepath.Join(l.state, "templates") }

// runtimeState names what a runtime keeps about a sandbox.
func (l layout) runtimeState(k kind, name instance) []string {
	pattern := string(name) // a directory
	if k == kindRunsc {
		pattern = "*" + string(name) + "*" // state, its lock, and a socket
	}
	paths, _ := filepath.Glob(filepath.Join(l.runtimeRoot(k), pattern)) // fails for malformed patterns only
	return paths
}

func (l layout) link(name instance) string {
	return filepath.Join(l.run(), string(name))
}

// In a bundle.
const (
	specName   = "config.json"
	recordName = "process"
	pidName    = "pid"
	logName    = "runtime.log"
	wordsName  = "last-words" // of gVisor's kernel, if it panics
)
