package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"sandgate/sandboxclient"
)

// Config says where the driver keeps its things and what it runs.
type Config struct {
	StateDir string       // absolute, short, root's alone; made when it is not there
	Runtime  string       // path of a runsc or runc binary
	Sandboxd string       // path of the static sandboxd binary
	Rootfs   string       // path of an unpacked image, where missing mount points are made; the host's /usr when empty
	Logger   *slog.Logger // slog.Default when nil

	// CheckpointBytes bounds what hibernated sandboxes take of the disk, all
	// together: the oldest lose their memory. 0: no bound but the disk.
	CheckpointBytes int64
}

// maxSocketPath is what fits into a sockaddr_un with its final NUL.
const maxSocketPath = 107

// check finds what would make every Create fail, in words that say what to do.
func (c Config) check() error {
	if os.Geteuid() != 0 {
		return errors.New("local driver: sandboxes need root: start the gateway as root")
	}
	if !filepath.IsAbs(c.StateDir) {
		return fmt.Errorf("local driver: the state directory %q must be an absolute path", c.StateDir)
	}
	if n := longestSocket(c.StateDir); n > maxSocketPath {
		return fmt.Errorf("local driver: the state directory %s is %d bytes too long for the Unix sockets below it: choose a shorter path",
			c.StateDir, n-maxSocketPath)
	}
	if err := executable("runtime", c.Runtime); err != nil {
		return err
	}
	if err := executable("sandboxd", c.Sandboxd); err != nil {
		return err
	}
	return c.checkRootfs()
}

// longestSocket is the length of the longest socket path that will be needed.
func longestSocket(state string) int {
	id := sandboxclient.ID(strings.Repeat("a", 26))
	l := layout{filepath.Clean(state)}
	return max(len(socketPath(l.link(instance(id)))), len(filepath.Join(l.runtimeRoot(kindRunsc), "runsc-"+string(id)+".sock")))
}

func executable(what, path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("local driver: no %s binary: %w: build it with make, or name its path", what, err)
	case !info.Mode().IsRegular() || unix.Access(path, unix.X_OK) != nil:
		return fmt.Errorf("local driver: the %s binary %s is not an executable file: check its mode", what, path)
	}
	return nil
}

func (c Config) checkRootfs() error {
	if c.Rootfs == "" {
		return checkMergedUsr("/")
	}
	info, err := os.Stat(filepath.Join(c.Rootfs, "usr"))
	if err != nil || !info.IsDir() {
		return fmt.Errorf("local driver: the rootfs %s holds no usr directory: unpack an image there", c.Rootfs)
	}
	return nil
}

// checkMergedUsr makes sure that the host's /usr alone makes a working system.
func checkMergedUsr(root string) error {
	for _, name := range []string{"bin", "lib"} {
		info, err := os.Lstat(filepath.Join(root, name))
		if err != nil || info.Mode()&os.ModeSymlink == 0 {
			return fmt.Errorf("local driver: %s is not a link into /usr on this host: name an unpacked image as rootfs", filepath.Join(root, name))
		}
	}
	return nil
}

// checkKernel finds what the host's kernel lacks for a runtime.
func checkKernel(k kind) error {
	limit, err := os.ReadFile("/proc/sys/user/max_user_namespaces")
	if k == kindRunc && (err != nil || strings.TrimSpace(string(limit)) == "0") {
		return errors.New("local driver: runc needs user namespaces: set user.max_user_namespaces by sysctl, or use runsc")
	}
	return nil
}

// A kind is a runtime that the driver knows how to drive.
type kind string

const (
	kindRunsc kind = "runsc"
	kindRunc  kind = "runc"
)

// detectKind asks the binary who it is.
func detectKind(ctx context.Context, path string) (kind, error) {
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("local driver: %s --version: %w: is it a runsc or runc for this machine?", path, err)
	}
	first, _, _ := strings.Cut(string(out), " ")
	switch k := kind(first); k {
	case kindRunsc, kindRunc:
		return k, nil
	}
	return "", fmt.Errorf("local driver: %s is neither runsc nor runc: it calls itself %.40q", path, first)
}
