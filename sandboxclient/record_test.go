package sandboxclient

import (
	"sync"
	"testing"
	"time"
)

// TestSave_holdsUpNobody: a database that is slow must not keep a sandbox from
// those who use it.
func TestSave_holdsUpNobody(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, _ *engine, m *memory) {
		s := c.Sandbox(scratch)
		mustRun(t, s, "inc")
		l := c.all()[0]
		saves := 0
		m.saving = func() {
			saves++
			if !l.mu.TryLock() {
				t.Error("a sandbox is held while its record is written")
				return
			}
			l.mu.Unlock()
		}
		if err := l.saveIfRunning(t.Context()); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		mustRun(t, s, "inc")
		if err := s.Destroy(t.Context(), KeepWorkspace); err != nil {
			t.Error(err)
		}
		if saves != 2 {
			t.Errorf("it was written %d times", saves)
		}
	})
}

// TestSave_writesNothingThatIsDeleted: what is destroyed while it is written down
// stays forgotten.
func TestSave_writesNothingThatIsDeleted(t *testing.T) {
	inBubble(t, func(t *testing.T, c *Client, _ *engine, m *memory) {
		s := c.Sandbox(scratch)
		mustRun(t, s, "inc")
		l := c.all()[0]
		m.saving = func() { time.Sleep(time.Second) }
		var saving sync.WaitGroup
		saving.Go(func() { _ = l.saveIfRunning(t.Context()) })
		time.Sleep(time.Second / 2)
		if err := s.Destroy(t.Context(), RemoveWorkspace); err != nil {
			t.Error(err)
		}
		saving.Wait()
		if last := m.lastUsed(s.ID()); !last.IsZero() {
			t.Errorf("its record says that it was used at %s", last)
		}
	})
}
