package drivertest

import (
	"embed"
	"strings"

	"sandgate/sandboxclient"
)

// probes are Python programs that try walls from inside, one for each area.
//
//go:embed testdata/*.py
var probes embed.FS

// A wall is shown by a pair: what is allowed proves that the refusal is no
// accident of the means. Both were tried as the sandbox user, and each came to
// "done: ...", "refused: ..." or "broken: ...".
type wall struct{ name, allowed, refused string }

// walls runs a probe to its end, and gives what it found.
func (r *rig) walls(id sandboxclient.ID, area string, args ...string) []wall {
	r.Helper()
	program := r.source("walls") + "\n\n" + r.source(area)
	res := r.run(id, append([]string{"/usr/bin/python3", "-c", program}, args...)...)
	if !res.ok() || !strings.HasSuffix(res.stdout, "\nfinished\n") {
		r.Fatalf("the probe of %s: %s", area, res)
	}
	var found []wall
	for line := range strings.Lines(res.stdout) {
		if f := strings.Split(strings.TrimSpace(line), "\t"); len(f) == 3 {
			found = append(found, wall{f[0], f[1], f[2]})
		}
	}
	return found
}

func (r *rig) source(name string) string {
	r.Helper()
	text, err := probes.ReadFile("testdata/" + name + ".py")
	if err != nil {
		r.Fatal(err)
	}
	return string(text)
}

// stands wants every wall of an area to stand, but for those that are excused by
// name, which must not be walls: an excuse that nobody needs hides something.
func (r *rig) stands(found []wall, excused ...string) {
	r.Helper()
	excuses := make(map[string]bool)
	for _, name := range excused {
		excuses[name] = true
	}
	for _, w := range found {
		if !strings.HasPrefix(w.allowed, "done: ") {
			r.Errorf("%s: what should work does not: %s", w.name, w.allowed)
		}
		if open := !strings.HasPrefix(w.refused, "refused: "); open != excuses[w.name] {
			r.Errorf("%s: %s", w.name, w.refused)
		}
	}
}
