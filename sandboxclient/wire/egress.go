package wire

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Egress gives a sandbox its way out: sandboxd listens as an HTTP proxy on
// loopback, and programs that it starts from then on find that in their
// environment, with what this tells. It may be put again.
type Egress struct {
	Bundle   string `json:"bundle,omitempty"`   // PEM of the authorities to trust; empty: those of the system inside
	Extra    string `json:"extra,omitempty"`    // those among them that are not trusted everywhere
	Registry string `json:"registry,omitempty"` // URL of the npm registry; empty: the one that npm knows
	// Mirror has npm ask the gateway instead: on a port of its own, whose
	// connections go to MirrorTarget.
	Mirror bool `json:"mirror,omitempty"`
}

// MirrorTarget is the target of a connection to the gateway's mirror of the npm
// registry. No name ends like this.
const MirrorTarget = "npm.sandgate:80"

// WarningEgressRefused is the code of the warning that a connection to the
// outside was refused: one for a host and execution.
const WarningEgressRefused = "egress_refused"

const (
	connected      = "connected"
	maxEgressReply = 1024
)

// egressCodes are those that can answer for a connection.
var egressCodes = []string{CodeInvalid, CodeForbidden, CodeExhausted, CodeUnavailable}

// WriteEgressReply answers the hello of an egress connection: with nil that it
// is connected, else why it is not. A sentence that is too long is cut.
func WriteEgressReply(w io.Writer, refusal *Error) error {
	line := connected
	if refusal != nil {
		line = refusal.Code + " " + strings.Map(printable, refusal.Message)
		line = strings.ToValidUTF8(line[:min(len(line), maxEgressReply-1)], "")
	}
	_, err := io.WriteString(w, line+"\n")
	return err
}

// ReadEgressReply reads the answer and nothing behind it; a refusal is an
// [*Error]. What it says is bounded and in one line.
func ReadEgressReply(r io.Reader) error {
	line, err := readLine(r, maxEgressReply)
	if err != nil {
		return fmt.Errorf("wire: read egress reply: %w", err)
	}
	if line == connected {
		return nil
	}
	code, message, _ := strings.Cut(line, " ")
	if !slices.Contains(egressCodes, code) || message == "" {
		return errors.New("wire: malformed egress reply")
	}
	return &Error{Code: code, Message: strings.Map(printable, message)}
}

// printable leaves what can be shown in one line.
func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return ' '
	}
	return r
}
