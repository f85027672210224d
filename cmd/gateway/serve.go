package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sys/unix"

	"sandgate/internal/backups"
	"sandgate/internal/httpapi"
	"sandgate/internal/quota"
	"sandgate/internal/runs"
	"sandgate/internal/store"
	"sandgate/sandboxclient"
)

// How long the parts of the stop may take that nobody can choose.
const (
	lastEventTime = time.Second      // for those who follow what was ended to be told so
	cutOffTime    = 5 * time.Second  // for requests that were told to end
	endingTime    = 30 * time.Second // for sandboxes to end
	adminStopTime = time.Second
)

// serve runs the gateway until a signal, or the end of ctx, stops it. What it
// acquires is given back in reverse order, which is the order of the stop.
func serve(ctx context.Context, cfg Config, stdout, stderr io.Writer) (err error) {
	if err := errors.Join(checkRights(cfg), checkCredentials(cfg)); err != nil {
		return err
	}
	// The first signal stops the gateway in order, the second at once.
	ctx, restore := signal.NotifyContext(ctx, os.Interrupt, unix.SIGTERM)
	defer restore()
	context.AfterFunc(ctx, restore)

	log := newLogger(cfg, stderr)
	registry := newRegistry()

	admin, err := listen(ctx, "admin-listen", cfg.AdminListen)
	if err != nil {
		return err
	}
	defer closeWith(&err, admin.Close)
	apps, err := listen(ctx, "listen", cfg.Listen)
	if err != nil {
		return err
	}
	defer closeWith(&err, apps.Close)

	var ready readiness
	adminServer := newAdmin(&ready, registry, httpapi.NewGuard(cfg.hosts()), log)
	defer startAdmin(adminServer, admin, log)()

	sandboxes, closeClient, err := openClient(ctx, cfg, log, registry)
	if err != nil && ctx.Err() != nil {
		log.Info("stopped while starting", "error", err)
		return nil
	}
	if err != nil {
		return err
	}
	defer closeWith(&err, closeClient)

	api, closeAPI, err := openAPI(cfg, sandboxes, log, registry)
	if err != nil {
		return err
	}
	defer closeWith(&err, closeAPI)
	server := newServer(api, log)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(apps) }() // ends with the server's shutdown

	ready.set(true)
	tellReady(stdout, log, cfg.Auth, apps, admin)
	select {
	case <-ctx.Done():
		log.Info("stopping")
	case err = <-failed:
		err = fmt.Errorf("serve on %s: %w", apps.Addr(), err)
	}
	ready.set(false)
	notify(log, daemon.SdNotifyStopping)
	server.stop(cfg.ShutdownGrace, func() error { return endRuns(sandboxes.runs) })
	return err
}

// opened is what serving needs of the sandboxes.
type opened struct {
	client  *sandboxclient.Client
	runs    *runs.Engine
	proof   proof
	records *store.Store
	key     []byte
	quotas  *quota.Book
	backups *backups.Engine
}

// exists says whether there is a sandbox.
func (o opened) exists(ref sandboxclient.Ref) bool { return o.client.Sandbox(ref).Exists() }

// openClient opens what sandboxes need, from the state directory up,
// proves their isolation and takes over what an earlier gateway left. The function it returns ends the
// sandboxes and gives everything back.
func openClient(ctx context.Context, cfg Config, log *slog.Logger, registry prometheus.Registerer) (_ opened, _ func() error, err error) {
	var undo closers
	defer func() {
		if err != nil {
			err = errors.Join(err, undo.close())
		}
	}()
	npm := askNPM(ctx, cfg) // beside all that follows
	state, err := openState(cfg.StateDir)
	if err != nil {
		return opened{}, nil, err
	}
	undo.add(state.Close)
	records, err := store.Open(ctx, cfg.database())
	if err != nil {
		return opened{}, nil, err
	}
	undo.add(records.Close)
	// Before anything is taken over, which a refusal would end.
	kept, err := openObjects(ctx, cfg, records)
	if err != nil {
		return opened{}, nil, err
	}
	undo.add(kept.Close)
	driver, err := newDriver(ctx, cfg, log)
	if err != nil {
		return opened{}, nil, err
	}
	undo.add(driver.Close)
	proof, err := prove(ctx, cfg, driver, records, state.key, log)
	if err == nil {
		err = proof.check(cfg, log)
	}
	if err != nil {
		return opened{}, nil, err
	}
	outside, err := newOutside(cfg, npm(), log, registry)
	if err != nil {
		return opened{}, nil, err
	}
	proof.document = outside.add(proof.document, log)
	closeMirror, err := openMirror(cfg, outside, log, registry)
	if err != nil {
		return opened{}, nil, err
	}
	undo.add(closeMirror)
	wanted, err := wantedRuns(ctx, records)
	if err != nil {
		return opened{}, nil, err
	}
	quotas := newQuotas(cfg, records, registry)
	client := newClient(cfg, driver, records, state.key, outside, wanted, quotas.Share, log, registry)
	registry.MustRegister(newPopulation(client))
	undo.add(func() error { return endSandboxes(client) })
	if err := client.Adopt(ctx); err != nil {
		return opened{}, nil, fmt.Errorf("take over what an earlier gateway left: %w", err)
	}
	undo.add(reap(client))
	keeper, closeBackups := openBackups(cfg, client, records, kept, quotas, log)
	undo.add(closeBackups)
	engine, closeRuns, err := openRuns(ctx, cfg, client, records, kept, keeper, quotas, outside.policy, log, registry)
	if err != nil {
		return opened{}, nil, err
	}
	undo.add(closeRuns)
	return opened{client, engine, proof, records, state.key, quotas, keeper}, undo.close, nil
}

func newClient(cfg Config, driver sandboxclient.Driver, records sandboxclient.Records, key []byte, out outside, wanted func(sandboxclient.Ref) bool, share func(string) sandboxclient.Share, log *slog.Logger, registry prometheus.Registerer) *sandboxclient.Client {
	return sandboxclient.New(sandboxclient.Options{
		Driver:         driver,
		Records:        records,
		Key:            key,
		SleepAfter:     cfg.SleepAfter,
		StayAwake:      cfg.StayAwake,
		Retention:      cfg.Retention,
		MaxMemory:      int64(cfg.MaxMemory),
		DefaultTimeout: cfg.DefaultTimeout,
		MaxTimeout:     cfg.MaxTimeout,
		Output:         cfg.output(),
		Limits:         cfg.limits(),
		AppLimits:      cfg.appLimits(),
		AppTimeouts:    cfg.appTimeouts(),
		Wanted:         wanted,
		Share:          share,
		MaxRunning:     cfg.MaxRunning,
		MaxExisting:    cfg.MaxSandboxes,
		QueueTime:      cfg.QueueTime,
		ContextEnv:     cfg.contextEnv(),
		Warmth:         cfg.warmth(),
		Pool:           cfg.Pool,
		Egress:         out.gate,
		Logger:         log,
		Observe:        newOperations(registry).observe,
	})
}

// reap starts the reaper, and what keeps warm sandboxes at hand; the function it
// returns waits for their end.
func reap(client *sandboxclient.Client) func() error {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { client.Reap(ctx) })
	wg.Go(func() { client.Prepare(ctx) })
	return func() error {
		cancel()
		wg.Wait()
		return nil
	}
}

// endSandboxes has a deadline of its own: the signal that stops the gateway
// must not cut it short.
func endSandboxes(client *sandboxclient.Client) error {
	ctx, cancel := context.WithTimeout(context.Background(), endingTime)
	defer cancel()
	if err := client.Close(ctx); err != nil {
		return fmt.Errorf("end sandboxes: %w", err)
	}
	return nil
}

// closers are undone in reverse order.
type closers []func() error

func (c *closers) add(f func() error) { *c = append(*c, f) }

func (c *closers) close() error {
	var err error
	for _, f := range slices.Backward(*c) {
		err = errors.Join(err, f())
	}
	return err
}

// closeWith closes something and adds what goes wrong to *err. A listener that
// its server has closed already is fine.
func closeWith(err *error, closing func() error) {
	if failed := closing(); !errors.Is(failed, net.ErrClosed) {
		*err = errors.Join(*err, failed)
	}
}

// tellReady says where the gateway is, to people and to systemd.
func tellReady(stdout io.Writer, log *slog.Logger, auth string, apps, admin net.Listener) {
	url := "http://" + apps.Addr().String()
	if auth == authKeys {
		fmt.Fprintf(stdout, "Sandgate is ready, and asks for a key, which gateway keys create --owner NAME makes: curl -H \"Authorization: Bearer $KEY\" -d 'print(\"hello\")' %s/run\n", url)
	} else {
		fmt.Fprintf(stdout, "Sandgate is ready: curl -d 'print(\"hello\")' %s/run\n", url)
	}
	attrs := []any{"url", url, "version", version}
	if admin.Addr() != nil {
		attrs = append(attrs, "admin", "http://"+admin.Addr().String())
	}
	log.Info("ready", attrs...)
	notify(log, daemon.SdNotifyReady)
}

// notify tells systemd; where there is none it does nothing.
func notify(log *slog.Logger, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Warn("systemd was not told", "state", state, "error", err)
	}
}
