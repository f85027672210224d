package memory

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"sandgate/internal/sandboxd/shim"
)

// usage is the sandbox's memory, in bytes.
type usage struct{ total, available int64 }

// reserve is what must stay: gVisor itself lives under the same limit.
func (u usage) reserve() int64 {
	const least, most = 16 << 20, 128 << 20
	return min(max(u.total/8, least), most)
}

func readUsage() (usage, error) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return usage{}, err
	}
	return parseUsage(text)
}

func parseUsage(text []byte) (usage, error) {
	var u usage
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 {
			continue
		}
		kib, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			continue
		}
		switch fields[0] {
		case "MemTotal:":
			u.total = kib << 10
		case "MemAvailable:":
			u.available = kib << 10
		}
	}
	if u.total == 0 {
		return u, errors.New("memory: no total in meminfo")
	}
	return u, nil
}

// countTasks gives the number of threads of all processes, 0 if it cannot be told.
func countTasks() int {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return int(info.Procs)
}

// process is one of the user's, with the pids of its ancestors, itself first.
type process struct {
	pid      int
	resident int64
	lineage  []int
}

// largestProcesses finds those of the sandbox user's that use most memory, at
// most count of them, the largest first.
func largestProcesses(count int) ([]process, error) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	var found []process
	parents := make(map[int]int)
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		resident, parent, err := readStat(dir)
		if err != nil {
			continue // it is gone
		}
		parents[pid] = parent
		if resident > 0 && ownedByUser(dir) {
			found = append(found, process{pid: pid, resident: resident})
		}
	}
	if len(found) == 0 {
		return nil, errors.New("memory: the user runs nothing")
	}
	slices.SortFunc(found, func(a, b process) int { return cmp.Compare(b.resident, a.resident) })
	found = found[:min(count, len(found))]
	for i := range found {
		found[i].lineage = lineage(found[i].pid, parents)
	}
	return found, nil
}

// lineage is a process and its ancestors.
func lineage(pid int, parents map[int]int) []int {
	var line []int
	for ; pid > 1 && len(line) < len(parents); pid = parents[pid] {
		line = append(line, pid)
	}
	return line
}

// holdsMemory says whether a process still has memory; a zombie has none.
func holdsMemory(p process) bool {
	resident, _, err := readStat(filepath.Join("/proc", strconv.Itoa(p.pid)))
	return err == nil && resident > 0
}

func ownedByUser(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == shim.SandboxUID
}

// readStat gives the resident bytes of a process and its parent. A program's
// name may hold anything, so fields are counted behind it.
func readStat(dir string) (resident int64, parent int, err error) {
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return 0, 0, err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const parentField, residentField = 1, 21
	if len(fields) <= residentField {
		return 0, 0, fmt.Errorf("memory: short stat of %s", dir)
	}
	if parent, err = strconv.Atoi(fields[parentField]); err != nil {
		return 0, 0, err
	}
	pages, err := strconv.ParseInt(fields[residentField], 10, 64)
	return pages * int64(os.Getpagesize()), parent, err
}
