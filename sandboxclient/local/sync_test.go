package local

import (
	"os"
	"strings"
	"testing"

	"sandgate/sandboxclient"
)

func TestSync(t *testing.T) {
	d := &Driver{layout: layout{state: t.TempDir()}}
	id := sandboxclient.ID(strings.Repeat("a", 26))
	if err := d.Sync(t.Context(), id); err == nil {
		t.Error("a workspace that is not there was flushed")
	}
	if err := os.MkdirAll(d.layout.workspace(id), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := d.Sync(t.Context(), id); err != nil {
		t.Error(err)
	}
	if err := d.Sync(t.Context(), "../"+id); err == nil {
		t.Error("what is no id was looked up")
	}
}
