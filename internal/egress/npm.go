package egress

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// npmTime bounds how long npm may take to say what it is configured for.
const npmTime = 10 * time.Second

// NPM is what a host's npm is configured for. Its tokens and passwords are not
// asked for.
type NPM struct {
	Registry *url.URL
	CAFile   string // "" when it trusts what the host does
}

// ErrNoNPM means that this host has no npm.
var ErrNoNPM = errors.New("there is no npm on this host")

// AskNPM asks the host's npm.
func AskNPM(ctx context.Context) (NPM, error) {
	program, err := exec.LookPath("npm")
	if err != nil {
		return NPM{}, ErrNoNPM
	}
	ctx, cancel := context.WithTimeout(ctx, npmTime)
	defer cancel()
	ask := exec.CommandContext(ctx, program, "config", "get", "registry", "cafile")
	ask.Dir = "/" // no project's settings
	ask.WaitDelay = time.Second
	ask.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it is Node, and may start others
	ask.Cancel = func() error { return syscall.Kill(-ask.Process.Pid, syscall.SIGKILL) }
	output, err := ask.Output()
	if err != nil {
		return NPM{}, fmt.Errorf("npm does not say what it is configured for: %w", err)
	}
	return parseNPM(string(output))
}

func parseNPM(output string) (NPM, error) {
	settings := map[string]string{}
	for line := range strings.Lines(output) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		settings[name] = value
	}
	registry, err := ParseRegistry(settings["registry"])
	if err != nil {
		return NPM{}, fmt.Errorf("npm's registry: %w", err)
	}
	registry.User = nil
	npm := NPM{Registry: registry, CAFile: settings["cafile"]}
	if npm.CAFile == "null" || npm.CAFile == "undefined" {
		npm.CAFile = ""
	}
	return npm, nil
}

// ParseRegistry reads the URL of a registry.
func ParseRegistry(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("it is no URL") // whose text may hold a password
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("it is no plain http or https URL")
	}
	if _, err := RegistryTarget(u); err != nil {
		return nil, err
	}
	return u, nil
}

// RegistryTarget gives the host and port of a registry.
func RegistryTarget(u *url.URL) (Target, error) {
	if u.Port() != "" {
		return ParseTarget(u.Host)
	}
	return newTarget(u.Hostname(), map[string]uint16{"http": 80, "https": 443}[u.Scheme])
}
