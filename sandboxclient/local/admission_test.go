package local

import (
	"context"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// newAdmission gives checkpoints on a disk of a size.
func newAdmission(t *testing.T, size string) *checkpoints {
	t.Helper()
	needRoot(t)
	c := newCheckpoints(layout{newDir(t)}, 0)
	dir := c.layout.sandboxes()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, 0) })
	return c
}

// of gives a memory of a size.
func of(bytes int64) func() int64 { return func() int64 { return bytes } }

// TestAdmit_promisesAllThatMayBeWritten: several sleep at the same time, and the
// memory of the one that finds the disk full is lost. One may not get smaller.
func TestAdmit_promisesAllThatMayBeWritten(t *testing.T) {
	c := newAdmission(t, "64m")
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	_, release, err := c.admit(t.Context(), of(40<<20))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.admit(impatient, of(40<<20)); err == nil {
		t.Error("the same room was promised to two")
	}
	if _, _, err := c.admit(t.Context(), of(1<<30)); err == nil {
		t.Error("there was room for more than the disk has")
	}
	release()
	if _, _, err := c.admit(impatient, of(40<<20)); err != nil {
		t.Error(err)
	}
}

// TestAdmit_waitsForWhatOthersLeave: who is refused runs on, or is ended where the
// gateway stops.
func TestAdmit_waitsForWhatOthersLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newAdmission(t, "64m")
		_, release, err := c.admit(t.Context(), of(40<<20))
		if err != nil {
			t.Fatal(err)
		}
		admitted := make(chan error, 1)
		admit := func() {
			_, _, err := c.admit(t.Context(), of(40<<20))
			admitted <- err
		}
		go admit()
		synctest.Wait()
		release()
		if err := <-admitted; err != nil {
			t.Error(err)
		}
		began := time.Now()
		go admit() // beside one that is never written
		if err := <-admitted; err == nil || time.Since(began) != roomTime {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

// TestAdmit_compressesByWhatIsPromised: a disk that has room may have promised it.
func TestAdmit_compressesByWhatIsPromised(t *testing.T) {
	c := newAdmission(t, "8g") // of which nothing is used
	for i, want := range []bool{false, false, false, true, true} {
		compress, _, err := c.admit(t.Context(), of(1<<30))
		if err != nil || compress != want {
			t.Errorf("memory %d: compressed %t, %v", i, compress, err)
		}
	}
}

func TestLeastRoom(t *testing.T) {
	for _, row := range []struct {
		name                  string
		memory, reserve, want int64
	}{
		{"most get smaller than half", 1 << 30, 1 << 30, 512 << 20},
		{"half of the reserve bears the rest", 4 << 30, 1 << 30, 3584 << 20},
		{"which is little on a small disk", 40 << 20, 4 << 20, 38 << 20},
	} {
		if got := leastRoom(row.memory, row.reserve); got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
	}
}
