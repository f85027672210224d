package archive

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// direntsAtOnce is how many bytes of names are read from a directory at once.
	direntsAtOnce = 64 << 10
	// direntHeader is what precedes a name: inode, offset, length and type.
	direntHeader = 8 + 8 + 2 + 1
)

// A dirent is a name in a directory, and what the directory says that it is.
type dirent struct {
	name string
	kind uint8 // unix.DT_UNKNOWN where it does not say
}

// dirents gives all that is in the directory, sorted by name, but no more than
// most. It can be asked once.
func (d directory) dirents(most int) ([]dirent, error) {
	var all []dirent
	buf := make([]byte, direntsAtOnce)
	for {
		n, err := unix.Getdents(d.fd, buf)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if n <= 0 {
			slices.SortFunc(all, func(a, b dirent) int { return cmp.Compare(a.name, b.name) })
			return all, nil
		}
		all = appendDirents(all, buf[:n])
		if len(all) > most {
			return nil, tooMany()
		}
	}
}

func appendDirents(all []dirent, buf []byte) []dirent {
	for len(buf) > direntHeader {
		length := int(binary.NativeEndian.Uint16(buf[16:]))
		if length <= direntHeader || length > len(buf) {
			return all // which no kernel gives
		}
		name, _, _ := bytes.Cut(buf[direntHeader:length], []byte{0})
		if text := string(name); text != "." && text != ".." {
			all = append(all, dirent{text, buf[18]})
		}
		buf = buf[length:]
	}
	return all
}

// names gives all names in the directory, sorted, but no more than most.
func (d directory) names(most int) ([]string, error) {
	own, err := d.directory(".", itself) // with an offset of its own
	if err != nil {
		return nil, err
	}
	defer own.Close()
	all, err := own.dirents(most)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.name
	}
	return names, nil
}
