// Package launch says what programs in a sandbox are started with, and why one
// was not.
package launch

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"sandgate/internal/sandboxd/shim"
	"sandgate/sandboxclient/wire"
)

const (
	workspace = "/workspace"
	home      = "/home/sandbox"
)

// environment is what every program finds; caches lie outside the workspace.
var environment = map[string]string{
	"PATH":             "/usr/local/bin:/usr/bin:/bin",
	"HOME":             home,
	"USER":             "sandbox",
	"LOGNAME":          "sandbox",
	"SHELL":            "/bin/bash",
	"LANG":             "C.UTF-8",
	"TERM":             "dumb",
	"TMPDIR":           "/tmp",
	"XDG_CACHE_HOME":   home + "/.cache",
	"npm_config_cache": home + "/.cache/npm",
}

// Env gives the default environment with the extra variables, sorted.
func Env(extra map[string]string) ([]string, error) {
	merged := maps.Clone(environment)
	for name, value := range extra {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return nil, invalid("The environment variable %.40q cannot be set.", name)
		}
		merged[name] = value
	}
	env := make([]string, 0, len(merged))
	for _, name := range slices.Sorted(maps.Keys(merged)) {
		env = append(env, name+"="+merged[name])
	}
	return env, nil
}

// Dir gives the directory to start in, /workspace by default. It must be there.
func Dir(dir string) (string, error) {
	if dir == "" {
		return workspace, nil
	}
	if !filepath.IsAbs(dir) || strings.Contains(dir, "\x00") {
		return "", invalid("The directory must be an absolute path.")
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", invalid("The directory %.200s does not exist.", dir)
	case err != nil:
		return "", invalid("The directory %.200s cannot be entered.", dir)
	case !info.IsDir():
		return "", invalid("%.200s is not a directory.", dir)
	}
	return dir, nil
}

// Argv checks that a program and its arguments can be passed on.
func Argv(argv []string) error {
	if len(argv) == 0 || argv[0] == "" {
		return invalid("There is no program to run: argv is empty.")
	}
	for _, arg := range argv {
		if strings.Contains(arg, "\x00") {
			return invalid("An argument holds a NUL byte.")
		}
	}
	return nil
}

// Error turns what kept a program from starting into words for the visitor.
func Error(err error) error {
	e, ok := errors.AsType[*shim.StartError](err)
	if !ok {
		return err
	}
	name := fmt.Sprintf("%.200s", e.Argv0)
	switch e.Errno {
	case syscall.ENOENT:
		return invalid("%s: not found.", name)
	case syscall.EACCES, syscall.EPERM, syscall.EISDIR:
		return invalid("%s: permission denied.", name)
	case syscall.ENOEXEC:
		return invalid("%s: not a program that can be run.", name)
	case syscall.ENOTDIR, syscall.ELOOP, syscall.ENAMETOOLONG:
		return invalid("%s: %s.", name, e.Errno)
	case syscall.E2BIG:
		return invalid("The arguments and the environment are too long.")
	case syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE:
		return &wire.Error{Code: wire.CodeExhausted, Message: "The sandbox has no room for another process"}
	}
	return err
}

func invalid(format string, args ...any) error {
	return &wire.Error{Code: wire.CodeInvalid, Message: fmt.Sprintf(format, args...)}
}
