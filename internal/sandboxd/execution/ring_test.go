package execution

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sandgate/sandboxclient/wire"
)

// A small registry: blocks, memory, and a disk that is a fake.
const (
	smallBlock  = 64 << 10
	smallMemory = 4 * smallBlock
	smallDisk   = 40 * smallBlock
	maxPiece    = smallBlock / 8 // of what is printed
)

func newSmall() (*Registry, *fakeDisk) {
	r := NewRegistry(Options{})
	r.budget.limit, r.budget.least = smallMemory, smallMemory
	d, fake := newFakeDisk(smallDisk, smallBlock)
	d.giveWay = r.giveWay
	r.disk = d
	return r, fake
}

// lines makes up output in which every line is another one, in pieces of any size.
func lines(size int, emit func(wire.Event)) {
	random := rand.New(rand.NewPCG(1, 2))
	var text bytes.Buffer
	for n, sent := 0, 0; sent < size; {
		for text.Len() < maxPiece {
			fmt.Fprintf(&text, "%0199d\n", n)
			n++
		}
		chunk := text.Next(min(1+random.IntN(maxPiece), size-sent))
		sent += len(chunk)
		emit(wire.Event{Type: wire.EventStdout, Data: chunk})
	}
}

// sums reads to the end and gives each event's sum.
func sums(t *testing.T, r *Reader, see func(frames []byte, after int64)) map[int64][32]byte {
	t.Helper()
	defer r.Close()
	events := make(map[int64][32]byte)
	for {
		after := r.last
		frames, err := r.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return events
		}
		if err != nil {
			t.Error(err)
			return nil
		}
		see(frames, after)
		for frame := range bytes.Lines(frames) {
			after++
			events[after] = sha256.Sum256(frame)
		}
	}
}

// What is kept of an execution is there to its last byte when it has ended,
// for many at once, wherever they come back; and memory holds little of it.
func TestRing_replaysAllThatIsKept(t *testing.T) {
	const keep = 6 << 20
	r := NewRegistry(Options{Dir: t.TempDir()})
	r.budget.limit = 2 << 20
	r.disk.look = func(string) (int64, int64, error) { return 1 << 40, 1 << 39, nil } // whatever this machine has
	x := begin(t, r, "x", wire.Output{Keep: keep})
	want := sha256.New()
	lines(keep, func(e wire.Event) {
		x.Emit(e)
		want.Write(e.Data)
	})
	x.Complete(exited)
	info := x.Info()
	if used := r.budget.used.Load(); info.FirstSeq != 1 || used > r.budget.limit || x.log.onDisk() < keep/2 {
		t.Errorf("kept from %d on, %d bytes in memory, %d on the disk", info.FirstSeq, used, x.log.onDisk())
	}

	got := sha256.New()
	all := sums(t, x.Follow(0), func(frames []byte, after int64) {
		for _, e := range decode(t, frames, after) {
			got.Write(e.Data)
		}
	})
	if !bytes.Equal(got.Sum(nil), want.Sum(nil)) || int64(len(all)) != info.LastSeq {
		t.Fatalf("%d events of %d, and not what was printed", len(all), info.LastSeq)
	}
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			after := rand.Int64N(info.LastSeq)
			events := sums(t, x.Follow(after), func([]byte, int64) {})
			if int64(len(events)) != info.LastSeq-after {
				t.Errorf("after %d: %d events of %d", after, len(events), info.LastSeq-after)
			}
			for seq, sum := range events {
				if sum != all[seq] {
					t.Errorf("after %d: event %d is another one", after, seq)
				}
			}
		})
	}
	wg.Wait()
}

// printing lets an execution print while the disk takes nothing yet, and gives
// what it printed once it has ended.
func printing(x *Execution, size int) (printed <-chan string) {
	done := make(chan string, 1)
	go func() { // ends when the disk lets it
		var text bytes.Buffer
		lines(size, func(e wire.Event) {
			text.Write(e.Data)
			x.Emit(e)
		})
		x.Complete(exited)
		done <- text.String()
	}()
	return done
}

// While the disk is slow only those wait whose output is to go there.
func TestRing_keepsNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, fake := newSmall()
		fake.block = make(chan struct{})
		x := begin(t, r, "x", wire.Output{})
		reader := follow(t, r, "x")
		printed := printing(x, smallDisk/2)
		synctest.Wait()

		events := drain(t, reader)
		if len(text(events, wire.EventStdout)) < smallMemory/2 {
			t.Errorf("%d events can be read", len(events))
		}
		other := begin(t, r, "other", wire.Output{})
		other.Emit(stdout("now"))
		other.Complete(exited)
		wantWhole(t, follow(t, r, "other"), "now")
		for _, info := range r.List() {
			if info.LastSeq == 0 || (info.Exit != nil) != (info.ID == "other") {
				t.Errorf("listed as %+v", info)
			}
		}
		if err := r.Cancel("x"); err != nil || x.Context().Err() == nil {
			t.Errorf("canceled: %v", err)
		}

		close(fake.block)
		want := <-printed
		if got := text(append(events, drain(t, reader)...), wire.EventStdout); got != want {
			t.Errorf("%d bytes are read, %d were printed", len(got), len(want))
		}
		wantWhole(t, follow(t, r, "x"), want)
		forgetAll(r)
	})
}

// forgetAll lets everything go.
func forgetAll(r *Registry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.ended) > 0 {
		r.forget(r.ended[0])
	}
}

// What is let go while the disk still takes it is told as missing, and that
// leaves nothing behind.
func TestRing_letsGoOfWhatIsOnItsWay(t *testing.T) {
	for name, letGo := range map[string]func(l *Log){
		"the segment": func(l *Log) { l.yield() },
		"the events":  func(l *Log) { l.mu.Lock(); l.giveSegment(); l.evictOne(); l.mu.Unlock() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, fake := newSmall()
				fake.block = make(chan struct{})
				x := begin(t, r, "x", wire.Output{})
				reader := follow(t, r, "x")
				printed := printing(x, smallDisk/2)
				fake.block <- struct{}{} // one block is there, the next is on its way
				synctest.Wait()
				letGo(x.log)
				close(fake.block)
				want := <-printed

				events := drain(t, reader)
				gap := events[0].Gap
				if gap == nil || gap.Bytes < smallBlock/3 || gap.Bytes > smallBlock || text(events, wire.EventStdout) != want[gap.Bytes:] {
					t.Errorf("%d events, first %+v", len(events), events[0])
				}
				reader.Close()
				forgetAll(r)
				if r.disk.used != 0 || r.disk.files != 0 || fake.opened() != 0 {
					t.Errorf("%d bytes in %d files are left", r.disk.used, fake.opened())
				}
			})
		})
	}
}

// Ended executions make room for those that run, the oldest first. Among these
// who has most gives way to who has less.
func TestRing_isShared(t *testing.T) {
	r, _ := newSmall()
	output := wire.Output{Keep: 1 << 30}
	old := begin(t, r, "old", output)
	lines(smallDisk/2, old.Emit)
	old.Complete(exited)
	first := begin(t, r, "first", output)
	lines(smallDisk/2, first.Emit)
	if _, err := r.Get("old"); err == nil {
		t.Error("what has ended is still kept")
	}
	if info := first.Info(); info.FirstSeq != 1 {
		t.Errorf("what runs is kept from %d on", info.FirstSeq)
	}
	lines(2*smallDisk, first.Emit)
	second := begin(t, r, "second", output)
	lines(2*smallDisk, second.Emit)
	if a, b := first.log.onDisk(), second.log.onDisk(); a < smallDisk*2/5 || b < smallDisk*2/5 || a+b > smallDisk {
		t.Errorf("%d and %d bytes are on the disk", a, b)
	}
	for _, x := range []*Execution{first, second} {
		x.Complete(exited)
		if !ends(t, x.Follow(0)) {
			t.Error("an end was lost")
		}
	}
	forgetAll(r)
}

// A disk that the user's own files fill is given back, all of it if need be,
// and taken again when there is room.
func TestRing_givesWayToFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, fake := newSmall()
		quiet := begin(t, r, "quiet", wire.Output{})
		lines(smallDisk/5, quiet.Emit)
		x := begin(t, r, "x", wire.Output{Keep: 1 << 30})
		lines(smallDisk/2, x.Emit)
		little, much := quiet.log.onDisk(), x.log.onDisk()

		fake.fill(smallDisk / 5)
		time.Sleep(furthestLook)
		synctest.Wait()
		if quiet.log.onDisk() != little || x.log.onDisk() >= much || fake.left() < smallDisk/4 {
			t.Errorf("%d and %d bytes are on the disk, %d are free", quiet.log.onDisk(), x.log.onDisk(), fake.left())
		}
		lines(smallDisk/4, x.Emit)
		if quiet.log.onDisk() != little || fake.left() < smallDisk/2 {
			t.Errorf("then %d and %d bytes, and %d are free", quiet.log.onDisk(), x.log.onDisk(), fake.left())
		}
		fake.fill(-smallDisk) // more than there is: some is still ours
		time.Sleep(furthestLook)
		synctest.Wait()
		lines(smallDisk/4, x.Emit)
		if n := fake.opened(); n != 0 {
			t.Errorf("%d files are on a full disk", n)
		}
		fake.fill(smallDisk)
		time.Sleep(patience)
		lines(smallDisk/4, x.Emit)
		if x.log.onDisk() < smallDisk/8 {
			t.Errorf("%d bytes are on a disk that has room again", x.log.onDisk())
		}
		for _, x := range []*Execution{quiet, x} {
			x.Complete(exited)
			if !ends(t, x.Follow(0)) {
				t.Error("an end was lost")
			}
		}
		forgetAll(r)
	})
}
