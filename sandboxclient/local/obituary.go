package local

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sandgate/sandboxclient"
)

// mourn logs what is known of the death of a sandbox that nobody ended: who runs
// this sees "started anew" otherwise, and no reason. Its bundle and its cgroups
// are still there.
func (d *Driver) mourn(ctx context.Context, id sandboxclient.ID) {
	p, err := readRecord(d.layout.bundle(id))
	if err != nil {
		return // it did not live
	}
	pidfd, err := p.open()
	if err == nil {
		_ = pidfd.Close()
		return // it is we who end it
	}
	if !errors.Is(err, os.ErrProcessDone) || p.boot != bootID() {
		return // it went with the host
	}
	d.log.WarnContext(ctx, "a sandbox died",
		"sandbox", id, "pid", p.pid,
		"oomKills", oomKills(d.layout.instanceOf(id)),
		"lastWords", lastWords(filepath.Join(d.layout.bundle(id), wordsName)))
}

// maxWords bounds what is told of a panic: its reason and whose stack it is come
// first.
const maxWords = 2 << 10

// lastWords is the beginning of what gVisor's kernel wrote when it panicked, empty
// when it did not: when it was killed, say.
func lastWords(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	words, _ := io.ReadAll(io.LimitReader(f, maxWords)) // what can be read is better than nothing
	return strings.ToValidUTF8(strings.TrimSpace(string(words)), "�")
}

// oomKills counts the processes that the host's kernel has ended for want of
// memory in a sandbox's cgroup.
func oomKills(name instance) int {
	for _, dir := range cgroups(name) {
		for _, file := range []string{"memory.events", "memory.oom_control"} {
			if n, ok := countIn(filepath.Join(dir, file), "oom_kill"); ok {
				return n
			}
		}
	}
	return 0
}

// countIn reads one count from a file of names and counts.
func countIn(path, name string) (int, bool) {
	f, err := os.Open(path)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if key, count, _ := strings.Cut(lines.Text(), " "); key == name {
			n, err := strconv.Atoi(count)
			return n, err == nil
		}
	}
	return 0, false
}
