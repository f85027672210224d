package drivertest

import (
	"strings"

	"sandgate/sandboxclient"
)

const (
	smallWorkspace = 64 << 20
	noSpace        = "No space left"
)

// small starts a sandbox whose workspace is soon full.
func (r *rig) small() sandboxclient.ID {
	r.Helper()
	r.need(r.cfg.WorkspaceLimited, "limit of the workspace")
	s := spec(r.newID())
	s.Limits.WorkspaceBytes = smallWorkspace
	return r.startSpec(s)
}

func checkWorkspaceBytes(r *rig) {
	id, other := r.small(), r.start()
	if got := r.must(id, "ls -A /workspace; stat -c '%u:%g %a' /workspace"); got != "20000:20000 755\n" {
		r.Errorf("a new workspace: %q", got)
	}
	r.must(id, "head -c 32000000 /dev/zero > /workspace/fits")
	for name, script := range map[string]string{
		"one file":    "dd if=/dev/zero of=/workspace/bursts bs=1M",
		"many files":  "for i in $(seq 100); do head -c 1000000 /dev/zero > /workspace/f$i || exit 1; done",
		"a promise":   "fallocate -l 1G /workspace/promise",
		"sparse file": "truncate -s 1G /workspace/sparse && dd if=/dev/zero of=/workspace/sparse bs=1M conv=notrunc",
	} {
		if res := r.sh(id, script); res.ok() || !strings.Contains(res.stderr, noSpace) {
			r.Errorf("%s: %s, want no space left", name, res)
		}
		r.must(other, "head -c 1000000 /dev/zero > /workspace/f")
		r.must(id, "rm -f /workspace/bursts /workspace/f* /workspace/promise /workspace/sparse; touch /workspace/fits")
	}
}

func checkWorkspaceFiles(r *rig) {
	id, other := r.small(), r.start()
	res := r.run(id, "/usr/bin/python3", "-c", "for i in range(10**6): open(f'/workspace/{i}', 'w').close()")
	if res.ok() || !strings.Contains(res.stderr, noSpace) {
		r.Errorf("a million files: %s, want no space left", res)
	}
	r.must(other, "touch /workspace/f")
	r.must(id, "rm /workspace/0 && touch /workspace/again")
}

// checkWorkspaceStays fills a workspace, and kills what can be killed.
func checkWorkspaceStays(r *rig) {
	id := r.small()
	r.must(id, "echo kept > /workspace/f; dd if=/dev/zero of=/workspace/rest bs=1M || true; rm /workspace/rest")
	intact := func() {
		r.Helper()
		if got := r.must(id, "cat /workspace/f; ls -A /workspace"); got != "kept\nf\n" {
			r.Errorf("the workspace holds %q", got)
		}
	}
	again := func() {
		s := spec(id)
		s.Limits.WorkspaceBytes = smallWorkspace
		r.startSpec(s)
		intact()
	}
	r.restart()
	intact()
	r.destroy(id, sandboxclient.KeepWorkspace)
	again()
	if r.cfg.Kill == nil {
		return
	}
	r.cfg.Kill(r.T, r.state, id)
	r.restart()
	r.destroy(id, sandboxclient.KeepWorkspace)
	again()
}
