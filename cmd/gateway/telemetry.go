package main

import (
	"io"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"sandgate/sandboxclient"
)

// newLogger makes the log in the form and from the level that are asked for.
// The configuration was checked: an unknown level is info.
func newLogger(cfg Config, w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(cfg.LogLevel))
	opts := &slog.HandlerOptions{Level: level}
	if cfg.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}

func newRegistry() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return registry
}

// operations counts what is asked of sandboxes.
type operations struct {
	total    *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

func newOperations(registry prometheus.Registerer) *operations {
	o := &operations{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sandgate_operations_total",
			Help: "Operations on sandboxes that have ended, by name and outcome: ok or the error's code.",
		}, []string{"op", "outcome"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "sandgate_operation_duration_seconds",
			Help:    "Time of operations on sandboxes, the start of the sandbox included.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300},
		}, []string{"op"}),
	}
	registry.MustRegister(o.total, o.duration)
	return o
}

func (o *operations) observe(op string, code sandboxclient.Code, took time.Duration) {
	outcome := "ok"
	if code != "" {
		outcome = string(code)
	}
	o.total.WithLabelValues(op, outcome).Inc()
	o.duration.WithLabelValues(op).Observe(took.Seconds())
}
