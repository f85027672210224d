package sandboxclient

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"sandgate/sandboxclient/wire"
)

// The exit codes of checkout.sh that are not git's.
const (
	exitNoGit      = 101
	exitNotEmpty   = 102
	exitNoRef      = 103
	exitNoCommits  = 104
	exitNoLFS      = 105
	exitSubmodules = 106
)

// Failure says why a checkout failed, by how it ended and what it printed on
// stderr, of which the end will do; it is nil when it did not. Whatever servers
// and repositories had a part in those words, what is told of them is one plain
// line without the checkout's credentials.
func (c Checkout) Failure(exit Exit, stderr []byte) error {
	if exit.Status == wire.StatusExited && exit.ExitCode == 0 {
		return nil
	}
	if e := c.ended(exit); e != nil {
		return e
	}
	lines := gitLines(stderr)
	if e := c.refused(exit.ExitCode, lines); e != nil {
		return e
	}
	return c.explain(lines)
}

// ended tells of an end that was not git's own.
func (c Checkout) ended(exit Exit) error {
	switch exit.Status {
	case wire.StatusExited:
		return nil
	case wire.StatusTimedOut:
		took := (time.Duration(exit.DurationMS) * time.Millisecond).Round(time.Second)
		return Errorf(CodeTimeout, "Cloning %s was ended after %s", c.Public(), took)
	case wire.StatusCanceled:
		return Errorf(CodeCanceled, "Cloning %s was canceled", c.Public())
	case wire.StatusOOMKilled:
		return Errorf(CodeTooLarge, "Cloning %s takes more memory than the sandbox has", c.Public())
	case wire.StatusOutputLimited:
		return Errorf(CodeTooLarge, "Cloning %s printed more than is borne", c.Public())
	}
	return Errorf(CodeUnavailable, "git was ended by %s while it cloned %s", plain(orDefault(exit.Signal, "somebody")), c.Public())
}

// refused tells of what the script found out by itself.
func (c Checkout) refused(code int, lines []string) error {
	switch code {
	case exitNoGit:
		return Errorf(CodeUnsupported, "There is no git in the sandbox")
	case exitNoLFS:
		return Errorf(CodeUnsupported, "There is no git-lfs in the sandbox, which fetches what the repository keeps with Git LFS")
	case exitNotEmpty:
		return Errorf(CodeConflict, "The directory to clone to is there already and is not empty")
	case exitNoRef:
		return c.noRef()
	case exitNoCommits:
		return Errorf(CodeNotFound, "%s has no default branch with a commit", c.Public())
	case exitSubmodules:
		return Errorf(c.explain(lines).Code, "A submodule could not be fetched: %s", c.clean(telling(lines)))
	}
	return nil
}

func (c Checkout) noRef() *Error {
	return Errorf(CodeNotFound, "%s has no branch, tag or commit %s", c.Public(), plain(strings.TrimSpace(c.Ref)))
}

// A gitComplaint is what a failure of git is recognised by.
type gitComplaint struct {
	words *regexp.Regexp
	tell  func(c Checkout, line string) *Error
}

// complaints are looked for in this order. That a ref is not there comes last:
// then there was a second try, which may have failed for another reason.
var complaints = []gitComplaint{
	{regexp.MustCompile(`No space left on device|[Dd]isk quota exceeded`), sayingNothing(CodeNoSpace, "%s does not fit on the sandbox's disk")},
	// What is ended for want of memory may be git's helper alone.
	{regexp.MustCompile(`[Oo]ut of memory|malloc failed|Cannot allocate memory|died of signal 9|invalid index-pack output`), sayingNothing(CodeTooLarge, "Cloning %s takes more memory than the sandbox has")},
	{regexp.MustCompile(`transport '.*' not allowed|[Pp]rotocol "?\S+ (not supported|disabled)`), quoting(CodeForbidden, "Something at %s leads to an address of a kind that is not allowed")},
	{regexp.MustCompile(`could not read (Username|Password)|Authentication failed|returned error: 401|terminal prompts disabled`), Checkout.unknown},
	{regexp.MustCompile(`returned error: 403`), sayingNothing(CodeForbidden, "Access to %s, or to where it leads, is refused")},
	{regexp.MustCompile(`repository '.*' not found|returned error: (404|410)|Repository not found`), sayingNothing(CodeNotFound, "There is no repository at %s")},
	{regexp.MustCompile(`CONNECT tunnel failed, response 50[24]`), sayingNothing(CodeBadGateway, "The host of %s cannot be reached: the gateway knows no address for its name, or nothing answers there")},
	{regexp.MustCompile(`Operation too slow`), sayingNothing(CodeTimeout, "The server of %s sends too slowly")},
	{regexp.MustCompile(`Remote branch .* not found in upstream|[Cc]ouldn't find remote ref`), func(c Checkout, _ string) *Error { return c.noRef() }},
}

// explain finds the cause in git's words. What is not known is the other
// side's fault as far as we can tell, and said as git says it.
func (c Checkout) explain(lines []string) *Error {
	for _, complaint := range complaints {
		if i := slices.IndexFunc(lines, complaint.words.MatchString); i >= 0 {
			return complaint.tell(c, c.clean(lines[i]))
		}
	}
	why := preamble.ReplaceAllString(c.clean(telling(lines)), "")
	return Errorf(CodeBadGateway, "Cloning %s failed: %s", c.Public(), why)
}

func sayingNothing(code Code, format string) func(Checkout, string) *Error {
	return func(c Checkout, _ string) *Error { return Errorf(code, format, c.Public()) }
}

func quoting(code Code, format string) func(Checkout, string) *Error {
	return func(c Checkout, line string) *Error {
		return Errorf(code, "%s: %s", fmt.Sprintf(format, c.Public()), line)
	}
}

// unknown is what servers say of what is private, and many of what is not there.
func (c Checkout) unknown(string) *Error {
	if r, err := parseRemote(c.Repository); err == nil && r.hasCredentials() {
		return Errorf(CodeForbidden, "The server does not accept the credentials for %s", c.Public())
	}
	return Errorf(CodeForbidden, "%s does not exist, or needs credentials", c.Public())
}

// gitLines gives the lines in which git itself complains: not what the server
// says, not its progress, and none of what people are told besides.
func gitLines(stderr []byte) []string {
	stderr = stderr[max(0, len(stderr)-maxReport):]
	stderr = bytes.ReplaceAll(stderr, []byte("\r"), []byte("\n"))
	var lines []string
	for line := range strings.Lines(string(stderr)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "fatal: ") || strings.HasPrefix(line, "error: ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// consequence is what git says after the cause.
var consequence = regexp.MustCompile(`early EOF|index-pack|hung up|expected flush|unable to checkout|unable to write|could not fetch|clone of '|recurse into|Failed to clone`)

// telling is the last line that is a cause.
func telling(lines []string) string {
	for _, line := range slices.Backward(lines) {
		if !consequence.MatchString(line) {
			return line
		}
	}
	if len(lines) == 0 {
		return "git said nothing"
	}
	return lines[len(lines)-1]
}

const maxLine = 300

// preamble is what our sentence says already.
var preamble = regexp.MustCompile(`^unable to access '[^']*': `)

// clean makes a line of git's fit to be shown.
func (c Checkout) clean(line string) string {
	line = strings.TrimPrefix(strings.TrimPrefix(line, "fatal: "), "error: ")
	line = plain(c.Mask().hide.Replace(line))
	if runes := []rune(line); len(runes) > maxLine {
		line = string(runes[:maxLine]) + "…"
	}
	return line
}
