package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"sandgate/sandboxclient"
)

// A population tells Prometheus how many sandboxes there are.
type population struct {
	counts         func() (byState map[string]int, pooled int)
	states, pooled *prometheus.Desc
}

func newPopulation(client *sandboxclient.Client) population {
	return population{
		counts: client.Counts,
		states: prometheus.NewDesc("sandgate_sandboxes", "Sandboxes that take memory, by state: starting, running or stopping.", []string{"state"}, nil),
		pooled: prometheus.NewDesc("sandgate_sandboxes_pooled", "Those of the running ones that wait, warm, for who comes next.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (p population) Describe(descs chan<- *prometheus.Desc) {
	descs <- p.states
	descs <- p.pooled
}

// Collect implements prometheus.Collector.
func (p population) Collect(metrics chan<- prometheus.Metric) {
	byState, pooled := p.counts()
	for state, n := range byState {
		metrics <- prometheus.MustNewConstMetric(p.states, prometheus.GaugeValue, float64(n), state)
	}
	metrics <- prometheus.MustNewConstMetric(p.pooled, prometheus.GaugeValue, float64(pooled))
}
