package workspace

import (
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"sandgate/sandboxclient/wire"
)

// etag names a file's content. The inode is not part of it: gVisor counts
// inodes anew in every sandbox, and a tag must outlive one. The change time is,
// as programs may set the other one back.
func etag(info fs.FileInfo) string {
	var changed int64
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		changed = stat.Ctim.Nano()
	}
	return fmt.Sprintf(`"%x-%x-%x"`, info.Size(), info.ModTime().UnixNano(), changed)
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
		return fail(wire.CodePreconditionFailed, "The file is not the one that If-Match names")
	}
	if c.IfNoneMatch != "" && matches(c.IfNoneMatch, exists, tag) {
		return fail(wire.CodePreconditionFailed, "The file is one that If-None-Match excludes")
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
