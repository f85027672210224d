package kernel

import (
	"encoding/base64"
	"fmt"
	"strings"

	"sandgate/sandboxclient/wire"
)

// bashRequest is a line of the script that bash reads: it evaluates the cell,
// with our descriptors out of its reach, and tells the exit status. A second
// interrupt of the cell before, at its very end, may have left its trap: it goes
// first, or it would break every loop of this one.
func bashRequest(id int, cell Cell) ([]byte, error) {
	if strings.ContainsRune(cell.Code, 0) {
		return nil, &wire.Error{Code: wire.CodeInvalid, Message: "bash cannot hold a NUL byte"}
	}
	stdin := base64.StdEncoding.EncodeToString(cell.Stdin)
	return fmt.Appendf(nil, "trap - DEBUG; __sandgate_begin %d '%s'; eval %s <\"$__sandgate_stdin\" 4>&-; __sandgate_status=$?; trap - DEBUG; __sandgate_end $__sandgate_status\n",
		id, stdin, bashQuote(cell.Code)), nil
}

var bashEscapes = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`)

// bashQuote gives text as one word on one line.
func bashQuote(text string) string { return "$'" + bashEscapes.Replace(text) + "'" }
