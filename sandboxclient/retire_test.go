package sandboxclient

import (
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestRetention_sparesWhatIsUsedMeanwhile: many take long to destroy, and the
// records were listed before.
func TestRetention_sparesWhatIsUsedMeanwhile(t *testing.T) {
	dreaming(t, Options{Retention: 10 * time.Minute, SleepAfter: time.Minute}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		both := []*Sandbox{c.Sandbox(book("a")), c.Sandbox(book("b"))}
		slow := make(chan struct{})
		d.destroy = func() error {
			select {
			case <-slow:
			default:
				close(slow)
				time.Sleep(time.Minute)
			}
			return nil
		}
		for _, s := range both {
			mustRun(t, s, "inc")
		}
		<-slow
		used := both[0]
		if used.State() == StateStopping {
			used = both[1]
		}
		mustRun(t, used, "inc")
		if err := used.Hibernate(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		if d.wasRemoved(used.ID()) {
			t.Error("a sandbox was destroyed minutes after its use")
		}
		if removed := d.wasRemoved(both[0].ID()) || d.wasRemoved(both[1].ID()); !removed {
			t.Error("the other is still there")
		}
	})
}

// TestRetention_doubtsTheClock: a clock that is weeks ahead must not cost all their
// work before anybody has noticed.
func TestRetention_doubtsTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		e, m := newEngine(), newMemory()
		c := New(Options{Driver: e, Records: m, Key: []byte("key"), Retention: 30 * 24 * time.Hour, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		for i := range 100 {
			ref := named(strconv.Itoa(i))
			used := time.Now()
			if i < 60 {
				used = used.Add(-31 * 24 * time.Hour)
			}
			_ = m.SaveSandbox(t.Context(), Record{ID: DeriveID(c.opts.Key, ref), Ref: ref, LastUsed: used})
		}
		for _, step := range []struct {
			passes      int // one a minute
			least, most int // that were destroyed by then
		}{
			{60, 0, 0},            // an hour for whoever reads the log
			{24 * 60, 20, 40},     // a tenth of the time for all
			{2 * 24 * 60, 60, 60}, // those that were used stay
		} {
			for range step.passes {
				c.reconcile(t.Context())
				time.Sleep(c.reconcilePause())
			}
			if n := len(e.removed); n < step.least || n > step.most {
				t.Errorf("%d were destroyed, not %d to %d", n, step.least, step.most)
			}
		}
		if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
			t.Errorf("the log tells %d times of it", n)
		}
	})
}

// TestRetention_keepsUp: what expires day by day goes day by day, however many
// there are.
func TestRetention_keepsUp(t *testing.T) {
	c := New(Options{Driver: newEngine(), Records: newMemory(), Key: []byte("key"), Retention: 30 * 24 * time.Hour})
	for all, perPass := range map[int]int{1: 1, 3: 1, 10_000: 2, 1_000_000: 231} {
		c.retirement = retirement{doubts: true}
		if n := c.mayRetire(all, all); n != perPass {
			t.Errorf("of %d, %d may go at once, want %d", all, n, perPass)
		}
		if n := c.mayRetire(all, all); n != 0 {
			t.Errorf("of %d, %d may go at once after them", all, n)
		}
	}
}

// TestStart_givesUpATemplateThatNeverAnswers: it would cost every fresh start its
// patience. One that is not to blame is kept.
func TestStart_givesUpATemplateThatNeverAnswers(t *testing.T) {
	opts := Options{Warmth: Warmth{Apps: []string{"notebook"}}}
	dreaming(t, opts, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		d.mute, d.dead = true, true
		if err := c.Sandbox(book("a")).Wake(t.Context()); err == nil || !d.HasTemplate(Spec{}) {
			t.Errorf("where nothing answers: %v, and the template is given up: %t", err, !d.HasTemplate(Spec{}))
		}
		d.dead = false
		mustRun(t, c.Sandbox(book("b")), "inc")
		began := time.Now()
		mustRun(t, c.Sandbox(book("c")), "inc")
		if took := time.Since(began); took > time.Second || d.HasTemplate(Spec{}) {
			t.Errorf("the next start took %s, and the template is given up: %t", took, !d.HasTemplate(Spec{}))
		}
	})
}

func TestStart_thatFailsLeavesNothingOfTheEphemeral(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, e *engine, _ *memory) {
		e.createErr = errors.New("no disk")
		for name, ephemeral := range map[string]bool{"run": true, "scratch": false} {
			s := c.Sandbox(Ref{Owner: "local", App: "playground", Name: name, Ephemeral: ephemeral})
			if err := s.Wake(t.Context()); err == nil {
				t.Fatal("it started")
			}
			if e.removed[s.ID()] != ephemeral {
				t.Errorf("ephemeral: %t, its workspace was removed: %t", ephemeral, e.removed[s.ID()])
			}
		}
	})
}
