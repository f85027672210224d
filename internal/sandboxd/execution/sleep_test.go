package execution

import (
	"os"
	"strings"
	"testing"

	"sandgate/sandboxclient/wire"
)

func TestSettle_givesNamesForASleep(t *testing.T) {
	dir := t.TempDir()
	r := NewRegistry(Options{Dir: dir})
	r.budget.limit, r.budget.least = smallMemory, smallMemory
	names := func() (n int) {
		t.Helper()
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if !strings.HasPrefix(entry.Name(), hidden) {
				t.Errorf("%s is not hidden", entry.Name())
			}
		}
		return len(entries)
	}
	x := begin(t, r, "x", wire.Output{Keep: 1 << 30})
	reader := x.Follow(0)
	var printed strings.Builder
	printMore := func() {
		lines(1<<20, func(e wire.Event) {
			printed.Write(e.Data)
			x.Emit(e)
		})
	}
	printMore()
	for range 2 { // and again: after the first it is as it was
		if n := names(); n != 0 {
			t.Errorf("%d names while it is awake", n)
		}
		for range 2 {
			if err := r.Settle(); err != nil {
				t.Fatal(err)
			}
			if names() == 0 {
				t.Error("nothing has a name for the sleep")
			}
		}
		printMore() // what runs goes on until it is frozen
		if err := r.Rise(); err != nil {
			t.Fatal(err)
		}
	}
	x.Complete(exited)
	if err := r.Settle(); err != nil {
		t.Fatal(err)
	}
	if events := drain(t, reader); text(events, wire.EventStdout) != printed.String() {
		t.Error("it is not what was printed")
	}
	reader.Close()
	forgetAll(r)
	if n := names(); n != 0 || r.disk.files != 0 || len(r.disk.held) != 0 {
		t.Errorf("%d names and %d files are left", n, r.disk.files)
	}
}

func TestSettle_withoutADisk(t *testing.T) {
	r := NewRegistry(Options{})
	if r.Settle() != nil || r.Rise() != nil {
		t.Error("there is nothing to fail")
	}
}
