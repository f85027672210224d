package runlog

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"sandgate/internal/sandboxtest"
)

// smallDisk gives a directory on a disk of 4 MiB.
func smallDisk(t *testing.T) string {
	t.Helper()
	return sandboxtest.SmallDisk(t, 4<<20)
}

// fillUp writes what others would.
func fillUp(t *testing.T, dir string) {
	t.Helper()
	f, err := os.CreateTemp(dir, "others-")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

func appendUntilFull(t *testing.T, l *Log, event []byte) (lines int64) {
	t.Helper()
	for {
		_, err := l.Append(0, event)
		if errors.Is(err, ErrNoSpace) {
			return lines
		}
		if err != nil {
			t.Fatal(err)
		}
		lines++
	}
}

// A full disk refuses events, spoils none, and still takes the last one.
func TestLog_fullDisk(t *testing.T) {
	dir := smallDisk(t)
	l, err := Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	others := filepath.Join(dir, "others")
	if err := os.WriteFile(others, make([]byte, 100<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	event := bytes.Repeat([]byte("x"), 1000)
	lines := appendUntilFull(t, l, event)
	if size := lines * int64(len(event)); size < 3<<20 {
		t.Errorf("%d bytes of 4 MiB can be used", size)
	}

	if err := os.Remove(others); err != nil {
		t.Fatal(err)
	}
	again := appendUntilFull(t, l, event)
	if again == 0 {
		t.Error("space that there is again is of no use")
	}
	lines += again
	fillUp(t, dir)
	last := bytes.Repeat([]byte("e"), 64<<10)
	if seq, err := l.End(0, last); err != nil || seq != lines+1 {
		t.Fatalf("%d, %v", seq, err)
	}
	checkFull(t, l, lines, last)
	checkFull(t, open(t, l.file.Name()), lines, last)
}

func checkFull(t *testing.T, l *Log, lines int64, last []byte) {
	t.Helper()
	got, err := take(t, l.Follow(0))
	if !errors.Is(err, io.EOF) || int64(len(got)) != lines+1 || !bytes.Equal(got[lines].Event, last) {
		t.Errorf("%d lines of %d, %v", len(got), lines+1, err)
	}
}

// The room for the last event outlasts the gateway.
func TestLog_fullDiskAfterAKill(t *testing.T) {
	dir := smallDisk(t)
	first, err := Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close() // a kill does not
	lines := appendUntilFull(t, first, make([]byte, 500))
	fillUp(t, dir)
	l := open(t, first.file.Name())
	if seq, err := l.End(0, make([]byte, 64<<10)); err != nil || seq != lines+1 {
		t.Errorf("%d, %v", seq, err)
	}
}

// What is too long for the room can be said shorter.
func TestEnd_tooLongForAFullDisk(t *testing.T) {
	dir := smallDisk(t)
	l, err := Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	lines := appendUntilFull(t, l, make([]byte, 500))
	fillUp(t, dir)
	if _, err := l.End(0, make([]byte, MaxEvent)); !errors.Is(err, ErrNoSpace) {
		t.Fatalf("%v", err)
	}
	if l.Ended() {
		t.Error("it has ended all the same")
	}
	if _, err := l.End(0, []byte("short")); err != nil {
		t.Error(err)
	}
	checkFull(t, open(t, l.file.Name()), lines, []byte("short"))
}

func TestCreate_fullDisk(t *testing.T) {
	dir := smallDisk(t)
	fillUp(t, dir)
	path := filepath.Join(dir, "log")
	if _, err := Create(path); !errors.Is(err, ErrNoSpace) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it left a file: %v", err)
	}
}

// blocks is what the file takes on the disk.
func blocks(t *testing.T, l *Log) int64 {
	t.Helper()
	var stat unix.Stat_t
	if err := unix.Stat(l.file.Name(), &stat); err != nil {
		t.Fatal(err)
	}
	return stat.Blocks * 512
}
