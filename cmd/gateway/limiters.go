package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"sandgate/internal/httpapi"
)

// A kind of route says with whom its requests compete for a slot.
type kind string

// What routes do. Watchers cannot keep anybody from working, and a house full
// of work can still be cleared.
const (
	working  kind = "work"  // keeps a sandbox busy
	steering kind = "steer" // short: looks at work, or ends it
	viewing  kind = "view"  // follows the events of an execution, for as long as that lasts
	entering kind = "enter" // for whoever asks: signs a browser in or out
	visiting kind = "visit" // for whoever asks: follows a link that was shared, for as long as it goes on, in a turn of the one who shared
)

// limiters bound how many requests of each kind are answered at once.
type limiters map[kind]*httpapi.Limiter

func newLimiters(cfg Config, registry prometheus.Registerer) limiters {
	all := limiters{}
	for kind, most := range map[kind]int{
		working:  cfg.MaxRequests,
		steering: cfg.MaxRequests,
		viewing:  cfg.MaxViewers,
		entering: cfg.MaxRequests,
		visiting: cfg.MaxRequests,
	} {
		each := cfg.ofEach(most)
		if kind == entering { // nobody is known yet, so there are no others to leave something for
			each = most
		}
		all[kind] = httpapi.NewLimiter(httpapi.LimiterOptions{
			Kind: string(kind), Most: most, Each: each, Wait: cfg.QueueTime, Registry: registry,
		})
	}
	return all
}

// ofEach is how many of all places one owner may hold, where there are several:
// something is left for the others.
func (c Config) ofEach(all int) int {
	if c.Auth == authNone {
		return all
	}
	return max(1, all-max(1, all/8))
}
