package shim

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// lookPath finds the program as execvp does, along the command's own PATH and
// from its own directory. Whether the sandbox user may run it, the kernel says.
func lookPath(cmd Command) (string, error) {
	if len(cmd.Argv) == 0 || cmd.Argv[0] == "" {
		return "", &StartError{Errno: syscall.ENOENT}
	}
	name := cmd.Argv[0]
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, dir := range filepath.SplitList(variable(cmd.Env, "PATH")) {
		path := filepath.Join(dir, name)
		if !filepath.IsAbs(path) {
			path = filepath.Join(cmd.Dir, path)
		}
		if executable(path) {
			return path, nil
		}
	}
	return "", &StartError{Argv0: name, Errno: syscall.ENOENT}
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// variable gives the last value, as the C library does for duplicates.
func variable(env []string, name string) string {
	value := ""
	for _, entry := range env {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v
		}
	}
	return value
}
