package identity

import (
	"net/http"
	"net/netip"
	"time"

	"golang.org/x/time/rate"

	"sandgate/internal/recent"
	"sandgate/sandboxclient"
)

const (
	// Burst is how many wrong keys an address may show at once, and tryEvery
	// how long it waits for each further one.
	Burst    = 20
	tryEvery = time.Second
	// maxAddresses bounds the addresses that are counted.
	maxAddresses = 8192
)

// floods counts who shows wrong keys.
type floods struct {
	tries *recent.Map[netip.Prefix, *rate.Limiter]
}

func newFloods() *floods {
	return &floods{recent.New[netip.Prefix, *rate.Limiter](maxAddresses)}
}

// waiting says whether an address has to wait until it may try again.
func (f *floods) waiting(address netip.Prefix) bool {
	tries, ok := f.tries.Get(address)
	return ok && tries.Tokens() < 1
}

// count counts a wrong key.
func (f *floods) count(address netip.Prefix) {
	f.tries.GetOr(address, func() *rate.Limiter { return rate.NewLimiter(rate.Every(tryEvery), Burst) }).Allow()
}

// addressOf is where a request comes from: an address, or the net that one
// household has where addresses are that many.
func addressOf(r *http.Request) netip.Prefix {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Prefix{} // all that have none, together
	}
	address := from.Addr().Unmap()
	bits := 32
	if address.Is6() {
		bits = 64
	}
	net, _ := address.WithZone("").Prefix(bits)
	return net
}

func tooManyTries() error {
	return &sandboxclient.Error{
		Code:       sandboxclient.CodeExhausted,
		Message:    "Too many wrong keys came from your address; try again soon",
		RetryAfter: tryEvery,
	}
}
