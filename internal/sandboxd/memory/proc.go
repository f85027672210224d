package memory

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

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

// process is one of the user's, with the pids of its ancestors, itself first.
type process struct {
	pid      int
	resident int64
	lineage  []int
}

// largestProcess finds the one of the sandbox user's that uses most memory.
func largestProcess() (process, error) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return process{}, err
	}
	var largest process
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
		if resident > largest.resident && ownedByUser(dir) {
			largest = process{pid: pid, resident: resident}
		}
	}
	if largest.pid == 0 {
		return largest, errors.New("memory: the user runs nothing")
	}
	for pid := largest.pid; pid > 1 && len(largest.lineage) < len(parents); pid = parents[pid] {
		largest.lineage = append(largest.lineage, pid)
	}
	return largest, nil
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
