package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A process identifies a sandbox's host process for good: a pid is used again,
// the pair of start time and boot is not.
type process struct {
	pid   int
	start string // in clock ticks since boot
	boot  string // the kernel's boot id
}

// String is the form in which a record is kept.
func (p process) String() string { return fmt.Sprintf("%d %s %s\n", p.pid, p.start, p.boot) }

// identify describes the process that has the pid now.
func identify(pid int) (process, error) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return process{}, err
	}
	boot := bootID()
	if boot == "" {
		return process{}, errNoBoot
	}
	// The second field is the program's name, in parentheses, and may hold anything.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const startTime = 22 - 3 // its place in proc_pid_stat(5), counted behind the name
	if len(fields) <= startTime {
		return process{}, fmt.Errorf("malformed stat of process %d", pid)
	}
	return process{pid: pid, start: fields[startTime], boot: boot}, nil
}

// recordProcess turns the runtime's pid file into a record that survives the
// gateway.
func recordProcess(bundle string) error {
	text, err := os.ReadFile(filepath.Join(bundle, pidName))
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return fmt.Errorf("malformed pid file: %w", err)
	}
	p, err := identify(pid)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(bundle, recordName), []byte(p.String()), 0o600)
}

// readRecord reads what recordProcess kept.
func readRecord(bundle string) (process, error) {
	text, err := os.ReadFile(filepath.Join(bundle, recordName))
	if err != nil {
		return process{}, err
	}
	fields := strings.Fields(string(text))
	if len(fields) != 3 {
		return process{}, errors.New("malformed process record")
	}
	pid, err := strconv.Atoi(fields[0])
	if err != nil {
		return process{}, fmt.Errorf("malformed process record: %w", err)
	}
	return process{pid: pid, start: fields[1], boot: fields[2]}, nil
}

// open gives a pidfd of the process, os.ErrProcessDone when it is gone.
func (p process) open() (*os.File, error) {
	fd, err := unix.PidfdOpen(p.pid, unix.PIDFD_NONBLOCK)
	if errors.Is(err, unix.ESRCH) {
		return nil, os.ErrProcessDone
	}
	if err != nil {
		return nil, fmt.Errorf("pidfd_open: %w", err)
	}
	pidfd := os.NewFile(uintptr(fd), "pidfd")
	// Now that the pid is held it cannot change hands: compare.
	now, err := identify(p.pid)
	if err == nil && now == p && !exited(fd) {
		return pidfd, nil
	}
	_ = pidfd.Close()
	return nil, os.ErrProcessDone
}

// awaitExit returns nil when the process has exited, and an error when the
// descriptor was closed first.
func awaitExit(pidfd *os.File) error {
	raw, err := pidfd.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Read(func(fd uintptr) bool { return exited(int(fd)) })
}

// exited says whether a pidfd's process has ended, reaped or not.
func exited(fd int) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n == 1
}

// kill ends the process if it is still there, and waits for its end.
func (p process) kill(ctx context.Context) error {
	pidfd, err := p.open()
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	if err != nil {
		return err
	}
	defer pidfd.Close()
	if err := signal(pidfd, unix.SIGKILL); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = pidfd.Close() })
	defer stop()
	if err := awaitExit(pidfd); err != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	return nil
}

// signal sends a signal to a pidfd's process; one that is gone is no error.
func signal(pidfd *os.File, sig unix.Signal) error {
	raw, err := pidfd.SyscallConn()
	if err != nil {
		return err
	}
	var sendErr error
	err = raw.Control(func(fd uintptr) { sendErr = unix.PidfdSendSignal(int(fd), sig, nil, 0) })
	if errors.Is(sendErr, unix.ESRCH) {
		sendErr = nil
	}
	return errors.Join(err, sendErr)
}
