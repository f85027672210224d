package quota

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"sandgate/internal/identity"
	"sandgate/internal/recent"
	"sandgate/sandboxclient"
)

// maxAccounts bounds the owners whose requests are counted; who has something at
// work is counted however many they are.
const maxAccounts = 10_000

// lookUpTime is how long whoever stands on an account waits for its class.
const lookUpTime = time.Second

// A LookUp gives the class of an owner that has sent nothing yet: sandboxes and
// runs may be older than the book.
type LookUp func(ctx context.Context, owner string) (class string, err error)

// A Book keeps the accounts of owners.
type Book struct {
	classes  Classes
	lookUp   LookUp
	accounts *recent.Map[string, *account]
	refused  *prometheus.CounterVec

	mu         sync.Mutex
	executions map[string]int // at work, by owner; no entry for those without any
}

// An account is what the book knows of one owner.
type account struct {
	mu       sync.Mutex
	class    string        // of the key that was used last
	known    bool          // the class is; until then it is the default one
	requests *rate.Limiter // at the rate of the class; nil: of none that has one
}

// NewBook makes a book of classes that tells its registry what it refuses. Where
// nobody looks up, all that have sent nothing yet are of the default class.
func NewBook(classes Classes, lookUp LookUp, registry prometheus.Registerer) *Book {
	b := &Book{
		classes:  classes,
		lookUp:   lookUp,
		accounts: recent.New[string, *account](maxAccounts),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sandgate_quota_refused_total",
			Help: "What owners were refused because they had as much as they may, by class and limit.",
		}, []string{"class", "limit"}),
		executions: map[string]int{},
	}
	registry.MustRegister(b.refused)
	return b
}

// account gives an owner's, as a member of the class that it was seen in last.
func (b *Book) account(owner string) *account {
	return b.accounts.GetOr(owner, func() *account { return &account{} })
}

// limits gives those of an owner, and its class.
func (b *Book) limits(owner string) (Limits, string) {
	class := b.classOf(owner)
	if _, ok := b.classes[class]; !ok {
		class = Default
	}
	return b.classes.of(class), class
}

// classOf gives the class of an owner. What could not be looked up is looked up
// again by the next who asks.
func (b *Book) classOf(owner string) string {
	a := b.account(owner)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known || b.lookUp == nil {
		return a.class
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookUpTime)
	defer cancel()
	if class, err := b.lookUp(ctx, owner); err == nil {
		a.class, a.known = class, true
	}
	return a.class
}

// Take counts one request of somebody, says in the header of the answer what is
// left, and refuses it when it came too fast.
func (b *Book) Take(id identity.Identity, header http.Header) error {
	a := b.account(id.Account())
	a.mu.Lock()
	a.class, a.known = id.Class, true
	a.mu.Unlock()
	return b.take(a, id.Class, header)
}

// TakeFor is Take for a request on an owner's account that shows no key: the
// account stays one of the class that it was seen in last.
func (b *Book) TakeFor(owner string, header http.Header) error {
	return b.take(b.account(owner), b.classOf(owner), header)
}

func (b *Book) take(a *account, class string, header http.Header) error {
	limits := b.classes.of(class)
	if limits.Rate == 0 {
		return nil
	}
	requests := a.pace(limits)
	allowed := requests.Allow()
	tokens := requests.Tokens()
	left := max(0, tokens)
	header.Set("RateLimit-Limit", strconv.Itoa(limits.Burst))
	header.Set("RateLimit-Remaining", strconv.Itoa(int(left)))
	header.Set("RateLimit-Reset", strconv.Itoa(int(math.Ceil((float64(limits.Burst)-left)/limits.Rate))))
	if allowed {
		return nil
	}
	wait := time.Duration((1 - tokens) / limits.Rate * float64(time.Second))
	wait = max(wait, time.Millisecond) // the next token may have come by now
	return b.refuse(a, "rate", wait, "You send more than %v requests a second, the most you may", limits.Rate)
}

// pace gives an account the rate of its class. What was used up stays so: nobody
// gets requests by using two keys of different classes in turn.
func (a *account) pace(limits Limits) *rate.Limiter {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch pace := rate.Limit(limits.Rate); {
	case a.requests == nil:
		a.requests = rate.NewLimiter(pace, limits.Burst)
	case a.requests.Limit() != pace || a.requests.Burst() != limits.Burst:
		a.requests.SetBurst(limits.Burst)
		a.requests.SetLimit(pace)
	}
	return a.requests
}

// Begin counts an execution of an owner that begins; the function it gives
// tells of its end.
func (b *Book) Begin(owner string) (end func(), err error) {
	limits, _ := b.limits(owner)
	b.mu.Lock()
	defer b.mu.Unlock()
	if has := b.executions[owner]; limits.Executions > 0 && has >= limits.Executions {
		return nil, b.refuse(b.account(owner), "executions", time.Second, "As many runs and cells of yours are at work already as may be, %d: wait for one to end, or cancel one", has)
	}
	b.executions[owner]++
	return sync.OnceFunc(func() { b.end(owner) }), nil
}

// end counts an execution of an owner less.
func (b *Book) end(owner string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.executions[owner]--; b.executions[owner] == 0 {
		delete(b.executions, owner)
	}
}

// Runs refuses an owner who has that many test runs one more, if need be.
func (b *Book) Runs(owner string, has int) error {
	if limits, _ := b.limits(owner); limits.Runs == 0 || has < limits.Runs {
		return nil
	}
	return b.refuse(b.account(owner), "runs", 5*time.Second, "As many test runs of yours have not ended as may be, %d: wait for one to end, or cancel one", has)
}

// ObjectRoom is how many bytes more an owner may keep who keeps that many in
// backups and of test runs; as many as there are when nothing bounds them.
func (b *Book) ObjectRoom(owner string, has int64) int64 {
	limits, _ := b.limits(owner)
	if limits.Objects == 0 {
		return math.MaxInt64
	}
	return max(limits.Objects-has, 0)
}

// NoObjectRoom refuses an owner what does not fit beside what it keeps.
func (b *Book) NoObjectRoom(owner string) error {
	limits, class := b.limits(owner)
	b.refused.WithLabelValues(class, "objects").Inc()
	return sandboxclient.Errorf(sandboxclient.CodeNoSpace,
		"Your backups and what your test runs left may fill %s, and there is no room for more: delete backups, or wait until runs are forgotten",
		humanize.IBytes(uint64(limits.Objects)))
}

// Limited says whether some class bounds what is counted in the database.
func (b *Book) Limited(by func(Limits) bool) bool {
	for _, limits := range b.classes {
		if by(limits) {
			return true
		}
	}
	return false
}

// Share is what of the gateway's sandboxes an owner may have. Those of nobody are
// the gateway's own: it bounds how many run warm.
func (b *Book) Share(owner string) sandboxclient.Share {
	if owner == "" {
		return sandboxclient.Share{}
	}
	limits, class := b.limits(owner)
	return sandboxclient.Share{
		Existing: limits.Sandboxes, Running: limits.Running, DiskBytes: limits.Disk,
		Refused: func(limit string) { b.refused.WithLabelValues(class, limit).Inc() },
	}
}

// refuse counts and words a refusal.
func (b *Book) refuse(a *account, limit string, retry time.Duration, format string, args ...any) error {
	a.mu.Lock()
	class := a.class
	a.mu.Unlock()
	if _, ok := b.classes[class]; !ok {
		class = Default
	}
	b.refused.WithLabelValues(class, limit).Inc()
	e := sandboxclient.Errorf(sandboxclient.CodeExhausted, format, args...)
	e.RetryAfter = retry
	return e
}
