package local_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"sandgate/sandboxclient"
)

// unpackImage makes the smallest image: a shell with its libraries, and a file
// that says whose it is.
func unpackImage(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	ldd, err := exec.Command("ldd", "/bin/sh").Output()
	if err != nil {
		t.Fatal(err)
	}
	libraries := regexp.MustCompile(`/\S+\.so\S*`).FindAllString(string(ldd), -1)
	for _, file := range append(libraries, "/bin/sh") {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(root, file), data)
	}
	write(t, filepath.Join(root, "usr/marker"), []byte("the image\n"))
	write(t, filepath.Join(root, "etc/passwd"), []byte("image:x:1:1::/:/bin/sh\n"))
	return root
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestRootfs_image starts sandboxes on an image instead of the host's /usr. The
// shell inside is started by the runtime, since the driver only knows sandboxd.
func TestRootfs_image(t *testing.T) {
	image := unpackImage(t)
	for _, name := range []string{"runsc", "runc"} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, name)
			b.cfg.Rootfs = image
			d := b.open()
			if err := b.create(d); err != nil {
				t.Fatal(err)
			}
			if err := reach(d, b.id); err != nil {
				t.Error(err)
			}
			script := `read -r who < /etc/passwd; read -r whose < /usr/marker; echo "$who $whose"; : > /usr/x`
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			cmd := exec.CommandContext(ctx, b.cfg.Runtime, "--root", filepath.Join(b.cfg.StateDir, "run", name), "exec", string(b.id), "/bin/sh", "-c", script)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if want := "root:x:0:0:root:/root:/bin/sh the image\n"; string(out) != want {
				t.Errorf("inside: %q, %v, %s, want %q", out, err, stderr.String(), want)
			}
			if err == nil {
				t.Error("the image can be written")
			}
		})
	}
	if _, err := os.Stat(filepath.Join(image, "usr/x")); err == nil {
		t.Error("the image was written")
	}
}

func reach(d sandboxclient.Driver, id sandboxclient.ID) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, err := d.Dial(ctx, id)
	if err != nil {
		return err
	}
	return conn.Close()
}
