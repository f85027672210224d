package local

import (
	"errors"
	"os"
	"path/filepath"
)

// mountPoints are the directories that a sandbox's root must have.
func mountPoints() []string {
	return []string{
		"dev", "etc", "home", "home/sandbox", "opt", "opt/sandgate", "proc", "root", "run", "sys",
		"tmp", "usr", "var", "workspace",
	}
}

// makeRootfs makes the root that all sandboxes share when the host's /usr is
// their system: empty mount points and the links into /usr.
func makeRootfs(dir string) error {
	if err := makeMountPoints(dir); err != nil {
		return err
	}
	for _, name := range []string{"bin", "lib", "lib32", "lib64", "libx32", "sbin"} {
		target, err := os.Readlink("/" + name)
		if err != nil {
			continue // not every host has them all
		}
		if err := symlink(target, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return symlink("/tmp", filepath.Join(dir, "var/tmp"))
}

// makeMountPoints makes what a read-only root cannot get later. The runtime
// would make them too, but for each sandbox anew and with its own modes.
func makeMountPoints(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range mountPoints() {
		if err := makeMountPoint(root, name); err != nil {
			return err
		}
	}
	f, err := root.OpenFile(sandboxdPath[1:], os.O_CREATE|os.O_RDONLY, 0o755)
	if err != nil {
		return err
	}
	return f.Close()
}

// makeMountPoint makes a directory that everybody may enter, whatever the umask.
// One that an image brings stays as it is.
func makeMountPoint(root *os.Root, name string) error {
	err := root.Mkdir(name, 0o755)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return root.Chmod(name, 0o755)
}

// symlink makes a link, or corrects the one that is there.
func symlink(target, path string) error {
	if now, err := os.Readlink(path); err == nil && now == target {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Symlink(target, path)
}
