package kernel

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"sandgate/sandboxclient/wire"
)

// describe says in words how a process ended.
func describe(status syscall.WaitStatus) string {
	switch {
	case status.Signaled() && status.Signal() == syscall.SIGKILL:
		return "killed by SIGKILL (out of memory?)"
	case status.Signaled():
		return "killed by " + signalName(status.Signal())
	}
	return fmt.Sprintf("exited with status %d", status.ExitStatus())
}

// exitOf tells how a cell ended that took its process with it.
func exitOf(status syscall.WaitStatus) wire.Exit {
	if !status.Signaled() {
		return wire.Exit{Status: wire.StatusExited, ExitCode: status.ExitStatus()}
	}
	signal := status.Signal()
	return wire.Exit{Status: wire.StatusSignaled, ExitCode: 128 + int(signal), Signal: signalName(signal)}
}

func signalName(signal syscall.Signal) string {
	if name := unix.SignalName(signal); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", int(signal))
}
