package kernel

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// programsDir is where interpreters find their programs. The sandbox user can
// read but not change it.
const programsDir = "/run/kernels"

// install writes the program of a language below root, unless it is there, and
// gives its directory. The name holds a sum of the contents, and the directory
// appears as a whole, so what is there is right.
func install(root string, lang language) (string, error) {
	program := lang.program()
	sum, err := sumOf(program)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, lang.name+"-"+sum)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", err
	}
	return dir, writeAtOnce(root, dir, program)
}

func writeAtOnce(root, dir string, program fs.FS) error {
	fresh, err := os.MkdirTemp(root, ".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh)
	if err := copyAll(fresh, program); err != nil {
		return fmt.Errorf("write kernel program: %w", err)
	}
	err = os.Rename(fresh, dir)
	if _, statErr := os.Stat(dir); statErr == nil {
		return nil // by us, or by another at the same time
	}
	return err
}

// copyAll copies files into dir, readable by all whatever the umask.
func copyAll(dir string, files fs.FS) error {
	return fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		path := filepath.Join(dir, name)
		if entry.IsDir() {
			return errors.Join(os.MkdirAll(path, 0o755), os.Chmod(path, 0o755))
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		return errors.Join(os.WriteFile(path, content, 0o644), os.Chmod(path, 0o644))
	})
}

func sumOf(files fs.FS) (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		fmt.Fprintf(sum, "%q %q\n", name, content)
		return err
	})
	return hex.EncodeToString(sum.Sum(nil)[:8]), err
}
