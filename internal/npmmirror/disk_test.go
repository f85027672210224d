package npmmirror

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func (d *disk) put(t *testing.T, key, content string) {
	t.Helper()
	f, err := d.create()
	if err != nil {
		t.Fatal(err)
	}
	defer discard(f)
	_, _ = f.WriteString(content)
	if err := d.commit(f, key); err != nil {
		t.Fatal(err)
	}
}

func (d *disk) has(key string) string {
	f, _, ok := d.open(key)
	if !ok {
		return ""
	}
	defer f.Close()
	content, _ := io.ReadAll(f)
	return string(content)
}

func newDisk(t *testing.T, dir string, most int64) *disk {
	t.Helper()
	d, err := openDisk(dir, most)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDisk_dropsWhatWasNotUsedForLongest(t *testing.T) {
	dir := t.TempDir()
	d := newDisk(t, dir, 1000)
	for i := range 10 {
		d.put(t, fmt.Sprint(i), strings.Repeat("x", 100))
		d.files[nameOf(fmt.Sprint(i))].used = time.Now().Add(time.Duration(i-1000) * time.Hour)
	}
	d.use("0")
	d.put(t, "new", strings.Repeat("x", 100))
	if d.size() > 1000 || d.has("0") == "" || d.has("new") == "" || d.has("1") != "" || d.has("2") != "" || d.has("9") == "" {
		t.Errorf("%d bytes are kept", d.size())
	}
	if left, _ := os.ReadDir(dir); len(left) != len(d.files) {
		t.Errorf("%d files for %d", len(left), len(d.files))
	}
	d.put(t, "new", "less")
	if d.has("new") != "less" || d.size() != int64(len(d.files)-1)*100+4 {
		t.Errorf("%d bytes are kept", d.size())
	}
}

func TestDisk_outlivesTheGateway(t *testing.T) {
	dir := t.TempDir()
	d := newDisk(t, dir, 1000)
	for i := range 5 {
		d.put(t, fmt.Sprint(i), strings.Repeat("x", 100))
		long := time.Now().Add(time.Duration(i-10) * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, nameOf(fmt.Sprint(i))), long, long); err != nil {
			t.Fatal(err)
		}
	}
	torn, err := d.create()
	if err != nil {
		t.Fatal(err)
	}
	_ = torn.Close() // and then the gateway was killed
	if err := os.Mkdir(filepath.Join(dir, "strange"), 0o700); err != nil {
		t.Fatal(err)
	}
	again := newDisk(t, dir, 350)
	if again.has("4") == "" || again.has("0") != "" || again.size() > 350 {
		t.Errorf("%d bytes were taken up", again.size())
	}
	if _, err := os.Stat(torn.Name()); err == nil {
		t.Error("half a file is left")
	}
}

func TestDisk_noticesWhatIsGone(t *testing.T) {
	dir := t.TempDir()
	d := newDisk(t, dir, 1000)
	d.put(t, "a", "content")
	if err := os.Remove(filepath.Join(dir, nameOf("a"))); err != nil {
		t.Fatal(err)
	}
	if d.has("a") != "" || d.size() != 0 {
		t.Errorf("%d bytes are kept", d.size())
	}
	d.use("a")
	d.renew("a")
}
