package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// growthIn says by how much a gateway's memory rose at its highest while all that
// was done.
func growthIn(pid func() int, all ...sample) sample {
	return func(ctx context.Context) (float64, error) {
		if err := resetPeak(pid()); err != nil {
			return 0, err
		}
		before, err := memory(pid(), "VmRSS")
		if err != nil {
			return 0, err
		}
		for _, do := range all {
			if _, err := do(ctx); err != nil {
				return 0, err
			}
		}
		peak, err := memory(pid(), "VmHWM")
		return max(0, peak-before), err
	}
}

// memory reads one of a process's figures from /proc, in MiB.
func memory(pid int, field string) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb / kiB, err
		}
	}
	return 0, fmt.Errorf("no %s of process %d", field, pid)
}

// resetPeak makes VmHWM start again from what is used now.
func resetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}
