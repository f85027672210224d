package local_test

import (
	"crypto/rand"
	"path/filepath"
	"testing"

	"sandgate/sandboxclient"
)

// TestAssign_outlivesItsFormerID: whoever still believes in the sandbox's first id
// ends nothing.
func TestAssign_outlivesItsFormerID(t *testing.T) {
	eachRuntime(t, func(b *bench) {
		d := b.open()
		if err := b.create(d); err != nil {
			b.Fatal(err)
		}
		former := b.id
		b.id = sandboxclient.DeriveID([]byte(rand.Text()), sandboxclient.Ref{})
		if err := d.Assign(b.Context(), former, b.id); err != nil {
			b.Fatal(err)
		}
		for _, fate := range []sandboxclient.Workspace{sandboxclient.KeepWorkspace, sandboxclient.RemoveWorkspace} {
			if err := d.Destroy(b.Context(), former, fate); err != nil {
				b.Errorf("destroy: %v", err)
			}
		}
		if err := reach(d, b.id); err != nil {
			b.Errorf("dial after its former id was destroyed: %v", err)
		}
		b.destroy(d)
		if left := glob(filepath.Join(b.cfg.StateDir, "*", "*"+string(former)+"*")); len(left) > 0 {
			b.Errorf("left behind: %v", left)
		}
	})
}
