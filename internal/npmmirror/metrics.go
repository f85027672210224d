package npmmirror

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	requests *prometheus.CounterVec
}

func newMetrics(registry prometheus.Registerer, d *disk) *metrics {
	m := &metrics{requests: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "sandgate_npm_requests_total",
		Help: "Requests of npm in sandboxes by outcome: hit, miss, revalidated, stale or failed.",
	}, []string{"outcome"})}
	registry.MustRegister(m.requests, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "sandgate_npm_cache_bytes",
		Help: "Size of the cache of npm packages.",
	}, func() float64 { return float64(d.size()) }))
	return m
}

func (m *metrics) count(outcome string) { m.requests.WithLabelValues(outcome).Inc() }
