package runs

import (
	"context"
	"net/url"
	"strings"

	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

// maxGitSays bounds what is kept of each stream of git, to find out what became
// of a clone. Its last words say it.
const maxGitSays = 64 << 10

// checkout gives a request's repository as what is to be checked out, if that
// makes sense and is allowed.
func (e *Engine) checkout(req Request) (sandboxclient.Checkout, error) {
	if err := req.check(); err != nil {
		return sandboxclient.Checkout{}, err
	}
	if req.Restore != "" {
		return sandboxclient.Checkout{}, nil // there is nothing to clone
	}
	c := sandboxclient.Checkout{
		Repository: req.Repository, Ref: req.Ref, Dir: appDir, Depth: 1,
		Submodules: req.Submodules, LFS: req.LFS,
	}
	host, port, err := c.Address()
	if err != nil {
		return sandboxclient.Checkout{}, err
	}
	c.AllowHTTP = e.opts.Egress.PrivateAllowed(host, port)
	if _, err := c.Command(); err != nil {
		return sandboxclient.Checkout{}, err
	}
	return c, e.opts.Egress.Permits(App, host, port)
}

// hasCredentials says whether a repository's address holds a user or a password.
func hasCredentials(address string) bool {
	u, err := url.Parse(strings.TrimSpace(address))
	return err == nil && u.User != nil
}

// clonePhase checks the repository out. Machine-readable lines on its stdout
// are for us; what git says on stderr is shown, without the credentials that a
// server may repeat.
func (r *run) clonePhase() phase {
	var said struct{ stdout, stderr tail }
	mask := r.source.Mask()
	shows, last := mask.Pass, mask.End
	forgotten := r.promise.Secret && r.past.resumed // what would have to be masked is not known any more
	if forgotten {
		shows, last = func([]byte) []byte { return nil }, nil
	}
	return phase{
		name: PhaseClone, place: 1, hidden: wire.EventStdout, shows: shows, last: last,
		command: func(context.Context) (sandboxclient.Command, string, error) {
			cmd, err := r.source.Command()
			return cmd, strings.TrimSpace("git clone --depth 1 " + r.source.Public()), err
		},
		keep: func(stream string, data []byte) {
			if stream == wire.EventStdout {
				said.stdout.add(data)
				return
			}
			if !forgotten {
				said.stderr.add(data)
			}
		},
		ended: func(exit sandboxclient.Exit) (report, error) {
			if err := r.source.Failure(exit, said.stderr.data); err != nil {
				return report{}, err
			}
			out := sandboxclient.ParseCheckout(said.stdout.data)
			if out.Commit == "" {
				return report{}, sandboxclient.Errorf(sandboxclient.CodeBadGateway, "The clone ended without a commit")
			}
			return report{out.Commit, out.Warnings}, nil
		},
	}
}

// A tail is the end of what a stream said.
type tail struct{ data []byte }

func (t *tail) add(data []byte) {
	t.data = append(t.data, data...)
	if over := len(t.data) - maxGitSays; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
}
