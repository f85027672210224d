package sandboxclient

import (
	"strconv"
	"strings"
	"time"
)

// What a checkout's credentials are called in git's environment.
const (
	gitUserVariable     = "SANDGATE_GIT_USER"
	gitPasswordVariable = "SANDGATE_GIT_PASSWORD"
)

// credentialHelper is run by git for the one host that its setting names. It
// answers the question alone; there is nothing to keep or to erase.
const credentialHelper = `!helper() {
	[ "$1" = get ] || return 0
	printf 'username=%s\npassword=%s\n' "$` + gitUserVariable + `" "$` + gitPasswordVariable + `"
}; helper`

// environment makes git heed no settings but these, ask nobody and trust
// nothing. It reaches every git that git starts, those for submodules included.
func (c Checkout) environment(r remote) map[string]string {
	env := map[string]string{
		"LC_ALL":                 "C", // Failure reads what git prints
		"GIT_CONFIG_NOSYSTEM":    "1",
		"GIT_CONFIG_GLOBAL":      "/dev/null",
		"GIT_ATTR_NOSYSTEM":      "1",
		"GIT_TERMINAL_PROMPT":    "0",
		"GIT_ASKPASS":            "",
		"SSH_ASKPASS":            "",
		"GIT_SSH_COMMAND":        c.sshCommand(),
		"GIT_ALLOW_PROTOCOL":     strings.Join(c.transports(r), ":"),
		"GIT_LFS_SKIP_SMUDGE":    "1",
		"GIT_LFS_FORCE_PROGRESS": "1",
		// A repository on loopback that egress allows is the host's loopback,
		// not the sandbox's: the way there is the proxy.
		"NO_PROXY": "",
		"no_proxy": "",
	}
	if r.hasCredentials() {
		env[gitUserVariable], env[gitPasswordVariable] = r.user, r.password
	}
	for i, s := range c.settings(r) {
		n := strconv.Itoa(i)
		env["GIT_CONFIG_KEY_"+n], env["GIT_CONFIG_VALUE_"+n] = s.key, s.value
		env["GIT_CONFIG_COUNT"] = strconv.Itoa(i + 1)
	}
	return env
}

// transports are those that git may use, whatever leads it there. What begins
// with TLS goes on with it.
func (c Checkout) transports(r remote) []string {
	allowed := []string{"https"}
	if r.scheme == "http" {
		allowed = append(allowed, "http")
	}
	for _, scheme := range otherSchemes {
		if c.allows(scheme) {
			allowed = append(allowed, scheme)
		}
	}
	return allowed
}

// sshCommand lets ssh ask nothing, or lets it not run at all.
func (c Checkout) sshCommand() string {
	if c.allows("ssh") {
		return "ssh -o BatchMode=yes"
	}
	return "false"
}

type gitSetting struct{ key, value string }

// settings are git's. Objects are not checked by fsck on their way in: it
// refuses old repositories for flaws that harm nobody, and what a tree may not
// hold is refused at the checkout anyway.
func (c Checkout) settings(r remote) []gitSetting {
	slowest := orDefault(c.LowSpeed, lowSpeedTime)
	settings := []gitSetting{
		{"core.hooksPath", "/dev/null"},
		{"core.fsmonitor", "false"},
		{"gc.auto", "0"},
		{"maintenance.auto", "false"},
		{"advice.detachedHead", "false"},
		{"init.defaultBranch", "main"},
		{"submodule.recurse", "false"},
		{"fetch.recurseSubmodules", "false"},
		{"http.followRedirects", "initial"},
		{"http.lowSpeedLimit", strconv.Itoa(lowSpeedLimit)},
		{"http.lowSpeedTime", strconv.Itoa(int(max(slowest, time.Second).Seconds()))},
		{"protocol.allow", "never"},
		{"credential.helper", ""}, // none of those named before
	}
	for _, transport := range c.transports(r) {
		settings = append(settings, gitSetting{"protocol." + transport + ".allow", "always"})
	}
	if r.hasCredentials() {
		settings = append(settings, gitSetting{"credential." + r.origin() + ".helper", credentialHelper})
	}
	return settings
}
