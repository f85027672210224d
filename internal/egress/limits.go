package egress

import "sandgate/sandboxclient"

// Limits are the bounds of what a sandbox may do outside.
func Limits(maxBytes int64) []sandboxclient.Limit {
	held := func(name string, value float64, unit string) sandboxclient.Limit {
		return sandboxclient.Limit{Name: name, Value: value, Unit: unit, Enforced: true, By: "the gateway"}
	}
	return []sandboxclient.Limit{
		held("egressBytes", float64(maxBytes), "bytes per run of a sandbox, both directions"),
		held("egressConnections", maxSandboxConns, "connections per sandbox"),
		held("egressLifetime", lifetime.Seconds(), "seconds per connection"),
		held("egressSilence", idleTime.Seconds(), "seconds per connection"),
	}
}
