package search

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"sandgate/sandboxclient"
)

// unfinished are the names of uploads that go on.
const unfinished = ".sandgate-*"

// grep is the command that searches below q.path, in which it is to be started;
// the paths that it prints are relative to it. A single file is named, by its
// absolute path.
//
// Each name ends in a NUL, so that none confuses us. Links that are met and
// devices are not followed; binary files are named on standard error. Of
// patterns that match the same name grep obeys the last one.
func (q query) grep(file bool) []string {
	argv := []string{"grep", "-rHnZs", "-D", "skip", "-m", strconv.Itoa(q.most + 1)}
	for _, option := range []struct {
		flag string
		on   bool
	}{{"-F", q.fixed}, {"-i", q.ignoreCase}, {"-w", q.word}} {
		if option.on {
			argv = append(argv, option.flag)
		}
	}
	if q.context > 0 {
		argv = append(argv, "--no-group-separator", "-C", strconv.Itoa(q.context))
	}
	for _, glob := range q.include {
		argv = append(argv, "--include="+glob)
	}
	for _, glob := range append(slices.Clone(q.exclude), unfinished) {
		argv = append(argv, "--exclude="+glob, "--exclude-dir="+glob)
	}
	argv = append(argv, "-e", q.term)
	if file {
		argv = append(argv, q.path)
	}
	return argv
}

// locale says in what grep thinks. A term that only stands for itself is the
// same bytes in UTF-8 text and beside text in other encodings, so bytes find
// both. In an expression a dot is a character, whatever the visitor writes, and
// so are letters whose case does not matter; then lines in other encodings are
// not found.
func (q query) locale() string {
	characters := q.word ||
		!q.fixed && strings.ContainsAny(q.term, `.[*\`) ||
		q.ignoreCase && strings.ContainsFunc(q.term, func(r rune) bool { return r > 127 }) ||
		slices.ContainsFunc(slices.Concat(q.include, q.exclude), func(glob string) bool { return strings.ContainsAny(glob, "?[") })
	if characters {
		return "C.UTF-8"
	}
	return "C"
}

// grep's exit statuses.
const (
	exitNotFound = 1
	exitTrouble  = 2
)

// How a search ended, if it gave anything.
type ending struct {
	truncated bool // there is more
	partial   bool // not everything could be read
	broken    bool // off, which is fine if something was found
}

// end tells a search that found little from one that went wrong.
func end(result *sandboxclient.ExecResult) (ending, error) {
	exit := result.Exit
	how := ending{truncated: exit.Truncated}
	switch {
	case exit.Status == sandboxclient.StatusOutputLimited:
		how.truncated = true
		return how, nil
	case exit.Status == sandboxclient.StatusTimedOut, outOfMemory(exit, result.Stderr):
		return ending{truncated: true, partial: true, broken: true}, nil
	case exit.Status != sandboxclient.StatusExited || exit.ExitCode > exitTrouble:
		return how, failed(exit)
	case exit.ExitCode <= exitNotFound:
		return how, nil
	}
	if words := complaint(result.Stderr); words != "" {
		return how, invalid("%s", words)
	}
	how.partial = true
	return how, nil
}

// failed words a search that gave nothing. What grep said stays out of the log:
// it names files.
func failed(exit sandboxclient.Exit) error {
	cause := fmt.Errorf("grep ended: %s, exit code %d", string(exit.Status), exit.ExitCode)
	switch {
	case exit.Status == sandboxclient.StatusTimedOut:
		return &sandboxclient.Error{Code: sandboxclient.CodeTimeout, Message: "The search took too long", Err: cause}
	case exit.Status == sandboxclient.StatusExited && exit.ExitCode == 127:
		return &sandboxclient.Error{Code: sandboxclient.CodeUnsupported, Message: "There is no grep in the sandbox", Err: cause}
	}
	return &sandboxclient.Error{
		Code: sandboxclient.CodeUnavailable, Message: "The search was ended, perhaps out of memory",
		RetryAfter: time.Second, Err: cause,
	}
}

// What grep says of a binary file in which the term is, after its name.
const binaryMatches = ": binary file matches"

// binaries counts the binary files that grep tells of. Whoever names files can
// make it count too much, and no more.
func binaries(stderr []byte) int { return strings.Count(string(stderr), binaryMatches+"\n") }

// outOfMemory says whether a line was too long for the sandbox's memory.
func outOfMemory(exit sandboxclient.Exit, stderr []byte) bool {
	return exit.ExitCode == exitTrouble && strings.HasSuffix(string(stderr), "grep: memory exhausted\n")
}

// complaint gives what grep says of the expression, which it does before it
// looks at any file: where it tells of one, or warns, there is no complaint.
func complaint(stderr []byte) string {
	if binaries(stderr) > 0 {
		return ""
	}
	for line := range strings.Lines(string(stderr)) {
		words, ok := strings.CutPrefix(strings.TrimSpace(line), "grep: ")
		if ok && !strings.Contains(words, "warning: ") {
			return strings.ToValidUTF8(words, "\uFFFD")
		}
	}
	return ""
}
