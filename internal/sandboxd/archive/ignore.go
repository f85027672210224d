package archive

import (
	"bufio"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/sys/unix"

	"sandgate/sandboxclient/wire"
)

// Bounds on patterns, ours and those of .gitignore files.
const (
	maxPatterns   = 10_000
	maxIgnoreFile = 1 << 20
)

// patterns are what is left out: in git's notation, of which the last that fits
// decides.
type patterns []pattern

// A pattern is one line of a .gitignore.
type pattern struct {
	below string // the directory whose file it stands in, "" for the top
	glob  string
	keeps bool // it takes back what earlier ones leave out
	dirs  bool // it means directories alone
}

// newPatterns reads the visitor's own excludes.
func newPatterns(lines []string) (patterns, error) {
	var all patterns
	for _, line := range lines {
		p, ok := parsePattern("", line)
		if !ok {
			return nil, fail(wire.CodeInvalid, "excludes holds %.60q, which is no pattern such as node_modules/ or *.log", line)
		}
		all = append(all, p)
	}
	if len(all) > maxPatterns {
		return nil, fail(wire.CodeInvalid, "There are more than %d excludes", maxPatterns)
	}
	return all, nil
}

// parsePattern reads a line; what is empty, a comment or no glob is none.
func parsePattern(below, line string) (pattern, bool) {
	p := pattern{below: below}
	line = strings.TrimSuffix(line, "\r")
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = strings.TrimSuffix(line, " ")
	}
	if line == "" || strings.HasPrefix(line, "#") {
		return p, false
	}
	line, p.keeps = strings.CutPrefix(line, "!")
	line, p.dirs = strings.CutSuffix(line, "/")
	anchored := strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return p, false
	}
	p.glob = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(line) // which mean nothing to git
	if !anchored {
		p.glob = "**/" + p.glob
	}
	return p, doublestar.ValidatePattern(p.glob)
}

// excludes says whether an entry is left out.
func (all patterns) excludes(name string, dir bool) bool {
	for _, p := range slices.Backward(all) {
		if p.matches(name, dir) {
			return !p.keeps
		}
	}
	return false
}

func (p pattern) matches(name string, dir bool) bool {
	if p.dirs && !dir {
		return false
	}
	if p.below != "" {
		var inside bool
		if name, inside = strings.CutPrefix(name, p.below+"/"); !inside {
			return false
		}
	}
	if above, all := strings.CutSuffix(p.glob, "/**"); all && above == name {
		return false // it means what is in a directory, not the directory
	}
	ok, err := doublestar.Match(p.glob, name)
	return err == nil && ok
}

// with adds the patterns of a directory's own .gitignore.
func (all patterns) with(dir directory, name string) patterns {
	fd, err := dir.open(".gitignore", unix.O_RDONLY|unix.O_NONBLOCK, 0, itself)
	if err != nil {
		return all // there is none, or a link, which git does not follow either
	}
	f := os.NewFile(uintptr(fd), "")
	defer f.Close()
	if stat, err := f.Stat(); err != nil || !stat.Mode().IsRegular() {
		return all
	}
	if name == "." {
		name = ""
	}
	all = slices.Clip(all) // what is added is for this directory alone
	lines := bufio.NewScanner(io.LimitReader(f, maxIgnoreFile))
	for lines.Scan() && len(all) < maxPatterns {
		if p, ok := parsePattern(name, lines.Text()); ok {
			all = append(all, p)
		}
	}
	return all
}
