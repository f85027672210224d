package sandboxd

import (
	"net"
	"strings"
	"sync"

	"sandgate/internal/sandboxd/execution"
	"sandgate/sandboxclient/wire"
)

// maxRefusals is how many hosts an execution is told of.
const maxRefusals = 32

// Refusals are connections to the outside that the gateway refused. Which
// execution asked cannot be known, so all that run are told, once for a host.
type refusals struct {
	executions *execution.Registry

	mu   sync.Mutex
	told map[*execution.Execution]map[string]bool
}

func (r *refusals) tell(target string, refusal *wire.Error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.told
	r.told = make(map[*execution.Execution]map[string]bool) // of those that still run
	for _, x := range r.executions.Running() {
		hosts := before[x]
		if hosts == nil {
			hosts = make(map[string]bool)
		}
		r.told[x] = hosts
		tellOnce(x, hosts, hostOf(target), refusal.Message)
	}
}

func tellOnce(x *execution.Execution, told map[string]bool, host, message string) {
	if told[host] || len(told) > maxRefusals {
		return
	}
	told[host] = true
	if len(told) > maxRefusals {
		message = "More connections were refused; nothing more is told of them"
	}
	x.Emit(wire.Event{Type: wire.EventWarning, Code: wire.WarningEgressRefused, Message: message})
}

func hostOf(target string) string {
	if host, _, err := net.SplitHostPort(target); err == nil {
		target = host
	}
	return strings.ToLower(target)
}
