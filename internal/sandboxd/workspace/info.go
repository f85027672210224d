package workspace

import (
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sandgate/sandboxclient/wire"
)

// describe tells of one entry.
func describe(name string, stat unix.Stat_t) wire.FileInfo {
	fi := wire.FileInfo{
		Name:     name,
		Type:     typeOf(stat),
		Size:     stat.Size,
		Mode:     fmt.Sprintf("%04o", stat.Mode&0o7777),
		Modified: time.Unix(stat.Mtim.Unix()).UTC(),
	}
	if fi.Type == wire.TypeFile {
		fi.ETag = etag(stat)
	}
	return fi
}

func typeOf(stat unix.Stat_t) string {
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return wire.TypeFile
	case unix.S_IFDIR:
		return wire.TypeDirectory
	case unix.S_IFLNK:
		return wire.TypeSymlink
	}
	return wire.TypeOther
}

// etag names a file's content. The inode is not part of it: gVisor counts
// inodes anew in every sandbox, and a tag must outlive one. The change time is,
// as programs may set the other one back.
func etag(stat unix.Stat_t) string {
	return fmt.Sprintf(`"%x-%x-%x"`, stat.Size, stat.Mtim.Nano(), stat.Ctim.Nano())
}

// Conditions are the headers of a write that ask for a certain state before it.
type Conditions struct {
	IfMatch     string
	IfNoneMatch string
}

func (c Conditions) any() bool { return c.IfMatch != "" || c.IfNoneMatch != "" }

// check compares with what is there: an empty tag with exists set is something
// that has none, a directory say.
func (c Conditions) check(exists bool, tag string) error {
	if c.IfMatch != "" && !matches(c.IfMatch, exists, tag) {
		return fail(wire.CodePreconditionFailed, "The file is not the one that If-Match names.")
	}
	if c.IfNoneMatch != "" && matches(c.IfNoneMatch, exists, tag) {
		return fail(wire.CodePreconditionFailed, "The file is one that If-None-Match excludes.")
	}
	return nil
}

// matches compares strongly: a weak tag is no match. No tag of ours holds a
// comma, so those in a list can be told apart by them.
func matches(list string, exists bool, tag string) bool {
	if strings.TrimSpace(list) == "*" {
		return exists
	}
	for one := range strings.SplitSeq(list, ",") {
		if exists && tag != "" && strings.TrimSpace(one) == tag {
			return true
		}
	}
	return false
}
