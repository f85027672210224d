package execution

import (
	"errors"
	"io"
	"testing"

	"pgregory.net/rapid"
)

// A spilling is one log on a disk, told by several who read it.
type spilling struct {
	*story
	t         *testing.T
	log       *Log
	disk      *disk
	fake      *fakeDisk
	witnesses []*witness
}

func newSpilling(t *testing.T, rt *rapid.T, limit int64) *spilling {
	block := rapid.Int64Range(1, 8<<10).Draw(rt, "block")
	memory := rapid.Int64Range(1, 20_000).Draw(rt, "memory")
	d, fake := newFakeDisk(limit, block)
	s := &spilling{story: newStory(rt), t: t, disk: d, fake: fake, log: newLog(smallBudget(memory), d)}
	s.follow(0)
	return s
}

func (s *spilling) follow(after int64) {
	s.witnesses = append(s.witnesses, &witness{Reader: s.log.follow(after), began: after})
}

// read lets somebody read on: a little, or all there is.
func (s *spilling) read() {
	w := rapid.SampledFrom(s.witnesses).Draw(s.T, "witness")
	if rapid.Bool().Draw(s.T, "all") {
		w.seen = append(w.seen, drain(s.t, w.Reader)...)
		return
	}
	if !w.AtEnd() {
		w.seen = append(w.seen, readOnce(s.t, w.Reader)...)
	}
}

// resume lets somebody else read on from where one came to.
func (s *spilling) resume() {
	if len(s.witnesses) < 6 {
		s.follow(rapid.SampledFrom(s.witnesses).Draw(s.T, "of").last)
	}
}

// end reads to the end, from several places, and looks at all that was told.
func (s *spilling) end() {
	s.log.append(complete)
	s.follow(0)
	for range 4 {
		s.follow(rapid.Int64Range(0, s.log.last).Draw(s.T, "after"))
	}
	for _, w := range s.witnesses {
		w.seen = append(w.seen, drain(s.t, w.Reader)...)
		if last := len(w.seen) - 1; last < 0 && w.began < s.log.last || last >= 0 && !w.seen[last].Terminal() {
			s.Fatalf("a reader from %d on ends with %+v", w.began, w.seen)
		}
		if _, err := w.Next(s.t.Context()); !errors.Is(err, io.EOF) {
			s.Fatalf("after the end: %v", err)
		}
		s.check(w)
	}
}

// say prints something, which keeps the log within its bounds.
func (s *spilling) say() {
	s.print(s.log)
	if s.log.overfull() {
		s.Fatalf("%d bytes in memory", s.log.size)
	}
}

// balance wants all that is held to be accounted for.
func (s *spilling) balance() {
	l, d := s.log, s.disk
	size := l.onDisk()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.used != size || d.files != len(l.spilled) || len(s.fake.files) != d.files || d.used > max(d.limit, 0) {
		s.Fatalf("%d bytes in %d segments, %d of %d in the budget, %d files", size, len(l.spilled), d.used, d.limit, len(s.fake.files))
	}
	if l.budget.used.Load() != l.size {
		s.Fatalf("%d bytes in memory, %d in the budget", l.size, l.budget.used.Load())
	}
}

// release lets everything go, which leaves nothing.
func (s *spilling) release() {
	for _, w := range s.witnesses {
		w.Close()
	}
	s.log.drop()
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	if s.disk.used != 0 || s.disk.files != 0 || len(s.fake.files) != 0 || s.log.budget.used.Load() != 0 {
		s.Fatalf("%d bytes in %d files are left", s.disk.used, len(s.fake.files))
	}
}

// With room on the disk nothing is lost to anybody, whatever the memory:
// however it is printed, read, and resumed.
func TestSpill_losesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newSpilling(t, rt, 1<<20)
		for range rapid.IntRange(0, 60).Draw(rt, "steps") {
			rapid.SampledFrom([]func(){
				s.say, s.say, s.read, s.resume,
			}).Draw(rt, "step")()
			s.balance()
		}
		s.end()
		for _, w := range s.witnesses {
			if !w.whole() {
				rt.Fatalf("a gap is told to who reads from %d on", w.began)
			}
		}
		s.release()
	})
}

// On a disk that is too small, fails, forgets, or is filled by others, what is
// lost is told, and nothing else is.
func TestSpill_tellsWhatIsLost(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newSpilling(t, rt, rapid.Int64Range(1, 64<<10).Draw(rt, "limit"))
		s.disk.maxFiles = rapid.IntRange(0, 5).Draw(rt, "files")
		faults := []func(){
			s.fake.breakOrMend,
			s.fake.spoilOrMend,
			func() { s.fake.fill(rapid.Int64Range(0, s.fake.size).Draw(rt, "free")) },
			s.disk.forgive,
			func() { s.log.yield() },
		}
		for range rapid.IntRange(0, 80).Draw(rt, "steps") {
			rapid.SampledFrom(append(faults,
				s.say, s.say, s.say, s.say,
				s.read, s.read, s.resume,
			)).Draw(rt, "step")()
			s.balance()
		}
		s.end()
		s.release()
	})
}
