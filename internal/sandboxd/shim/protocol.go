package shim

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"syscall"
)

// What sandboxd asks of a shim, one request at a time.
const (
	opStart     = "start"     // Argv, Path, Env, Dir and files → opStarted
	opSignal    = "signal"    // Signal, to the program alone → opDone
	opKillSince = "killSince" // Ticks → opDone
	opKill      = "kill"      // the program, and with it the tree → opDone, then opGone
)

// What a shim says.
const (
	opStarted = "started" // Pid, or Errno
	opDone    = "done"    // Errno, 0 for success
	opEnded   = "ended"   // the program has ended, what it left is being killed
	opGone    = "gone"    // Status: the program has ended, nothing is left
)

// Arguments and the like are bytes, as JSON's strings would not carry them all.
type request struct {
	Op     string
	Pid    int // the program that is meant; unset to start one
	Path   []byte
	Argv   [][]byte
	Env    [][]byte
	Dir    []byte
	Signal syscall.Signal
	Ticks  uint64
}

type reply struct {
	Op     string
	Pid    int
	Errno  syscall.Errno
	Status syscall.WaitStatus
}

func toBytes(all []string) [][]byte {
	bytes := make([][]byte, len(all))
	for i, s := range all {
		bytes[i] = []byte(s)
	}
	return bytes
}

func toStrings(all [][]byte) []string {
	strings := make([]string, len(all))
	for i, b := range all {
		strings[i] = string(b)
	}
	return strings
}

const (
	frameHeader = 4
	maxFrame    = 32 << 20 // above the largest request that sandboxd accepts
	maxFiles    = 16
)

// A conn carries frames, JSON behind a four-byte length, and descriptors beside
// a frame's first byte.
type conn struct{ *net.UnixConn }

// newConn takes the file over.
func newConn(f *os.File) (conn, error) {
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return conn{}, err
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		c.Close()
		return conn{}, errors.New("shim: not a unix socket")
	}
	return conn{u}, nil
}

func (c conn) send(v any, files []*os.File) error {
	frame, err := encode(v)
	if err != nil {
		return err
	}
	n, _, err := c.WriteMsgUnix(frame, rights(files), nil)
	runtime.KeepAlive(files)
	if err == nil && n < len(frame) {
		_, err = c.Write(frame[n:])
	}
	return err
}

func encode(v any) ([]byte, error) {
	payload, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if len(payload) > maxFrame {
		return nil, fmt.Errorf("shim: frame of %d bytes", len(payload))
	}
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, frameHeader+len(payload)), uint32(len(payload)))
	return append(frame, payload...), nil
}

// rights encodes the files' descriptors. Fd makes each of them blocking, as
// programs expect their standard streams to be.
func rights(files []*os.File) []byte {
	if len(files) == 0 {
		return nil
	}
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd())
	}
	return syscall.UnixRights(fds...)
}

// receive reads one frame into v. The descriptors that came with it are the
// caller's to close.
func (c conn) receive(v any) ([]int, error) {
	header := make([]byte, frameHeader)
	oob := make([]byte, syscall.CmsgSpace(maxFiles*4))
	n, oobn, _, _, err := c.ReadMsgUnix(header, oob)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, io.EOF
	}
	fds, err := parseRights(oob[:oobn])
	if err != nil {
		return nil, err
	}
	if err := c.payload(header, n, v); err != nil {
		closeAll(fds)
		return nil, err
	}
	return fds, nil
}

func (c conn) payload(header []byte, n int, v any) error {
	if _, err := io.ReadFull(c, header[n:]); err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(header)
	if size > maxFrame {
		return fmt.Errorf("shim: frame of %d bytes", size)
	}
	payload := make([]byte, size)
	if _, err := io.ReadFull(c, payload); err != nil {
		return err
	}
	return json.Unmarshal(payload, v)
}

func parseRights(oob []byte) ([]int, error) {
	if len(oob) == 0 {
		return nil, nil
	}
	messages, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	var fds []int
	for _, m := range messages {
		got, err := syscall.ParseUnixRights(&m)
		if err != nil {
			closeAll(fds)
			return nil, err
		}
		fds = append(fds, got...)
	}
	return fds, nil
}

func closeAll(fds []int) {
	for _, fd := range fds {
		syscall.Close(fd)
	}
}
