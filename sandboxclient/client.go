package sandboxclient

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"sandgate/sandboxclient/wire"
)

// Records keeps what was promised about sandboxes across restarts of the
// gateway. Methods may be called from many goroutines.
type Records interface {
	// SaveSandbox inserts a record or replaces the one with its id, of which
	// CreatedAt stays.
	SaveSandbox(ctx context.Context, r Record) error
	// ListSandboxes gives the records that are meant, in no order.
	ListSandboxes(ctx context.Context, which Which) ([]Record, error)
	// DeleteSandbox forgets a sandbox with its generations; unknown is no error.
	DeleteSandbox(ctx context.Context, id ID) error
	// Generation counts the kernels that a sandbox's code context ever had;
	// with started it counts one more first. Zero: none yet.
	Generation(ctx context.Context, id ID, codeContext string, started bool) (int, error)
}

// Which says what records are meant: that of an id, those of an owner, or all. Not
// more than one field is set.
type Which struct {
	ID    ID
	Owner string
}

// Options says how a Client works. Driver, Records and Key are required.
type Options struct {
	Driver  Driver
	Records Records
	Key     []byte // what ids are derived with; losing it orphans every workspace

	SleepAfter     time.Duration // idle time after which a sandbox sleeps, or ends; 0: 10 minutes
	Retention      time.Duration // unused for so long, a sandbox is destroyed; 0: never
	StayAwake      bool          // processes in the background keep a sandbox from sleeping
	StartTimeout   time.Duration // for a sandbox to answer; 0: 30 seconds
	DefaultTimeout time.Duration // of cells and commands; 0: 60 seconds
	MaxTimeout     time.Duration // the ceiling; 0: 1 hour
	Output         wire.Output   // zero fields: keep 10 MiB, bear 1 GiB
	Limits         Limits        // zero: DefaultLimits
	// AppLimits are those of the sandboxes of some apps, in place of Limits, and
	// AppTimeouts the ceilings of what runs there, in place of MaxTimeout.
	AppLimits   map[string]Limits
	AppTimeouts map[string]time.Duration
	MaxRunning  int // sandboxes at the same time; 0: 100
	// MaxMemory bounds what all that run use together; 0: what their limits allow.
	MaxMemory   int64
	MaxExisting int // sandboxes with a workspace, running or not; 0: 10,000
	// Share says how much of that one owner may have; nil: all of it. The owner of
	// what runs warm for who comes next is "".
	Share      func(owner string) Share
	QueueTime  time.Duration // how long a start waits for its turn; 0: 10 seconds
	ContextEnv map[string]string
	Warmth     Warmth
	Pool       int    // sandboxes that run warm for who comes next
	Egress     Egress // nil: no sandbox reaches anything outside

	// Wanted says of an ephemeral sandbox that an earlier gateway left whether
	// somebody will go on with what runs in it; nil: nobody will, of none.
	Wanted func(Ref) bool

	Logger *slog.Logger
	// Observe is told of every operation's outcome; code is "" for success.
	Observe func(op string, code Code, took time.Duration)
}

func (o Options) withDefaults() Options {
	o.SleepAfter = orDefault(o.SleepAfter, 10*time.Minute)
	o.StartTimeout = orDefault(o.StartTimeout, 30*time.Second)
	o.DefaultTimeout = orDefault(o.DefaultTimeout, time.Minute)
	o.MaxTimeout = orDefault(o.MaxTimeout, time.Hour)
	o.Output.Keep = orDefault(o.Output.Keep, 10<<20)
	o.Output.Max = orDefault(o.Output.Max, 1<<30)
	o.MaxRunning = orDefault(o.MaxRunning, 100)
	o.MaxExisting = orDefault(o.MaxExisting, 10_000)
	o.QueueTime = orDefault(o.QueueTime, 10*time.Second)
	if o.Share == nil {
		o.Share = func(string) Share { return Share{} }
	}
	o.Limits = orDefault(o.Limits, DefaultLimits())
	if o.Wanted == nil {
		o.Wanted = func(Ref) bool { return false }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Observe == nil {
		o.Observe = func(string, Code, time.Duration) {}
	}
	return o
}

// ceiling gives the most that something may run in an app's sandboxes.
func (o Options) ceiling(app string) time.Duration {
	if timeout, ok := o.AppTimeouts[app]; ok {
		return timeout
	}
	return o.MaxTimeout
}

// limitsOf gives the limits of an app's sandboxes.
func (o Options) limitsOf(app string) Limits {
	if limits, ok := o.AppLimits[app]; ok {
		return limits
	}
	return o.Limits
}

func orDefault[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}

// Client gives handles to sandboxes and keeps track of those that run.
type Client struct {
	opts Options

	// The powers that the driver has; nil: it lacks one.
	describer  Describer
	roomer     Roomer
	syncer     Syncer
	egresser   Egresser
	gauge      Gauge
	hibernator Hibernator
	templater  Templater
	assigner   Assigner

	executions executions
	arrivals   arrivals

	census     *census
	gate       gate
	looking    chan struct{} // holds one while somebody looks for a sandbox that makes room
	refill     chan struct{} // holds one when the pool lacks a sandbox
	retirement retirement

	mu      sync.Mutex
	lives   map[ID]*lifecycle // those that run, start or end
	seen    map[ID]bool       // those that did so since the reconciliation under way began; nil: there is none
	closing bool
}

// New makes a client. It does no I/O: call Adopt before the first operation,
// and run Reap beside them.
func New(opts Options) *Client {
	opts = opts.withDefaults()
	opts.Records = newCountedRecords(opts.Records)
	describer, _ := opts.Driver.(Describer)
	roomer, _ := opts.Driver.(Roomer)
	syncer, _ := opts.Driver.(Syncer)
	egresser, _ := opts.Driver.(Egresser)
	gauge, _ := opts.Driver.(Gauge)
	hibernator, _ := opts.Driver.(Hibernator)
	templater, _ := opts.Driver.(Templater)
	assigner, _ := opts.Driver.(Assigner)
	if hibernator == nil || !hibernator.CanHibernate() {
		hibernator, templater, assigner = nil, nil, nil
	}
	return &Client{
		opts:      opts,
		describer: describer, roomer: roomer, syncer: syncer, egresser: egresser, gauge: gauge,
		hibernator: hibernator, templater: templater, assigner: assigner,
		census: newCensus(opts), looking: make(chan struct{}, 1), refill: make(chan struct{}, 1),
		lives: make(map[ID]*lifecycle),
	}
}

// Sandbox gives a handle. It does no I/O: the first operation finds or creates
// the sandbox.
func (c *Client) Sandbox(ref Ref) *Sandbox {
	return &Sandbox{client: c, id: DeriveID(c.opts.Key, ref), ref: ref}
}

// Sandbox is a handle on one sandbox. It holds nothing and needs no closing.
type Sandbox struct {
	client *Client
	id     ID
	ref    Ref
}

// ID is the sandbox's id.
func (s *Sandbox) ID() ID { return s.id }
