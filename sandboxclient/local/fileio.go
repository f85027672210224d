package local

import (
	"errors"
	"os"
)

// makeDir makes a directory, or keeps the one that is there, with exactly the
// mode that is asked for: the gateway's umask is none of the sandbox's business.
func makeDir(path string, mode os.FileMode) error {
	if err := os.Mkdir(path, mode); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return os.Chmod(path, mode)
}

// replaceFile puts a world-readable file in place at once: who has the old one
// open keeps it.
func replaceFile(path string, data []byte) error {
	next := path + ".new"
	if err := os.WriteFile(next, data, 0o644); err != nil {
		return err
	}
	if err := os.Chmod(next, 0o644); err != nil {
		return err
	}
	return os.Rename(next, path)
}

// removeFile removes a file; one that is not there is no error.
func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
