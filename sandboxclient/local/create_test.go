package local_test

import (
	"errors"
	"testing"

	"sandgate/sandboxclient"
)

// TestCreate_forgetsAnOlderMemory: what began anew never goes on from an older
// moment, not even under a later gateway.
func TestCreate_forgetsAnOlderMemory(t *testing.T) {
	b := newBench(t, "runsc")
	d := b.open()
	if err := b.create(d); err != nil {
		t.Fatal(err)
	}
	if err := d.Hibernate(t.Context(), b.id, nil); err != nil {
		t.Fatal(err)
	}
	if err := b.create(d); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Asleep(b.id); !errors.Is(err, sandboxclient.ErrNotAsleep) {
		t.Errorf("asleep while it runs: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d = b.open()
	if err := reach(d, b.id); err != nil {
		t.Errorf("a later gateway does not find it: %v", err)
	}
}
