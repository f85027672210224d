package selftest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sandgate/sandboxclient"
)

const (
	replaceRuntime = "the runtime does not do what it was told: run `gateway doctor`, and use the runsc or runc that `make build` makes"
	replaceDaemon  = "the daemon inside does not do what it should: build sandboxd and gateway from the same source"
)

// judge makes the checks of what was seen.
func judge(s sections, claimed sandboxclient.Capabilities) []Check {
	checks := []Check{
		s.user(), s.capabilities(), s.privileges(), s.network(), s.readOnly(), s.link(), s.processes(),
	}
	if claimed.Engine.OwnKernel {
		checks = append(checks, s.kernel())
	}
	for _, l := range claimed.Limits {
		if c, ok := s.limit(l, claimed.Engine.OwnKernel); ok && l.Enforced {
			checks = append(checks, c)
		}
	}
	for i := range checks {
		checks[i].Found = brief(checks[i].Found)
		if checks[i].Proven {
			checks[i].Remedy = ""
		}
	}
	return checks
}

func (s sections) user() Check {
	const nobodyElse = "20000 20000 20000 20000"
	uid, gid := s.field("status", "Uid:"), s.field("status", "Gid:")
	return Check{
		Name: "user", Proven: uid == nobodyElse && gid == nobodyElse,
		Found: "user code is uid " + uid + ", gid " + gid + " (real, effective, saved, file system)", Remedy: replaceDaemon,
	}
}

func (s sections) capabilities() Check {
	c := Check{Name: "capabilities", Proven: true, Found: "user code has no capability", Remedy: replaceDaemon}
	for _, set := range []string{"CapInh:", "CapPrm:", "CapEff:", "CapAmb:"} {
		if got := s.field("status", set); got == "" || strings.Trim(got, "0") != "" {
			c.Proven, c.Found = false, set+" "+brief(got)
		}
	}
	return c
}

func (s sections) privileges() Check {
	got := s.field("status", "NoNewPrivs:")
	return Check{Name: "no new privileges", Proven: got == "1", Found: "NoNewPrivs is " + brief(got), Remedy: replaceDaemon}
}

func (s sections) network() Check {
	names := s.interfaces()
	return Check{
		Name: "network", Proven: slices.Equal(names, []string{"lo"}),
		Found: "interfaces: " + strings.Join(names, ", "), Remedy: replaceRuntime,
	}
}

// readOnly looks at the mount as well: that nothing can be written is also true
// of what belongs to somebody else.
func (s sections) readOnly() Check {
	options := s.mountOptions("/usr")
	if options == nil {
		options = s.mountOptions("/")
	}
	mode := "writable"
	if slices.Contains(options, "ro") {
		mode = "read-only"
	}
	ro := mode == "read-only" && s["usr-writable"] == "no" && s["workspace-writable"] == "yes"
	return Check{
		Name: "read-only system", Proven: ro, Remedy: replaceRuntime,
		Found: fmt.Sprintf("/usr is mounted %s; written: %s; /workspace written: %s", mode, s["usr-writable"], s["workspace-writable"]),
	}
}

func (s sections) link() Check {
	closed := s["link-readable"] == "no" && s["token-readable"] == "no" && s["run-readable"] == "yes"
	return Check{
		Name: "gateway's link", Proven: closed, Remedy: replaceRuntime,
		Found: fmt.Sprintf("directory read: %s; token read: %s; /run read: %s", s["link-readable"], s["token-readable"], s["run-readable"]),
	}
}

func (s sections) processes() Check {
	return Check{
		Name: "processes", Proven: s["init"] == "sandboxd",
		Found: "process 1 is " + brief(s["init"]), Remedy: replaceRuntime,
	}
}

func (s sections) kernel() Check {
	return Check{
		Name: "kernel", Proven: strings.Contains(strings.ToLower(s["kernel"]), "gvisor"),
		Found: s["kernel"], Remedy: "--runtime names something that is not gVisor: use the runsc that `make build` makes",
	}
}

// limit looks whether user code meets a limit, if that can be told from inside.
func (s sections) limit(l sandboxclient.Limit, ownKernel bool) (Check, bool) {
	var got float64
	var known bool
	switch l.Name {
	case sandboxclient.LimitOpenFiles:
		got, known = number(s["open-files"])
	case sandboxclient.LimitProcesses:
		got, known = s.maxProcesses()
	case sandboxclient.LimitWorkspace:
		got, known = blocks(s["workspace-blocks"])
	case sandboxclient.LimitDisposable:
		got, known = blocks(s["tmp-blocks"])
	case sandboxclient.LimitMemory:
		if !ownKernel { // which tells of the host's
			return Check{}, false
		}
		got, known = number(s.field("memory", "MemTotal:"))
		got *= 1024
	default:
		return Check{}, false
	}
	return Check{
		Name: "limit of " + l.Name, Proven: known && got > 0 && got <= l.Value,
		Found:  fmt.Sprintf("%.0f of at most %.0f %s", got, l.Value, l.Unit),
		Remedy: "the limit is told to the runtime, but is not there inside: run `gateway doctor`",
	}, true
}

// maxProcesses finds the line of shells that name it differently.
func (s sections) maxProcesses() (float64, bool) {
	for line := range strings.Lines(s["ulimits"]) {
		if fields := strings.Fields(line); strings.Contains(line, "process") && len(fields) > 1 {
			return number(fields[len(fields)-1])
		}
	}
	return 0, false
}

// blocks is the product of a count and a size.
func blocks(text string) (float64, bool) {
	count, size, _ := strings.Cut(text, " ")
	n, ok := number(count)
	each, sized := number(size)
	return n * each, ok && sized
}

// number reads the first word of a text.
func number(text string) (float64, bool) {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	n, err := strconv.ParseFloat(word, 64)
	return n, err == nil
}
