// Command sandboxd is the daemon inside every sandbox. It takes no flags: where
// it finds the gateway and the workspace is fixed.
package main

import (
	"os"
	"runtime"

	"sandgate/internal/sandboxd"
)

// The first thread is main's own. The process is taken for the user's whose that
// thread is, and others act as the sandbox's user for a while.
func init() { runtime.LockOSThread() } //nolint:gochecknoinits // main may run on another thread already

func main() { os.Exit(sandboxd.Run(os.Args[1:], os.Stdout, os.Stderr)) }
