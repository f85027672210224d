package main

import (
	"path/filepath"
	"strings"
	"testing"

	"sandgate/internal/objects"
)

// A store of objects is never opened beside a database that does not know them.
func TestClaimObjects(t *testing.T) {
	kept, err := objects.Open(filepath.Join(t.TempDir(), "objects"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = kept.Close() })
	for range 2 {
		if err := claimObjects(t.Context(), kept, "one"); err != nil {
			t.Fatal(err)
		}
	}
	if err := claimObjects(t.Context(), kept, "another"); err == nil || !strings.Contains(err.Error(), "--database") {
		t.Errorf("by another one: %v", err)
	}
	if err := kept.Delete(t.Context(), claimKey); err != nil {
		t.Fatal(err)
	}
	if err := claimObjects(t.Context(), kept, "another"); err != nil {
		t.Errorf("given up: %v", err)
	}
}
