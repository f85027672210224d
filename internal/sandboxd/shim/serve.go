package shim

import (
	"errors"
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// socketFD is where a shim finds its end of the socket pair.
const socketFD = 3

// SandboxUID and SandboxGID are the user that programs run as.
const (
	SandboxUID = 20000
	SandboxGID = 20000
)

// Main is the whole life of a shim process; it returns its exit code.
func Main() int {
	c, err := newConn(os.NewFile(socketFD, "sandboxd"))
	if err != nil {
		return 2
	}
	if err := prepare(); err != nil {
		return 2
	}
	newServer(c).run()
	return 0
}

// prepare sets what a shim needs for itself and what its programs inherit: no
// descriptor that sandboxd was given, whoever left it open, and no core dumps.
func prepare() error {
	if err := unix.CloseRange(socketFD, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	return unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
}

// A server runs one program after the other. Everything but waiting and
// reading happens in the goroutine of run.
type server struct {
	conn   conn
	deaths chan death

	program int // 0 when there is none
	ended   bool
	empty   bool
	status  syscall.WaitStatus
}

func newServer(c conn) *server {
	return &server{conn: c, deaths: make(chan death)}
}

type incoming struct {
	request
	fds []int
}

// run ends when sandboxd closes the connection, or when a tree cannot be
// ended: what is left then falls to sandboxd.
func (s *server) run() {
	requests := make(chan incoming)
	go s.read(requests)
	for {
		select {
		case in, open := <-requests:
			if !open {
				s.end()
				return
			}
			if s.conn.send(s.handle(in), nil) != nil {
				s.end()
				return
			}
		case d := <-s.deaths:
			s.note(d)
		}
		if err := s.settleEnd(); err != nil {
			return
		}
	}
}

// read ends with the connection, thus before the process does.
func (s *server) read(requests chan<- incoming) {
	defer close(requests)
	for {
		var in incoming
		fds, err := s.conn.receive(&in.request)
		if err != nil {
			return
		}
		in.fds = fds
		requests <- in
	}
}

func (s *server) handle(in incoming) reply {
	defer closeAll(in.fds)
	if in.Op == opStart {
		return s.start(in)
	}
	if in.Pid != s.program {
		return reply{Op: opDone, Errno: syscall.ESRCH}
	}
	switch in.Op {
	case opSignal:
		return s.signal(in.Signal)
	case opKillSince:
		return reply{Op: opDone, Errno: s.killSince(in.Ticks)}
	case opKill:
		return s.signal(syscall.SIGKILL)
	}
	return reply{Op: opDone, Errno: syscall.ENOSYS}
}

func (s *server) start(in incoming) reply {
	if s.program != 0 {
		return reply{Op: opStarted, Errno: syscall.EBUSY}
	}
	pid, err := syscall.ForkExec(string(in.Path), toStrings(in.Argv), attributes(in))
	if err != nil {
		return reply{Op: opStarted, Errno: errno(err)}
	}
	s.program, s.ended, s.empty = pid, false, false
	go s.wait(pid)
	return reply{Op: opStarted, Pid: pid}
}

// attributes make a process that holds the given files and nothing else: every
// descriptor of a shim is close-on-exec, and Go resets the signals.
func attributes(in incoming) *syscall.ProcAttr {
	files := make([]uintptr, len(in.fds))
	for i, fd := range in.fds {
		files[i] = uintptr(fd)
	}
	return &syscall.ProcAttr{
		Dir:   string(in.Dir),
		Env:   toStrings(in.Env),
		Files: files,
		Sys: &syscall.SysProcAttr{
			Setsid:     true,
			Credential: &syscall.Credential{Uid: SandboxUID, Gid: SandboxGID},
		},
	}
}

func errno(err error) syscall.Errno {
	if e, ok := errors.AsType[syscall.Errno](err); ok {
		return e
	}
	return syscall.EINVAL
}

// signal reaches the program until its end is noted. Its wait status may have
// been taken an instant before; pids are handed out in turn, so it is not yet
// another's.
func (s *server) signal(sig syscall.Signal) reply {
	if s.program == 0 || s.ended {
		return reply{Op: opDone, Errno: syscall.ESRCH}
	}
	return reply{Op: opDone, Errno: errnoOf(syscall.Kill(s.program, sig))}
}

func errnoOf(err error) syscall.Errno {
	if err == nil {
		return 0
	}
	return errno(err)
}

// settleEnd ends what the program left behind, once it has ended, and tells.
func (s *server) settleEnd() error {
	if s.program == 0 || !s.ended {
		return nil
	}
	if !s.empty {
		if err := s.conn.send(reply{Op: opEnded}, nil); err != nil {
			return err
		}
	}
	if err := s.killLeftovers(); err != nil {
		return err
	}
	s.program = 0
	return s.conn.send(reply{Op: opGone, Status: s.status}, nil)
}

// end is for a shim that nobody asks any more.
func (s *server) end() {
	if s.program == 0 {
		return
	}
	s.signal(syscall.SIGKILL)
	_ = s.killLeftovers()
}
