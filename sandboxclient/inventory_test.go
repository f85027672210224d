package sandboxclient

import (
	"sync"
	"testing"
	"time"
)

// TestHibernate_ofOneThatStarts: who is told that a sandbox sleeps finds it asleep.
func TestHibernate_ofOneThatStarts(t *testing.T) {
	dreaming(t, Options{}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		s := c.Sandbox(scratch)
		var wg sync.WaitGroup
		wg.Go(func() { _ = s.Wake(t.Context()) })
		time.Sleep(d.bootTime / 2)
		err := s.Hibernate(t.Context())
		wg.Wait()
		if err == nil && s.State() != StateHibernated || err != nil && CodeOf(err) != CodeConflict {
			t.Errorf("%v, and it is %s", err, s.State())
		}
	})
}
