package egress

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// npmTime bounds how long npm may take to say what it is configured for.
const npmTime = 10 * time.Second

// NPM is what a host's npm is configured for. Its tokens and passwords are not
// asked for.
type NPM struct {
	Registry *url.URL
	CAFile   string // "" when it trusts what the host does
	Default  bool   // the registry is the one that npm knows without being told
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
	var configured, untold string
	var both errgroup.Group
	both.Go(func() (err error) {
		configured, err = ask(ctx, program, os.Environ(), "registry", "cafile")
		return err
	})
	both.Go(func() (err error) {
		untold, err = ask(ctx, program, withoutConfig(os.Environ()), "registry")
		return err
	})
	if err := both.Wait(); err != nil {
		return NPM{}, fmt.Errorf("npm does not say what it is configured for: %w", err)
	}
	npm, err := parseNPM(configured)
	if err == nil {
		npm.Default = strings.TrimSpace(untold) == npm.Registry.String()
	}
	return npm, err
}

func ask(ctx context.Context, program string, env []string, names ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, append([]string{"config", "get"}, names...)...)
	cmd.Dir = "/" // no project's settings
	cmd.Env = env
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it is Node, and may start others
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	output, err := cmd.Output()
	return string(output), err
}

// withoutConfig is an environment in which npm finds no settings.
func withoutConfig(environ []string) []string {
	env := slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		return strings.HasPrefix(strings.ToLower(entry), "npm_config_")
	})
	return append(env, "npm_config_userconfig=/nonexistent/user", "npm_config_globalconfig=/nonexistent/global")
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
