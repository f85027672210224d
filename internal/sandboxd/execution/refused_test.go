package execution

import (
	"testing"
	"testing/synctest"
	"time"

	"sandgate/sandboxclient/wire"
)

// A word to cancel that overtakes the request to start still holds.
func TestCancel_beforeTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRegistry(Options{})
		if err := r.Cancel("early"); err == nil {
			t.Error("canceling what is not there succeeds")
		}
		if _, err := r.New("early", Exec, wire.Output{}); err == nil {
			t.Error("what was canceled before it came is started")
		}
		x, err := r.New("other", Exec, wire.Output{})
		if err != nil {
			t.Fatal(err)
		}
		r.Discard(x)
		time.Sleep(2 * keepRefused)
		if x, err = r.New("early", Exec, wire.Output{}); err != nil {
			t.Fatal("refused for ever:", err)
		}
		r.Discard(x)
		if len(r.refused) != 0 {
			t.Errorf("%d refusals are kept", len(r.refused))
		}
	})
}
