package egress

import "github.com/prometheus/client_golang/prometheus"

// Outcomes of connections, as they are counted.
const (
	outcomeConnected = "connected"
	outcomeRefused   = "refused"   // by the policy, or because of its address
	outcomeExhausted = "exhausted" // too many, or no bytes left
	outcomeFailed    = "failed"    // the target was not reached
)

type metrics struct {
	total *prometheus.CounterVec
	open  prometheus.Gauge
	bytes *prometheus.CounterVec
}

func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sandgate_egress_connections_total",
			Help: "Connections that sandboxes asked for, by app and outcome: connected, refused, exhausted or failed.",
		}, []string{"app", "outcome"}),
		open: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "sandgate_egress_connections_open",
			Help: "Connections from sandboxes to the outside that are open.",
		}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sandgate_egress_bytes_total",
			Help: "Bytes that sandboxes sent to the outside and received from there.",
		}, []string{"app", "direction"}),
	}
	registry.MustRegister(m.total, m.open, m.bytes)
	return m
}
