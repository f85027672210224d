package wire

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
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

// RoleServe is the role of a connection on which sandboxd answers requests.
const RoleServe = "serve"

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
}

// WriteHello writes the opening line.
func WriteHello(w io.Writer, h Hello) error {
	_, err := fmt.Fprintf(w, "%s %d %s %s\n", helloMagic, h.Version, h.Token, h.Role)
	return err
}

// ReadHello reads the opening line and nothing behind it. The peer is not
// trusted: the line is bounded and its form is checked, not its token.
func ReadHello(r io.Reader) (Hello, error) {
	line, err := readLine(r)
	if err != nil {
		return Hello{}, fmt.Errorf("wire: read hello: %w", err)
	}
	fields := strings.Split(line, " ")
	if len(fields) != 4 || fields[0] != helloMagic || fields[2] == "" || fields[3] == "" {
		return Hello{}, errors.New("wire: malformed hello")
	}
	version, err := strconv.Atoi(fields[1])
	if err != nil {
		return Hello{}, errors.New("wire: malformed hello version")
	}
	return Hello{Version: version, Token: fields[2], Role: fields[3]}, nil
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
func readLine(r io.Reader) (string, error) {
	var line []byte
	one := make([]byte, 1)
	for len(line) < maxHello {
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
