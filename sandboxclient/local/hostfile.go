package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
)

// A hostFile is a file of the host as a sandbox has seen it. A checkpoint holds
// no bytes of such files: one that was mapped and has been replaced shows its new
// bytes under the old process, silently. So they are compared before a sandbox
// goes on.
type hostFile struct {
	Path  string `json:"path"` // on the host
	Dev   uint64 `json:"dev"`
	Inode uint64 `json:"inode"`
	Size  int64  `json:"size"`
	MTime int64  `json:"mtime"` // nanoseconds since 1970
}

func describeFile(path string, stat *unix.Stat_t) hostFile {
	return hostFile{Path: path, Dev: stat.Dev, Inode: stat.Ino, Size: stat.Size, MTime: stat.Mtim.Nano()}
}

// identifyFile describes a file as it is now.
func identifyFile(path string) (hostFile, error) {
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		return hostFile{}, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return describeFile(path, &stat), nil
}

// firstChanged names the first file that is not any more what it was; "" when
// all are, or when that is not known.
func firstChanged(files []hostFile) (string, error) {
	for _, was := range files {
		now, err := identifyFile(was.Path)
		if err != nil && !lastWord(err) {
			return "", err
		}
		if err != nil || now != was {
			return was.Path, nil
		}
	}
	return "", nil
}

// gofersRoot is where gVisor's processes see a sandbox's files.
const gofersRoot = "/root"

// maxHeld bounds how many descriptors of a sandbox's kernel are looked at.
const maxHeld = 200_000

// errHeldUnknown is a runtime that does not show what its sandboxes use.
var errHeldUnknown = errors.New("the runtime does not show which files of the host it uses")

// heldFiles describes every regular file of the host that a sandbox's kernel has
// in its hands: it keeps open what is open or mapped inside, and what was walked
// lately. The sandbox has no say in this. Its own trees are left out.
func heldFiles(pid int, oci *specs.Spec) ([]hostFile, error) {
	dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(maxHeld + 1)
	if err != nil {
		return nil, err
	}
	if len(names) > maxHeld {
		return nil, fmt.Errorf("the sandbox holds more than %d files", maxHeld)
	}
	var files []hostFile
	for _, name := range names {
		if file, ok := heldFile(filepath.Join(dir, name), oci); ok {
			files = append(files, file)
		}
	}
	slices.SortFunc(files, func(a, b hostFile) int { return strings.Compare(a.Path, b.Path) })
	files = slices.CompactFunc(files, func(a, b hostFile) bool { return a == b })
	// sandboxd runs from such a file.
	if !slices.ContainsFunc(files, func(f hostFile) bool { return f.Path == sourceOf(sandboxdPath, oci) }) {
		return nil, errHeldUnknown
	}
	return files, nil
}

// heldFile describes what is behind a descriptor if it is a regular file that
// the sandbox shares with others.
func heldFile(fd string, oci *specs.Spec) (hostFile, bool) {
	link, err := os.Readlink(fd)
	if err != nil {
		return hostFile{}, false // closed meanwhile
	}
	inside, ok := strings.CutPrefix(link, gofersRoot+"/")
	if !ok {
		return hostFile{}, false
	}
	var stat unix.Stat_t
	if unix.Stat(fd, &stat) != nil || stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return hostFile{}, false
	}
	path := sourceOf("/"+inside, oci)
	return describeFile(path, &stat), path != ""
}

// sourceOf translates a path inside to the host's; "" for what is the sandbox's own.
func sourceOf(inside string, oci *specs.Spec) string {
	source, deepest := filepath.Join(oci.Root.Path, inside), ""
	for _, m := range oci.Mounts {
		rest, below := strings.CutPrefix(inside+"/", m.Destination+"/")
		if !below || len(m.Destination) < len(deepest) {
			continue
		}
		deepest = m.Destination
		source = ""
		if m.Type == "bind" && !slices.Contains(ownTrees(), m.Destination) {
			source = filepath.Join(m.Source, rest)
		}
	}
	return source
}
