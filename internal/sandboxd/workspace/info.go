package workspace

import (
	"fmt"
	"io/fs"

	"sandgate/sandboxclient/wire"
)

// describe tells of one entry.
func describe(name string, info fs.FileInfo) wire.FileInfo {
	fi := wire.FileInfo{
		Name:     name,
		Type:     typeOf(info.Mode()),
		Size:     info.Size(),
		Mode:     fmt.Sprintf("%04o", permissions(info.Mode())),
		Modified: info.ModTime().UTC(),
	}
	if fi.Type == wire.TypeFile {
		fi.ETag = etag(info)
	}
	return fi
}

func typeOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return wire.TypeFile
	case mode.IsDir():
		return wire.TypeDirectory
	case mode&fs.ModeSymlink != 0:
		return wire.TypeSymlink
	}
	return wire.TypeOther
}

// permissions gives the twelve bits as chmod counts them.
func permissions(mode fs.FileMode) uint32 {
	bits := uint32(mode.Perm())
	for _, b := range []struct {
		mode fs.FileMode
		bit  uint32
	}{{fs.ModeSetuid, 0o4000}, {fs.ModeSetgid, 0o2000}, {fs.ModeSticky, 0o1000}} {
		if mode&b.mode != 0 {
			bits |= b.bit
		}
	}
	return bits
}
