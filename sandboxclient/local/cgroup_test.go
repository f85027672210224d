package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// makeCgroup makes a cgroup of a sandbox, in whichever hierarchy can be written.
func makeCgroup(t *testing.T) string {
	t.Helper()
	needRoot(t)
	for _, hierarchy := range []string{"", "pids", "unified"} {
		root := filepath.Join(cgroupRoot, hierarchy)
		if _, err := os.Stat(filepath.Join(root, "cgroup.procs")); err != nil {
			continue
		}
		dir := filepath.Join(root, cgroupsPath(instance(testID)))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	t.Fatal("no cgroup hierarchy that processes can be moved in")
	return ""
}

func TestClearCgroups_killsAndRemoves(t *testing.T) {
	dir := makeCgroup(t)
	cmd := sleeper(t)
	pid := []byte(strconv.Itoa(cmd.Process.Pid))
	if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), pid, 0o644); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = cmd.Process.Wait()
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := clearCgroups(ctx, instance(testID)); err != nil {
		t.Fatal(err)
	}
	<-ended
	if left := cgroups(instance(testID)); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestClearCgroups_none(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := clearCgroups(ctx, instance(testID)); err != nil {
		t.Error(err)
	}
}

func TestClearCgroups_endsWithItsContext(t *testing.T) {
	dir := makeCgroup(t)
	child := filepath.Join(dir, "child") // in the way of rmdir
	if err := os.Mkdir(child, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(os.Remove(child), os.Remove(dir)) })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := clearCgroups(ctx, instance(testID)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("clear: %v, want the context's error", err)
	}
}

func TestLimitSockets(t *testing.T) {
	needRoot(t)
	if err := limitSockets(instance(testID), 1<<30); err != nil {
		t.Errorf("of what has no such limit: %v", err)
	}
	dir := filepath.Join(cgroupRoot, "memory", cgroupsPath(instance(testID)))
	if err := os.Mkdir(dir, 0o755); errors.Is(err, os.ErrNotExist) {
		return // version 2 counts sockets as memory
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(dir) })
	if err := limitSockets(instance(testID), 1<<30); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "memory.kmem.tcp.limit_in_bytes"))
	if err == nil && string(got) != "134217728\n" {
		t.Errorf("the limit is %q", got)
	}
}

func TestLeaveHeadroom(t *testing.T) {
	needRoot(t)
	if err := leaveHeadroom(instance(testID), 1<<30); err != nil {
		t.Errorf("for what has no cgroup: %v", err)
	}
	dir := filepath.Join(cgroupRoot, "memory", cgroupsPath(instance(testID)))
	if err := os.Mkdir(dir, 0o755); errors.Is(err, os.ErrNotExist) {
		return
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(dir) })
	for _, file := range []string{"memory.limit_in_bytes", "memory.memsw.limit_in_bytes"} { // as a runtime does it
		if err := overwrite(filepath.Join(dir, file), []byte("1073741824")); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	if err := leaveHeadroom(instance(testID), 1<<30); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "memory.limit_in_bytes")); err != nil || string(got) != "1610612736\n" {
		t.Errorf("the limit is %q, %v", got, err)
	}
}
