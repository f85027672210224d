package runs

import (
	"strings"
	"testing"
)

// A server that repeats what it was sent does not bring a password into the
// log, however its words are cut.
func TestRun_showsNoCredentials(t *testing.T) {
	for _, said := range [][]string{
		{"remote: hello you:hunter2pass\n"},
		{"remote: hunter2", "pass is wrong\n"},
		{"remote: ends with hunter2pass"},
	} {
		inBubble(t, func(t *testing.T, w *world) {
			w.scripts["clone"] = func(p *program) {
				for _, s := range said {
					p.err(s)
				}
				p.out("commit " + commit + "\n")
			}
			e := w.engine()
			s := start(t, e, Request{Repository: "https://you:hunter2pass@git.example/you/project.git"})
			got := watchFrom(t.Context(), e, s.ID, 0)
			want(t, "type of the end", got.last().Type, "complete")
			if output := got.output(); strings.Contains(output, "hunter2") || !strings.Contains(output, "***") {
				t.Errorf("%q shows %q", said, output)
			}
		})
	}
}
