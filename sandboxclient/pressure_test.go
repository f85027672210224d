package sandboxclient

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// TestPressure_whoWaitsTakesNoMemory: a crowd that comes at once must not be in its
// own way.
func TestPressure_whoWaitsTakesNoMemory(t *testing.T) {
	dreaming(t, Options{MaxMemory: 4 * freshBytes}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		d.usage = freshBytes
		var wg sync.WaitGroup
		for i := range 30 {
			wg.Go(func() { mustRun(t, c.Sandbox(book(fmt.Sprint(i))), "inc") })
		}
		wg.Wait()
		if _, _, running := d.count(); running > 4 {
			t.Errorf("%d run in the memory of four", running)
		}
	})
}

func TestPressure_theRoomIsMeasuredOnceForAll(t *testing.T) {
	dreaming(t, Options{MaxMemory: 2 * freshBytes}, func(t *testing.T, c *Client, d *dozing, _ *memory) {
		d.usage = 2 * freshBytes
		defer block(t, c.Sandbox(book("busy")))()
		before := d.gauged()
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() { _ = c.Sandbox(book(fmt.Sprint(i))).Wake(t.Context()) })
		}
		wg.Wait()
		if looks := d.gauged() - before; looks > 300 { // ten a second for ten seconds would do
			t.Errorf("while a hundred waited, the one that runs was looked at %d times", looks)
		}
	})
}
