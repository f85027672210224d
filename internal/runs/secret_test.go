package runs

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
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

// A gateway that was restarted does not know any more what to mask.
func TestResume_quotesNothingOfASecretClone(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.scripts["clone"] = func(p *program) {
			p.sleep(time.Minute)
			p.err("fatal: remote error: hunter2pass is wrong\n")
			p.exit(128)
		}
		id := start(t, w.engine(), Request{Repository: "https://you:hunter2pass@git.example/you/project.git"}).ID
		synctest.Wait()
		w.crash()
		last := watchFrom(t.Context(), w.engine(), id, 0).last()
		want(t, "type", last.Type, "error")
		if strings.Contains(last.Message, "hunter2") {
			t.Errorf("it says %q", last.Message)
		}
	})
}
