package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sandgate/internal/backups"
	"sandgate/internal/egress"
	"sandgate/internal/quota"
	"sandgate/internal/runs"
	"sandgate/internal/store"
	"sandgate/sandboxclient"
)

// stopRunsTime bounds the end of the runs that work when the gateway stops.
const stopRunsTime = 10 * time.Second

// wantedRuns says which sandboxes of runs go on under this gateway: those whose
// runs have not ended.
func wantedRuns(ctx context.Context, records *store.Store) (func(sandboxclient.Ref) bool, error) {
	unfinished, err := runs.Unfinished(ctx, records)
	if err != nil {
		return nil, err
	}
	return func(ref sandboxclient.Ref) bool { return unfinished[ref] }, nil
}

// openRuns makes the engine of test runs and takes up again what an earlier
// gateway left. The function it returns ends the runs.
func openRuns(ctx context.Context, cfg Config, client *sandboxclient.Client, records *store.Store, kept objectStore, keeper *backups.Engine, book *quota.Book, policy *egress.Policy, log *slog.Logger, registry prometheus.Registerer) (_ *runs.Engine, _ func() error, err error) {
	var undo closers
	defer func() {
		if err != nil {
			err = errors.Join(err, undo.close())
		}
	}()
	engine, err := runs.New(runs.Options{
		Open:         func(owner, id string) runs.Sandbox { return client.Sandbox(runs.Ref(owner, id)) },
		Executions:   client,
		Records:      records,
		Retention:    records,
		Objects:      kept,
		Egress:       policy,
		Backups:      keeper,
		Quota:        objectQuota{book, records},
		Dir:          filepath.Join(cfg.StateDir, "runs"),
		MaxRuns:      cfg.MaxRuns,
		MaxQueued:    cfg.MaxQueuedRuns,
		Timeout:      cfg.RunTimeout,
		MaxTimeout:   cfg.MaxRunTimeout,
		MaxArtifacts: int64(cfg.MaxArtifacts),
		KeepFor:      cfg.RunRetention,
		Logger:       log,
		Observe:      newRunMetrics(registry).observe,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("open runs: %w", err)
	}
	registerRunLoad(registry, engine)
	undo.add(func() error { return endRuns(engine) })
	if err := engine.Resume(ctx); err != nil {
		return nil, nil, fmt.Errorf("take up runs again: %w", err)
	}
	undo.add(reapRuns(engine))
	return engine, undo.close, nil
}

// endRuns has a deadline of its own: the signal that stops the gateway must not
// cut it short. More than once is fine.
func endRuns(engine *runs.Engine) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopRunsTime)
	defer cancel()
	return engine.Close(ctx)
}

// reapRuns starts the reaper; the function it returns waits for its end.
func reapRuns(engine *runs.Engine) func() error {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { engine.Reap(ctx) })
	return func() error {
		cancel()
		wg.Wait()
		return nil
	}
}

// runMetrics count the runs that have ended.
type runMetrics struct {
	total    *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

func newRunMetrics(registry prometheus.Registerer) *runMetrics {
	m := &runMetrics{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sandgate_runs_total",
			Help: "Test runs that have ended, by status and by the phase in which they did.",
		}, []string{"status", "phase"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "sandgate_run_duration_seconds",
			Help:    "Time of test runs from their turn to their end, by status.",
			Buckets: []float64{1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600},
		}, []string{"status"}),
	}
	registry.MustRegister(m.total, m.duration)
	return m
}

func (m *runMetrics) observe(status, phase string, took time.Duration) {
	m.total.WithLabelValues(status, phase).Inc()
	m.duration.WithLabelValues(status).Observe(took.Seconds())
}

// registerRunLoad tells how many runs work and wait.
func registerRunLoad(registry prometheus.Registerer, engine *runs.Engine) {
	gauge := func(name, help string, value func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(value()) })
	}
	registry.MustRegister(
		gauge("sandgate_runs_working", "Test runs at work.", func() int { working, _ := engine.Load(); return working }),
		gauge("sandgate_runs_waiting", "Test runs that wait for their turn.", func() int { _, waiting := engine.Load(); return waiting }),
	)
}
