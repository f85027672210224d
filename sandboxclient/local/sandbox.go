package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"sandgate/sandboxclient"
)

// A sandbox is what the driver holds of one that runs: its link and its process.
type sandbox struct {
	link    *link
	pidfd   *os.File
	watched chan struct{} // closed when watch has returned
}

// openSandbox takes up a sandbox whose process runs. A process that is gone, or
// that nobody can reach any more, is sandboxclient.ErrGone.
func openSandbox(p process, linkDir string) (*sandbox, error) {
	pidfd, err := p.open()
	if errors.Is(err, os.ErrProcessDone) {
		return nil, sandboxclient.ErrGone
	}
	if err != nil {
		return nil, err
	}
	l, err := openLink(linkDir)
	if err != nil {
		_ = pidfd.Close()
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: its link was removed", sandboxclient.ErrGone)
	}
	if err != nil {
		return nil, err
	}
	s := &sandbox{link: l, pidfd: pidfd, watched: make(chan struct{})}
	go s.watch()
	return s, nil
}

// watch ends the link with the process: who waits in Dial learns it at once. It
// ends with the process or with release.
func (s *sandbox) watch() {
	defer close(s.watched)
	if err := awaitExit(s.pidfd); err == nil {
		s.link.close()
	}
}

// release lets go of the sandbox without ending it. It may be called more than once.
func (s *sandbox) release() {
	_ = s.pidfd.Close()
	<-s.watched
	s.link.close()
}

// Dial gives a connection on which sandboxd waits for requests.
func (d *Driver) Dial(ctx context.Context, id sandboxclient.ID) (net.Conn, error) {
	s, err := d.take(id)
	if err != nil {
		return nil, fmt.Errorf("dial sandbox %s: %w", id, err)
	}
	conn, err := s.link.take(ctx)
	if err != nil {
		return nil, fmt.Errorf("dial sandbox %s: %w", id, err)
	}
	return conn, nil
}

// Egress has serve answer for what a sandbox wants of the outside.
func (d *Driver) Egress(id sandboxclient.ID, serve func(ctx context.Context, target string, conn net.Conn)) error {
	s, err := d.take(id)
	if err != nil {
		return fmt.Errorf("egress of sandbox %s: %w", id, err)
	}
	s.link.open(serve)
	return nil
}

// take finds the sandbox, or takes it up when an earlier driver made it.
func (d *Driver) take(id sandboxclient.ID) (*sandbox, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s, ok := d.sandboxes[id]; ok {
		return s, nil
	}
	if !id.Valid() {
		return nil, sandboxclient.ErrGone
	}
	record, err := readRecord(d.layout.bundle(id))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", sandboxclient.ErrGone, err)
	}
	s, err := openSandbox(record, d.layout.link(d.layout.instanceOf(id)))
	if err != nil {
		return nil, err
	}
	d.sandboxes[id] = s
	return s, nil
}
