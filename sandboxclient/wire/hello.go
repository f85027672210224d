package wire

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Version is the protocol's version; see the package comment for its history.
const Version = 1

// Where sandboxd finds the gateway, inside every sandbox.
const (
	LinkDir    = "/run/sandgate"
	SocketName = "s"
	TokenName  = "token"
)

// MemoryVariable is set in sandboxd's environment, to the limit in bytes, where
// the limit is one of the whole sandbox and is shown as its total memory: it
// must then be seen to from inside.
const MemoryVariable = "SANDGATE_MEMORY"

// Roles of a connection.
const (
	RoleServe  = "serve"  // sandboxd answers requests
	RoleEgress = "egress" // a program inside wants to reach the outside
)

const (
	helloMagic = "SANDGATE"
	maxHello   = 512
)

// ErrVersion means that sandboxd speaks another version of the protocol.
var ErrVersion = errors.New("wire: sandboxd speaks another protocol version")

// A Hello opens a connection. Token proves that it comes from the sandbox that
// the directory was made for.
type Hello struct {
	Version int
	Token   string
	Role    string
	Target  string // of RoleEgress alone: HOST:PORT as the program inside spelled it
}

// WriteHello writes the opening line.
func WriteHello(w io.Writer, h Hello) error {
	line := fmt.Sprintf("%s %d %s %s", helloMagic, h.Version, h.Token, h.Role)
	if h.Role == RoleEgress {
		line += " " + h.Target
	}
	if len(line) >= maxHello || strings.ContainsAny(h.Target, " \n") {
		return errors.New("wire: the target does not fit into a hello")
	}
	_, err := io.WriteString(w, line+"\n")
	return err
}

// ReadHello reads the opening line and nothing behind it. The peer is not
// trusted: the line is bounded and its form is checked, not its token.
func ReadHello(r io.Reader) (Hello, error) {
	line, err := readLine(r, maxHello)
	if err != nil {
		return Hello{}, fmt.Errorf("wire: read hello: %w", err)
	}
	fields := strings.Split(line, " ")
	if len(fields) < 4 || fields[0] != helloMagic || slices.Contains(fields, "") {
		return Hello{}, errors.New("wire: malformed hello")
	}
	version, err := strconv.Atoi(fields[1])
	if err != nil {
		return Hello{}, errors.New("wire: malformed hello version")
	}
	h := Hello{Version: version, Token: fields[2], Role: fields[3]}
	switch rest := fields[4:]; {
	case h.Role == RoleEgress && len(rest) == 1:
		h.Target = rest[0]
	case h.Role == RoleEgress || len(rest) > 0:
		return Hello{}, errors.New("wire: malformed hello role")
	}
	return h, nil
}

// Check compares the hello with what is expected, the token in constant time.
func (h Hello) Check(token string) error {
	if subtle.ConstantTimeCompare([]byte(h.Token), []byte(token)) != 1 {
		return errors.New("wire: wrong token")
	}
	if h.Version != Version {
		return fmt.Errorf("%w: %d, this is %d", ErrVersion, h.Version, Version)
	}
	return nil
}

// readLine reads byte by byte, since what follows the line belongs to others.
func readLine(r io.Reader, most int) (string, error) {
	var line []byte
	one := make([]byte, 1)
	for len(line) < most {
		if _, err := io.ReadFull(r, one); err != nil {
			return "", err
		}
		if one[0] == '\n' {
			return string(line), nil
		}
		line = append(line, one[0])
	}
	return "", errors.New("line too long")
}
