package reaper

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestRun_reapsWhatEndedBeforeAndAfterItsStart(t *testing.T) {
	early := child(t)
	awaitState(t, early, "Z")

	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); Run(ctx) }()
	late := []int{child(t), child(t), child(t)}

	for _, pid := range append(late, early) {
		awaitState(t, pid, "")
	}
	stop()
	<-done
}

// child starts a process that ends at once.
func child(t *testing.T) int {
	t.Helper()
	pid, err := syscall.ForkExec("/bin/true", []string{"true"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// awaitState waits until /proc tells the state; none at all once it is reaped.
func awaitState(t *testing.T, pid int, want string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; <-time.After(time.Millisecond) {
		state := ""
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
			state = strings.Fields(string(stat))[2]
		}
		if state == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d is in state %q, want %q", pid, state, want)
		}
	}
}
