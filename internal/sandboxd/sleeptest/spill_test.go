package sleeptest

import (
	"net/http"
	"path/filepath"
	"testing"

	"sandgate/sandboxclient/wire"
)

// Output that lies on the disk, in a file without a name, is there after a sleep.
func TestWake_outputOnTheDisk(t *testing.T) {
	s := newHost(t).start()
	const size = 64 << 20 // twice what memory has room for
	req := wire.RunRequest{
		Context: context0(wire.Python), Output: wire.Output{Keep: 2 * size, Max: 2 * size},
		Code: "print('begins', flush=True)\nfor i in range(64): print(chr(65 + i % 26) * ((1 << 20) - 1))",
	}
	id, _ := s.begin(req, func(e wire.Event) bool { return e.Type == wire.EventStdout })
	s.cell("'after it'") // in the same context, so it has ended
	s.call(http.MethodPost, "/v1/sleep", nil, nil)
	if len(s.named()) == 0 {
		t.Error("nothing has a name for the sleep: nothing is tested")
	}
	s.call(http.MethodDelete, "/v1/sleep", nil, nil)
	if names := s.named(); len(names) > 0 {
		t.Errorf("it did not sleep, and left %v", names)
	}
	s.sleep()
	s.wake()
	all := s.follow(id, 0)
	if got := len(all.output); got != size+len("begins\n") || all.exit.ExitCode != 0 {
		t.Fatalf("%d bytes of output are left, %+v", got, all.exit)
	}
	for i := range 64 {
		line := all.output[len("begins\n")+i<<20:][:1<<20]
		if line[0] != byte('A'+i%26) || line[len(line)-2] != line[0] || line[len(line)-1] != '\n' {
			t.Errorf("line %d is not what was printed", i)
		}
	}
}

// named gives the names of sandboxd's own files in the workspace.
func (s *sandbox) named() []string {
	names, err := filepath.Glob(filepath.Join(s.host.state, "sandboxes", string(s.id), "workspace", ".sandgate-*"))
	s.must(err)
	return names
}
