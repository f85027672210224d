package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"

	"sandgate/internal/sandboxtest"
)

// owners is a gateway that asks for keys, and the keys of two owners.
type owners struct {
	*sandboxtest.Gateway
	modest, greedy string
}

// identities lists what it costs to know who asks, and what one owner's burst
// costs another.
func (l *lab) identities() []comparison {
	warm := func(ctx context.Context) (float64, error) {
		return timed(func(ctx context.Context) error { return l.runAs(ctx, l.owners.modest) })(ctx)
	}
	return []comparison{
		{
			name: "warm POST /run with a key", against: "without", aim: "≤ 1.05", unit: "ms", rounds: 300,
			measured: warm, reference: l.post(l.standard.URL+"/run", `print("hello")`, `"hello\n"`), prepare: l.openOwners,
		},
		{
			name: "warm POST /run during another owner's burst", against: "alone", aim: "no aim yet", unit: "ms", rounds: 30,
			measured: l.duringBurst(warm), reference: warm, prepare: l.openOwners,
		},
	}
}

// openOwners starts the gateway when it is first wanted. It works on few requests
// at once, so that a burst is one.
func (l *lab) openOwners(ctx context.Context, _ *comparison) (err error) {
	if l.owners != nil {
		return nil
	}
	o := &owners{}
	dir := l.dir + "/o"
	if o.Gateway, err = sandboxtest.StartGateway(dir, "--python-engine", "python", "--auth", "keys", "--max-requests", "4"); err != nil {
		return err
	}
	l.owners = o
	for owner, key := range map[string]*string{"modest": &o.modest, "greedy": &o.greedy} {
		out, err := exec.CommandContext(ctx, sandboxtest.Bin("gateway"), "keys", "--state-dir", dir, "create", "--owner", owner).Output()
		if err != nil {
			return fmt.Errorf("make a key: %w", err)
		}
		*key = strings.TrimSpace(string(out))
	}
	return nil
}

// runAs runs a cell for the holder of a key.
func (l *lab) runAs(ctx context.Context, key string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.owners.URL+"/run", strings.NewReader(`print("hello")`))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := l.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && !bytes.Contains(answer, []byte(`"hello\n"`)) && resp.StatusCode != http.StatusTooManyRequests {
		err = fmt.Errorf("answered %s %q", resp.Status, answer)
	}
	return err
}

// duringBurst takes a sample while the other owner sends all that it can.
func (l *lab) duringBurst(s sample) sample {
	const workers = 8 // as many as may work and wait
	return func(ctx context.Context) (float64, error) {
		burst, stop := context.WithCancel(ctx)
		var wg sync.WaitGroup
		begun := make(chan bool, workers)
		for range workers {
			wg.Go(func() {
				for burst.Err() == nil {
					_ = l.runAs(burst, l.owners.greedy)
					select {
					case begun <- true:
					default:
					}
				}
			})
		}
		for range workers {
			<-begun
		}
		took, err := s(ctx)
		stop()
		wg.Wait()
		return took, err
	}
}
