package local

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sandgate/sandboxclient"
)

var _ sandboxclient.Gauge = (*Driver)(nil)

// Usage tells what a sandbox takes of this host.
func (d *Driver) Usage(id sandboxclient.ID) sandboxclient.Usage {
	if !id.Valid() {
		return sandboxclient.Usage{}
	}
	usage := sandboxclient.Usage{MemoryBytes: memoryUsed(d.layout.instanceOf(id)), DiskBytes: blocksOf(d.layout.image(id))}
	if slept, err := d.Asleep(id); err == nil {
		usage.DiskBytes += slept.Bytes
	}
	return usage
}

// blocksOf is what a sparse file takes of the disk.
func blocksOf(path string) int64 {
	var stat unix.Stat_t
	if unix.Stat(path, &stat) != nil {
		return 0
	}
	return stat.Blocks * 512
}

// memoryUsed is how much memory a sandbox has to itself: what could be taken
// back at once, as pages of files on disk, does not count. 0 when it does not run.
func memoryUsed(name instance) int64 {
	for _, dir := range []string{cgroupRoot, filepath.Join(cgroupRoot, "memory")} {
		if used, ok := memoryStat(filepath.Join(dir, cgroupsPath(name), "memory.stat")); ok {
			return used
		}
	}
	return 0
}

// memoryStat adds up the anonymous and shared memory in a memory.stat of either
// version.
func memoryStat(path string) (int64, bool) {
	f, err := os.Open(path)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	stat := map[string]int64{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		stat[name], _ = strconv.ParseInt(value, 10, 64)
	}
	if total, ok := stat["total_rss"]; ok { // version 1: with the cgroups below
		return total + stat["total_shmem"], true
	}
	return stat["anon"] + stat["shmem"], true
}
