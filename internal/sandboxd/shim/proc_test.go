package shim

import (
	"fmt"
	"os"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseStat_whateverTheNameIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringN(0, 15, -1).Draw(t, "name")
		want := process{
			pid:     rapid.IntRange(1, 1<<22).Draw(t, "pid"),
			parent:  rapid.IntRange(0, 1<<22).Draw(t, "parent"),
			state:   rapid.SampledFrom([]byte("RSDZT")).Draw(t, "state"),
			started: rapid.Uint64().Draw(t, "started"),
		}
		line := fmt.Sprintf("%d (%s) %c %d 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 %d 21 22\n",
			want.pid, name, want.state, want.parent, want.started)
		got, err := parseStat(want.pid, []byte(line))
		if err != nil || got != want {
			t.Fatalf("%q: got %+v, %v, want %+v", line, got, err, want)
		}
	})
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("1 (a) b) S 0 1"))
	f.Add([]byte(""))
	f.Fuzz(func(_ *testing.T, line []byte) {
		_, _ = parseStat(1, line) // must not panic
	})
}

func TestTicksAt_agreesWithStartTimes(t *testing.T) {
	self, err := readProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	now, err := ticksAt(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if now+2 < self.started || now > self.started+100*ticksPerSecond*60 {
		t.Errorf("now is tick %d, this process started at %d", now, self.started)
	}
	before, err := ticksAt(time.Now().Add(-time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if d := now - before; d < 97 || d > 103 {
		t.Errorf("a second ago is %d ticks ago", d)
	}
}
