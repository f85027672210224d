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

// TestInfo_readsNoOthersRecords: many owners must not make the one that asks slow.
func TestInfo_readsNoOthersRecords(t *testing.T) {
	dreaming(t, Options{}, func(t *testing.T, c *Client, _ *dozing, m *memory) {
		mine := []*Sandbox{c.Sandbox(book("a")), c.Sandbox(book("b"))}
		for _, s := range append(mine, c.Sandbox(Ref{Owner: "else", App: "notebook", Name: "a"})) {
			mustRun(t, s, "inc")
		}
		info, err := mine[1].Info(t.Context())
		if err != nil || info.Ref != mine[1].ref || m.listed != 1 {
			t.Errorf("%+v, %v, of %d records", info, err, m.listed)
		}
		infos, err := c.Sandboxes(t.Context(), "local")
		if err != nil || len(infos) != 2 || m.listed != 3 {
			t.Errorf("%+v, %v, of %d records", infos, err, m.listed-1)
		}
		if infos, err := c.Sandboxes(t.Context(), ""); err != nil || len(infos) != 0 {
			t.Errorf("of nobody: %+v, %v", infos, err)
		}
		if _, err := c.Sandbox(book("c")).Info(t.Context()); CodeOf(err) != CodeNotFound {
			t.Errorf("of one that never was: %v", err)
		}
	})
}
