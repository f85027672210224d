package shim

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// startShim forks from a thread that can gain no privileges and lets the thread
// go: the shim and all it starts inherit that. Nobody waits for the process
// here, sandboxd reaps whatever ends.
func startShim(exe string, args []string, socket *os.File) (int, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	attr := &syscall.ProcAttr{
		Dir:   "/",
		Env:   []string{"GOTRACEBACK=none"},
		Files: []uintptr{null.Fd(), null.Fd(), null.Fd(), socket.Fd()},
	}
	return forkUnprivileged(exe, args, attr)
}

func forkUnprivileged(exe string, args []string, attr *syscall.ProcAttr) (pid int, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if err = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return
		}
		pid, err = syscall.ForkExec(exe, args, attr)
	}()
	<-done
	return pid, err
}
