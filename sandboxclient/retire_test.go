package sandboxclient

import (
	"errors"
	"testing"
	"time"
)

// TestRetention_sparesWhatIsUsedMeanwhile: many take long to destroy, and the
// records were listed before.
func TestRetention_sparesWhatIsUsedMeanwhile(t *testing.T) {
	dreaming(t, Options{Retention: 24 * time.Hour}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
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
		time.Sleep(10 * time.Minute)
		if d.wasRemoved(used.ID()) {
			t.Error("a sandbox was destroyed minutes after its use")
		}
		if removed := d.wasRemoved(both[0].ID()) || d.wasRemoved(both[1].ID()); !removed {
			t.Error("the other is still there")
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
