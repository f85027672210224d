package sandboxclient

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	maxWarnings = 20
	maxReport   = 64 << 10 // bytes that are looked at
)

// ParseCheckout reads what a checkout's command printed on stdout:
//
//	begun                      what is in the directory from here on is git's
//	commit <object name>       the commit that is checked out
//	branch <name>              the branch that is, when it is one
//	warning <code> <sentence>  any number of them
//
// The lines come from inside the sandbox and are not trusted: what has another
// form counts for nothing, and what is given is bounded and fit to be shown. A
// result without a commit is none. Dir is not in it.
func ParseCheckout(stdout []byte) CheckedOut {
	var out CheckedOut
	for line := range strings.Lines(string(stdout[:min(len(stdout), maxReport)])) {
		kind, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case kind == "commit" && isObjectName(rest):
			out.Commit = strings.ToLower(rest)
		case kind == "branch" && validRef(rest) && utf8.ValidString(rest):
			out.Ref = rest
		case kind == "warning" && len(out.Warnings) < maxWarnings:
			out.warn(rest)
		}
	}
	return out
}

var warningCode = regexp.MustCompile(`^[a-z_]{1,40}$`)

func (out *CheckedOut) warn(line string) {
	code, message, _ := strings.Cut(line, " ")
	if warningCode.MatchString(code) && message != "" {
		out.Warnings = append(out.Warnings, CheckoutWarning{Code: code, Message: plain(message)})
	}
}
