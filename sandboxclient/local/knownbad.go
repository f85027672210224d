package local

import (
	"fmt"
	"strconv"
	"strings"
)

// A flaw is a known way out of a runtime's sandboxes.
type flaw struct {
	name  string
	fixed []release // the first good one of each line; older lines are all bad
}

// A release is a version's major, minor and patch number.
type release [3]int

// runcFlaws let a sandbox write to the host's /proc.
var runcFlaws = []flaw{
	{"CVE-2025-31133, CVE-2025-52565 and CVE-2025-52881", []release{{1, 2, 8}, {1, 3, 3}, {1, 4, 0}}},
	{"CVE-2024-21626", []release{{1, 1, 12}, {1, 2, 0}}},
}

// hastyRunsc kills healthy processes: on a busy machine, where it looks for one of
// their threads at the wrong moment, and after they were stopped and continued.
// tools/runsc.sh builds the same mended, and says why.
const hastyRunsc = "v0.0.0-20260905035102-160fafc42237"

// knownBad warns of a runtime that should not be used any more.
func knownBad(k kind, version string) []string {
	if version == hastyRunsc {
		return []string{fmt.Sprintf("runsc %s is known to kill healthy processes on a busy machine, and after a laptop slept: use the one that make build gives", version)}
	}
	if k != kindRunc {
		return nil // gVisor announces no versions with ways out
	}
	have, ok := parseRelease(version)
	if !ok {
		return []string{fmt.Sprintf("runc calls its version %.40q: whether it has known flaws cannot be told", version)}
	}
	var warnings []string
	for _, f := range runcFlaws {
		if f.in(have) {
			warnings = append(warnings, fmt.Sprintf("runc %s is known to let sandboxes out (%s): use a newer one", version, f.name))
		}
	}
	return warnings
}

// in says whether a release has the flaw.
func (f flaw) in(have release) bool {
	for _, fixed := range f.fixed {
		if have[0] == fixed[0] && have[1] == fixed[1] {
			return have[2] < fixed[2]
		}
	}
	last := f.fixed[len(f.fixed)-1]
	return have[0] < last[0] || have[0] == last[0] && have[1] < last[1]
}

// parseRelease reads 1.2.3; a candidate such as 1.2.3-rc.1 counts as the one before.
func parseRelease(version string) (release, bool) {
	number, _, _ := strings.Cut(version, "+")
	number, candidate, isCandidate := strings.Cut(number, "-")
	parts := strings.Split(number, ".")
	var r release
	if len(parts) != len(r) {
		return r, false
	}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil {
			return r, false
		}
		r[i] = n
	}
	if isCandidate && strings.HasPrefix(candidate, "rc") {
		r[2]--
	}
	return r, true
}
