package main

import "testing"

func TestSpaced(t *testing.T) {
	for name, want := range map[string]string{
		"limit of openFiles": "limit of open files", "cpuCount": "cpu count", "memory": "memory", "seccomp of PID 1": "seccomp of PID 1",
	} {
		if got := spaced(name); got != want {
			t.Errorf("%s is read as %s", name, got)
		}
	}
}
