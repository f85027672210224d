package runlog

import (
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

func TestFollow_fromAnywhere(t *testing.T) {
	lines := someLines(300)
	l := create(t)
	fill(t, l, lines, true)
	again := open(t, l.file.Name())
	for after := int64(-1); after <= 301; after++ {
		want := lines[min(max(after, 0), 300):]
		for _, log := range []*Log{l, again} {
			got, err := take(t, log.Follow(after))
			if !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			same(t, want, got)
		}
	}
	for _, after := range []int64{math.MinInt64, math.MaxInt64 - 1, math.MaxInt64} {
		got, err := take(t, l.Follow(after))
		if after > 0 && len(got) != 0 || after < 0 && len(got) != 300 || !errors.Is(err, io.EOF) {
			t.Errorf("after %d: %d, %v", after, len(got), err)
		}
	}
}

// A viewer may ask for what is still to come.
func TestFollow_waitsForALaterOne(t *testing.T) {
	l := create(t)
	lines := someLines(20)
	r := l.Follow(10)
	fill(t, l, lines[:10], false)
	if got, err := take(t, r); len(got) != 0 || err != nil {
		t.Errorf("%d, %v", len(got), err)
	}
	for i := 10; i < 20; i++ {
		fill(t, l, lines[i:i+1], i == 19)
	}
	got, err := take(t, r)
	if !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	same(t, lines[10:], got)
}

func TestNext_isWoken(t *testing.T) {
	for name, step := range map[string]struct {
		do   func(*Log)
		want error
	}{
		"by an event": {func(l *Log) { _, _ = l.Append(0, []byte("{}")) }, nil},
		"by the end":  {func(l *Log) { _, _ = l.End(0, []byte("{}")) }, nil},
		"by a close":  {func(l *Log) { _ = l.Close() }, ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			l := create(t)
			synctest.Test(t, func(t *testing.T) {
				results := make(chan error, 5)
				for range cap(results) {
					go func() {
						_, err := l.Follow(0).Next(t.Context())
						results <- err
					}()
				}
				synctest.Wait()
				if len(results) > 0 {
					t.Fatal("there was nothing to wait for")
				}
				step.do(l)
				for range cap(results) {
					if err := <-results; !errors.Is(err, step.want) {
						t.Errorf("%v, want %v", err, step.want)
					}
				}
				l.waiting = nil // the channel must not leave the bubble
			})
		})
	}
}

func TestNext_endsWithContext(t *testing.T) {
	l := create(t)
	cause := errors.New("the gateway stops")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		result := make(chan error)
		go func() {
			_, err := l.Follow(0).Next(ctx)
			result <- err
		}()
		synctest.Wait()
		cancel(cause)
		if err := <-result; err != cause {
			t.Errorf("%v", err)
		}
		l.waiting = nil
	})
	fill(t, l, someLines(1), true)
	if _, err := l.Follow(0).Next(canceled(t, cause)); err != cause {
		t.Errorf("before it began: %v", err)
	}
}

// A log that was closed behind the end has told its readers all.
func TestNext_closedAtTheEnd(t *testing.T) {
	l := create(t)
	fill(t, l, someLines(2), true)
	there, behind := l.Follow(2), l.Follow(1)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := there.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
	if _, err := behind.Next(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("before it: %v", err)
	}
}

func TestNext_givesBatches(t *testing.T) {
	l := create(t)
	event := make([]byte, 1000)
	for range 300 {
		if _, err := l.Append(0, event); err != nil {
			t.Fatal(err)
		}
	}
	for range 3000 {
		if _, err := l.Append(0, nil); err != nil {
			t.Fatal(err)
		}
	}
	r := l.Follow(0)
	for last := int64(0); last < 3300; {
		lines, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		bytes := 0
		for _, line := range lines {
			bytes += len(line.Event)
		}
		if len(lines) > maxLines || bytes > batch {
			t.Errorf("%d lines of %d bytes at once", len(lines), bytes)
		}
		last = lines[len(lines)-1].Seq
	}
}

// However long the log is, a reader begins near its place and holds little.
func TestFollow_readsLittle(t *testing.T) {
	l := create(t)
	event := make([]byte, 4000)
	const lines = 2000
	for range lines {
		if _, err := l.Append(0, event); err != nil {
			t.Fatal(err)
		}
	}
	for after := int64(0); after < lines; after += 37 {
		r := l.Follow(after)
		if away := after*(l.Size()/lines) - r.at.offset; away > markEvery+int64(len(event))+100 {
			t.Fatalf("after %d it begins %d bytes too early", after, away)
		}
		if _, err := r.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		if cap(r.buf) > batch {
			t.Fatalf("it holds %d bytes", cap(r.buf))
		}
	}
	r := l.Follow(0)
	if got, err := take(t, r); len(got) != lines || err != nil {
		t.Fatalf("%d, %v", len(got), err)
	}
	r.shrink()
	if cap(r.buf) > small || cap(r.lines)*40 > small {
		t.Errorf("while it waits it holds %d bytes, %d lines", cap(r.buf), cap(r.lines))
	}
}

// Somebody else's hands in the file are noticed, not passed on.
func TestNext_damage(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"cut":         func(path string) error { return os.Truncate(path, 10) },
		"overwritten": func(path string) error { return overwrite(path, 30, "\n\n\n") },
		"no line end": func(path string) error { return overwrite(path, 0, string(make([]byte, 3*batch))) },
	} {
		t.Run(name, func(t *testing.T) {
			l := create(t)
			for range 3 {
				if _, err := l.Append(0, make([]byte, batch-10)); err != nil {
					t.Fatal(err)
				}
			}
			if err := damage(l.file.Name()); err != nil {
				t.Fatal(err)
			}
			if _, err := take(t, l.Follow(0)); !errors.Is(err, ErrDamaged) {
				t.Errorf("%v", err)
			}
		})
	}
}

func overwrite(path string, offset int64, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteAt([]byte(text), offset)
	return err
}

// Whenever viewers come, whatever they have seen, however slow they are, and if
// they are cut off and resume: all get the rest, once, in order.
func TestFollow_whileItIsWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lines := someLines(rapid.IntRange(1, 400).Draw(rt, "lines"))
		afters := rapid.SliceOfN(rapid.Int64Range(0, int64(len(lines))), 1, 6).Draw(rt, "afters")
		seed := rapid.Uint64().Draw(rt, "seed")
		l, err := Create(newPath(t))
		if err != nil {
			rt.Fatal(err)
		}
		defer l.Close()
		var wg sync.WaitGroup
		seen := make([][]Line, len(afters))
		for i, after := range afters {
			wg.Go(func() {
				v := viewer{log: l, random: rand.New(rand.NewPCG(seed, uint64(i)))}
				seen[i] = v.watch(t, after)
			})
		}
		wg.Go(func() {
			random := rand.New(rand.NewPCG(seed, 1000))
			for i := range lines {
				pause(random)
				fill(t, l, lines[i:i+1], i == len(lines)-1)
			}
		})
		wg.Wait()
		for i, after := range afters {
			same(t, lines[after:], seen[i])
		}
	})
}

// viewer now and then loses its connection.
type viewer struct {
	log    *Log
	random *rand.Rand
}

func (v viewer) watch(t *testing.T, after int64) []Line {
	var seen []Line
	r := v.log.Follow(after)
	for {
		lines, err := r.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return seen
		}
		if err != nil {
			t.Error(err)
			return seen
		}
		lost := v.random.IntN(4) == 0
		if lost { // after a part of what was read
			lines = lines[:v.random.IntN(len(lines)+1)]
		}
		seen = append(seen, cloned(lines)...)
		if len(lines) > 0 {
			after = lines[len(lines)-1].Seq
		}
		if lost {
			r = v.log.Follow(after)
		}
		pause(v.random)
	}
}

func pause(random *rand.Rand) {
	for range random.IntN(3) {
		runtime.Gosched()
	}
}

// A viewer that never reads on, or left, keeps nobody waiting.
func TestFollow_slowViewerHarmsNobody(t *testing.T) {
	l := create(t)
	fill(t, l, someLines(1), false)
	slow := l.Follow(0)
	if _, err := slow.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines := someLines(500)
	fill(t, l, lines[1:], true)
	for range 3 {
		got, err := take(t, l.Follow(0))
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		same(t, lines, got)
	}
	got, err := take(t, slow)
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	same(t, lines[1:], got)
}
