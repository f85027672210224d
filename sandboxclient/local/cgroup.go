package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const cgroupRoot = "/sys/fs/cgroup"

// cgroupsPath is flat and our own, so that nothing is left when it is removed.
func cgroupsPath(name instance) string { return "/sandgate-" + string(name) }

// cgroups are the sandbox's directories that exist: one on a unified host, one
// for each hierarchy otherwise.
func cgroups(of instance) []string {
	name := cgroupsPath(of)
	own, _ := filepath.Glob(filepath.Join(cgroupRoot, name))
	each, _ := filepath.Glob(filepath.Join(cgroupRoot, "*", name))
	return append(own, each...)
}

// limitSockets bounds what the host's kernel holds in TCP's buffers for a sandbox
// whose kernel it is. Version 1 of cgroups counts that apart from its memory,
// without a limit, and one sandbox could slow down everybody's connections;
// version 2 counts it as memory. No runtime sets it any more.
func limitSockets(name instance, memory int64) error {
	path := filepath.Join(cgroupRoot, "memory", cgroupsPath(name), "memory.kmem.tcp.limit_in_bytes")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return os.WriteFile(path, strconv.AppendInt(nil, memory/socketShare, 10), 0o644)
}

// socketShare is which part of its memory a sandbox may have in TCP's buffers
// beside it.
const socketShare = 8

// leaveHeadroom lets the host wait with its out-of-memory killer until a sandbox
// has somewhat more than the memory it is told it has. Within that sandboxd ends
// the greediest process; without it a process that takes a gibibyte a second on a
// busy machine is faster than sandboxd's next turn, and all of the sandbox goes.
// gVisor reads the limit once, when it starts: what it tells stays as it was.
func leaveHeadroom(name instance, memory int64) error {
	limit := strconv.AppendInt(nil, memory+headroom(memory), 10)
	for _, dir := range cgroups(name) {
		for _, file := range []string{"memory.max", "memory.memsw.limit_in_bytes", "memory.limit_in_bytes"} { // swap first: it holds the other
			err := overwrite(filepath.Join(dir, file), limit)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// headroom is a quarter of the memory, within bounds. A quarter of half a gibibyte
// was seen to be gone before sandboxd had its turn.
func headroom(memory int64) int64 {
	const least, most = 512 << 20, 1 << 30
	return min(max(memory/4, least), most)
}

// overwrite writes to a file that exists. In a cgroup another one cannot be made,
// and the attempt is told as a lack of permission.
func overwrite(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// swapIsAccounted says whether the host can limit swap. Version 1 of cgroups
// cannot on kernels that were booted without it, and then refuses to try.
func swapIsAccounted() bool {
	if _, err := os.Stat(filepath.Join(cgroupRoot, "cgroup.controllers")); err == nil {
		return true
	}
	_, err := os.Stat(filepath.Join(cgroupRoot, "memory", "memory.memsw.limit_in_bytes"))
	return err == nil
}

const cgroupPoll = 5 * time.Millisecond

// clearCgroups kills what still runs in the sandbox's cgroups and removes them.
// The runtime does so itself when all is well; this is for when it cannot.
func clearCgroups(ctx context.Context, name instance) error {
	tick := time.NewTicker(cgroupPoll)
	defer tick.Stop()
	for {
		left, err := removeCgroups(cgroups(name))
		if left == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d cgroups of %s are left: %w", left, name, errors.Join(err, context.Cause(ctx)))
		case <-tick.C:
		}
	}
}

// removeCgroups says how many could not be removed yet.
func removeCgroups(dirs []string) (left int, err error) {
	for _, dir := range dirs {
		killCgroup(dir)
		if e := unix.Rmdir(dir); e != nil && !errors.Is(e, unix.ENOENT) {
			left, err = left+1, errors.Join(err, e)
		}
	}
	return left, err
}

// killCgroup kills every process in a cgroup. One that is forked meanwhile is
// met in the next round.
func killCgroup(dir string) {
	procs, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return
	}
	for field := range strings.FieldsSeq(string(procs)) {
		if pid, err := strconv.Atoi(field); err == nil && pid > 0 {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
}
