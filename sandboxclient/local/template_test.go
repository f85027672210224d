package local_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"sandgate/internal/sandboxtest"
	"sandgate/sandboxclient"
)

// TestCreate_givesUpATemplateThatIsToBlame: what fails for another reason takes it
// from nobody.
func TestCreate_givesUpATemplateThatIsToBlame(t *testing.T) {
	b := newBench(t, "runsc")
	refused := b.cfg.Runtime + ".refused" // the commands that fail
	b.wrap(fmt.Sprintf(`for c in $(cat %s); do case "$*" in *" $c "*) exit 3;; esac; done; exec %s "$@"`, refused, sandboxtest.Bin("runsc")))
	refuse := func(commands string) {
		if err := os.WriteFile(refused, []byte(commands), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	refuse("")
	d := b.open()
	spec := sandboxclient.Spec{ID: b.id, Limits: sandboxclient.DefaultLimits(), Template: "warm"}
	if err := errors.Join(d.Create(t.Context(), spec), reach(d, b.id), d.MakeTemplate(t.Context(), spec)); err != nil {
		t.Fatal(err)
	}
	b.destroy(d)
	for _, step := range []struct {
		name    string
		refused string
		blocked bool // its workspace cannot be opened
		starts  bool
		kept    bool
	}{
		{"workspace", "", true, false, true},
		{"runtime", "restore run", false, false, true},
		{"template", "restore", false, true, false},
	} {
		refuse(step.refused)
		path := workspace(b.cfg.StateDir, b.id)
		if step.blocked {
			if err := errors.Join(os.Rename(path, path+".away"), os.Symlink(path, path)); err != nil {
				t.Fatal(err)
			}
		}
		err := d.Create(t.Context(), spec)
		if step.blocked {
			if err := errors.Join(os.Remove(path), os.Rename(path+".away", path)); err != nil {
				t.Fatal(err)
			}
		}
		if kept := d.HasTemplate(spec); (err == nil) != step.starts || kept != step.kept {
			t.Errorf("%s: %v, the template is kept: %t", step.name, err, kept)
		}
	}
}

func TestDropTemplate_isGivenUp(t *testing.T) {
	b := newBench(t, "runsc")
	d := b.open()
	spec := sandboxclient.Spec{ID: b.id, Limits: sandboxclient.DefaultLimits(), Template: "warm"}
	d.DropTemplate(spec) // there is none
	if err := errors.Join(d.Create(t.Context(), spec), reach(d, b.id), d.MakeTemplate(t.Context(), spec)); err != nil {
		t.Fatal(err)
	}
	if !d.HasTemplate(spec) {
		t.Fatal("there is no template")
	}
	d.DropTemplate(spec)
	if d.HasTemplate(spec) {
		t.Error("there still is a template")
	}
}
