package local

import "os"

// writeFile writes a private file.
func writeFile(path string, data []byte) error { return os.WriteFile(path, data, 0o600) }

// replaceFile puts a world-readable file in place at once: who has the old one
// open keeps it.
func replaceFile(path string, data []byte) error {
	next := path + ".new"
	if err := os.WriteFile(next, data, 0o644); err != nil {
		return err
	}
	return os.Rename(next, path)
}
