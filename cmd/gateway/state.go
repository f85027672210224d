package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const (
	keyName   = "key"
	keyLength = 32
)

// A stateDir is the directory of all that outlives the gateway, held by this
// process alone until it is closed.
type stateDir struct {
	dir *os.File // carries the lock
	key []byte   // what sandbox ids are derived with
}

// openState makes the directory if need be, locks it and reads its key.
func openState(path string) (*stateDir, error) {
	if err := makePrivate(path); err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	dir, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	if err := lock(dir); err != nil {
		_ = dir.Close()
		return nil, err
	}
	s := &stateDir{dir: dir}
	if s.key, err = readKey(path); err != nil {
		return nil, errors.Join(fmt.Errorf("state directory: %w", err), s.Close())
	}
	return s, nil
}

// Close lets another gateway have the directory. To close the file alone would not
// do while a program is being started: until that is another program, it holds the
// file as well.
func (s *stateDir) Close() error {
	return errors.Join(unix.Flock(int(s.dir.Fd()), unix.LOCK_UN), s.dir.Close())
}

// makePrivate makes a directory that only its owner can enter.
func makePrivate(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := checkClosed(path, info.Mode()); err != nil {
		return err
	}
	return os.Chmod(path, 0o700)
}

// checkClosed refuses a directory that holds something already and is open to
// others: perhaps it was not meant, and closing it would lock them out.
func checkClosed(path string, mode fs.FileMode) error {
	if mode.Perm()&0o077 == 0 {
		return nil
	}
	entries, err := os.ReadDir(path)
	if err != nil || len(entries) == 0 {
		return err
	}
	return fmt.Errorf("%s is open to others (mode %04o): close it with chmod 700, or choose another --state-dir",
		path, mode.Perm())
}

func lock(dir *os.File) error {
	err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return fmt.Errorf("another gateway works on %s: stop it, or give this one another --state-dir", dir.Name())
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", dir.Name(), err)
	}
	return nil
}

// readKey gives the key of the directory, which is made with it.
func readKey(dir string) ([]byte, error) {
	path := filepath.Join(dir, keyName)
	key, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if left, _ := filepath.Glob(filepath.Join(dir, "sandboxes", "*")); len(left) > 0 {
			return nil, fmt.Errorf("%s is missing, and without it nobody's workspace can be found: put it back, or remove %s to begin anew",
				path, filepath.Join(dir, "sandboxes"))
		}
		return makeKey(path)
	}
	if err != nil {
		return nil, err
	}
	if len(key) != keyLength {
		return nil, fmt.Errorf("%s is damaged: it has %d bytes, not %d; without it no workspace can be found, so restore a copy of it",
			path, len(key), keyLength)
	}
	return key, nil
}

// makeKey writes a new key, whole or not at all.
func makeKey(path string) ([]byte, error) {
	key := make([]byte, keyLength)
	rand.Read(key) // never fails
	f, err := os.CreateTemp(filepath.Dir(path), ".key-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone once it was renamed
	_, err = f.Write(key)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, err
	}
	return key, os.Rename(f.Name(), path)
}
