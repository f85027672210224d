// Package reaper takes the wait status of every child that ends: what PID 1
// owes to a system.
//
// It takes all of them, so nobody else in its process may wait for a child.
// sandboxd's only own children are shims, which it watches by their sockets.
package reaper

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Run reaps until ctx ends.
func Run(ctx context.Context) {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	defer signal.Stop(ended)
	for {
		reap() // also at the start: what ended before nobody told of
		select {
		case <-ended:
		case <-ctx.Done():
			return
		}
	}
}

// reap takes what has ended by now. One SIGCHLD may stand for many.
func reap() {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
	}
}
