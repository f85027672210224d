package runs

import (
	"context"
	"strings"
	"testing"

	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

// A daemon that was taken over can say anything of an end.
func TestEnd_isToldHoweverTheSandboxSaysIt(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.scripts["npm test"] = func(p *program) {
			p.emit(sandboxclient.Event{Type: wire.EventComplete, Exit: &sandboxclient.Exit{
				Status: "made up", Signal: strings.Repeat("x", 1<<20),
			}})
		}
		e := w.engine()
		last := watchFrom(t.Context(), e, start(t, e, Request{}).ID, 0).last()
		want(t, "type", last.Type, "complete")
		want(t, "status", last.Status, "signaled")
		want(t, "signal", len(last.Signal), maxSignal)
	})
}

// Warnings do not count as output, and take room all the same.
func TestLog_isBoundedWhateverTheSandboxSays(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.scripts["npm test"] = func(p *program) {
			for range 60 {
				p.emit(sandboxclient.Event{Type: wire.EventWarning, Code: "w", Message: strings.Repeat("x", 500<<10)})
			}
		}
		e := w.engine(func(o *Options) { o.Keep = 1 << 10 })
		got := watchFrom(t.Context(), e, start(t, e, Request{}).ID, 0)
		want(t, "type of the end", got.last().Type, "complete")
		want(t, "truncated", got.last().Truncated, true)
		if n := strings.Count(strings.Join(got.types(), ","), "warning w"); n > 40 {
			t.Errorf("%d warnings are kept", n)
		}
	})
}

// Between the deletion of a run's objects and that of its record the gateway
// may be killed.
func TestArtifact_thatIsGoneIsNotFound(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.files["a.txt"] = "a"
		e := w.engine()
		id := start(t, e, Request{Artifacts: []string{"*.txt"}}).ID
		watchFrom(t.Context(), e, id, 0)
		if err := e.deleteObjects(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		_, err := e.Artifact(t.Context(), owner, id, "a.txt", 0)
		want(t, "code", sandboxclient.CodeOf(err), sandboxclient.CodeNotFound)
	})
}

// mute is a sandbox that never answers.
type mute struct{ Sandbox }

func (mute) MakeDir(ctx context.Context, _ string) (sandboxclient.FileInfo, error) {
	<-ctx.Done()
	return sandboxclient.FileInfo{}, ctx.Err()
}

func TestRun_endsThoughItsSandboxIsMute(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		e := w.engine(func(o *Options) {
			open := o.Open
			o.Open = func(owner, id string) Sandbox { return mute{open(owner, id)} }
		})
		last := watchFrom(t.Context(), e, start(t, e, Request{}).ID, 0).last()
		want(t, "type", last.Type, "error")
		want(t, "code", last.Code, sandboxclient.CodeTimeout)
	})
}
