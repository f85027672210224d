package shim

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ticksPerSecond is the unit of /proc's times, for every Linux program.
const ticksPerSecond = 100

// A process is what /proc/<pid>/stat tells about one.
type process struct {
	pid     int
	parent  int
	state   byte
	started uint64 // ticks since boot
}

// gone says whether nothing but the wait status is left of it.
func (p process) gone() bool { return p.state == 'Z' || p.state == 'X' }

// descendants lists the living processes below a process, which is not among
// them. A process that is being handed to another parent at this moment may be
// missed; it is found by the next look.
func descendants(of int) ([]process, error) {
	all, err := processes()
	if err != nil {
		return nil, err
	}
	return familyOf(all, of), nil
}

// familyOf finds the living processes below some.
func familyOf(all []process, roots ...int) []process {
	children := make(map[int][]process)
	for _, p := range all {
		children[p.parent] = append(children[p.parent], p)
	}
	var found []process
	for queue := slices.Clone(roots); len(queue) > 0; queue = queue[1:] {
		for _, p := range children[queue[0]] {
			queue = append(queue, p.pid)
			if !p.gone() {
				found = append(found, p)
			}
		}
		delete(children, queue[0])
	}
	return found
}

func processes() ([]process, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var all []process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, err := readProcess(pid); err == nil {
			all = append(all, p)
		}
	}
	return all, nil
}

func readProcess(pid int) (process, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return process{}, err
	}
	return parseStat(pid, stat)
}

// parseStat reads a stat line. The program's name is its own choice and may
// hold blanks and parentheses, so fields are counted behind the last of these.
func parseStat(pid int, stat []byte) (process, error) {
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 {
		return process{}, errors.New("shim: short stat line")
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return process{}, err
	}
	started, err := strconv.ParseUint(fields[19], 10, 64)
	if err != nil {
		return process{}, err
	}
	return process{pid: pid, parent: parent, state: fields[0][0], started: started}, nil
}

// ticksAt says when t was, in ticks since boot, and errs by a tick or two
// towards earlier. Start times and /proc/uptime count from the same moment on
// every kernel, gVisor's included, while no clock of the C library is promised
// to; uptime may be rounded up or down.
func ticksAt(t time.Time) (uint64, error) {
	line, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return 0, err
	}
	word, _, _ := strings.Cut(string(line), " ")
	uptime, err := strconv.ParseFloat(word, 64)
	if err != nil {
		return 0, fmt.Errorf("shim: uptime: %w", err)
	}
	ticks := (uptime-time.Since(t).Seconds())*ticksPerSecond - 0.5
	return uint64(max(ticks, 0)), nil
}

// signalAll is best effort: whoever is gone meanwhile needs no signal.
func signalAll(ps []process, sig syscall.Signal) {
	for _, p := range ps {
		_ = syscall.Kill(p.pid, sig)
	}
}
