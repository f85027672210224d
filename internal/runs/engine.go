package runs

import (
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/uuid"

	"sandgate/internal/objects"
	"sandgate/internal/runlog"
	"sandgate/sandboxclient"
)

// App is the name under which the sandboxes of runs belong to an owner.
const App = "testrunner"

// A Sandbox is what a run needs of its own sandbox. The first operation starts
// it; after Destroy nothing of it is left.
type Sandbox interface {
	Workspace
	ExecStream(ctx context.Context, cmd sandboxclient.Command) iter.Seq2[sandboxclient.Event, error]
	// Running says, without starting it, whether the sandbox runs.
	Running() bool
	Destroy(ctx context.Context, workspace sandboxclient.Workspace) error
}

// A Workspace is what is read and made in a run's /workspace.
type Workspace interface {
	MakeDir(ctx context.Context, path string) (sandboxclient.FileInfo, error)
	Stat(ctx context.Context, path string) (sandboxclient.FileInfo, error)
	ReadFile(ctx context.Context, path string, opts sandboxclient.ReadOptions) (*sandboxclient.File, error)
}

// Executions are those of all sandboxes; a run steers its own phases by them.
type Executions interface {
	Execution(ctx context.Context, owner, id string) (sandboxclient.Execution, error)
	FollowExecution(ctx context.Context, owner, id string, after int64) iter.Seq2[sandboxclient.Event, error]
	CancelExecution(ctx context.Context, owner, id string) error
}

// Objects keep the logs and artifacts of runs that have ended.
type Objects interface {
	Put(ctx context.Context, key string, content io.Reader) (objects.Info, error)
	Get(ctx context.Context, key string, offset int64) (io.ReadCloser, objects.Info, error)
	Delete(ctx context.Context, key string) error
	List(ctx context.Context, prefix string) iter.Seq2[objects.Info, error]
}

// Egress says what a run's sandbox may reach.
type Egress interface {
	// Permits refuses, with a forbidden that names the flag, what App may not reach.
	Permits(app, host string, port int) error
	// PrivateAllowed says whether an address in the house is allowed by name.
	PrivateAllowed(host string, port int) bool
}

// Options say how an Engine works. Those of the first group are required.
type Options struct {
	Open       func(owner, id string) Sandbox
	Executions Executions
	Records    Records
	Retention  Retention
	Objects    Objects
	Egress     Egress
	Backups    Backups // nil: none are kept
	Dir        string  // of the logs of runs that have not ended
	Quota      Quota   // nil: owners may keep all there is

	MaxRuns      int           // at work at once; 0: 2
	MaxQueued    int           // waiting for their turn; less than 0: none
	Timeout      time.Duration // of a run that asks for none; 0: 15 minutes
	MaxTimeout   time.Duration // 0: an hour
	Keep         int64         // bytes of output that a run's log keeps; 0: 128 MiB
	MaxArtifacts int64         // bytes of a run's artifacts; 0: 256 MiB
	KeepFor      time.Duration // how long an ended run is kept; 0: a week
	ExitGrace    time.Duration // for a program to end once it printed its summary; 0: 30 seconds

	Logger *slog.Logger
	// Observe is told of every run's end.
	Observe func(status, phase string, took time.Duration)
}

func (o Options) withDefaults() Options {
	o.MaxRuns = orDefault(o.MaxRuns, 2)
	o.MaxQueued = max(o.MaxQueued, 0)
	o.Timeout = orDefault(o.Timeout, 15*time.Minute)
	o.MaxTimeout = orDefault(o.MaxTimeout, time.Hour)
	o.Keep = orDefault(o.Keep, 128<<20)
	o.MaxArtifacts = orDefault(o.MaxArtifacts, 256<<20)
	o.KeepFor = orDefault(o.KeepFor, 7*24*time.Hour)
	o.ExitGrace = orDefault(o.ExitGrace, 30*time.Second)
	if o.Quota == nil {
		o.Quota = unbounded{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Observe == nil {
		o.Observe = func(string, string, time.Duration) {}
	}
	return o
}

func orDefault[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}

// Engine runs tests. Its methods may be called from many goroutines.
type Engine struct {
	opts  Options
	turns *turns
	ctx   context.Context // ends, with its cause, when the engine stops
	stop  context.CancelCauseFunc
	work  sync.WaitGroup // the goroutines of runs

	mu   sync.Mutex
	runs map[string]*run // those that have not ended, or are not yet put away
}

// errStopping is the cause with which runs end when the gateway stops.
var errStopping = &sandboxclient.Error{
	Code: sandboxclient.CodeUnavailable, Message: "The gateway stopped while this ran", RetryAfter: 5 * time.Second,
}

// New makes an engine. Call Resume before the first Start, run Reap beside it,
// and Close it in the end.
func New(opts Options) (*Engine, error) {
	opts = opts.withDefaults()
	if err := os.MkdirAll(opts.Dir, 0o700); err != nil {
		return nil, err
	}
	e := &Engine{opts: opts, turns: newTurns(opts.MaxRuns, opts.MaxQueued), runs: make(map[string]*run)}
	e.ctx, e.stop = context.WithCancelCause(context.Background())
	return e, nil
}

// Start takes a run on and gives its summary at once. What no run could do
// anything with is invalid, what it may not reach forbidden, and no_space what
// nothing could be kept of; when too many wait already, it is exhausted.
func (e *Engine) Start(ctx context.Context, owner string, req Request) (Summary, error) {
	source, err := e.checkout(req)
	if err == nil {
		err = e.findBackup(ctx, owner, req)
	}
	if err == nil {
		err = e.checkRoom(ctx, owner)
	}
	if err != nil {
		return Summary{}, err
	}
	if e.ctx.Err() != nil {
		return Summary{}, errStopping
	}
	turn := e.turns.join()
	if turn == nil {
		return Summary{}, e.full()
	}
	r, err := e.begin(ctx, owner, req, source)
	if err != nil {
		turn.leave()
		return Summary{}, err
	}
	summary := r.summary
	if err := e.launch(r, func() { r.toTheEnd(turn) }); err != nil {
		turn.leave()
		return Summary{}, errors.Join(err, e.withdraw(r))
	}
	return summary, nil
}

func (e *Engine) full() error {
	_, waiting := e.turns.load()
	err := sandboxclient.Errorf(sandboxclient.CodeExhausted, "%d runs wait for their turn already, the most that may; try again later", waiting)
	err.RetryAfter = 30 * time.Second
	return err
}

// begin makes a run's log and record.
func (e *Engine) begin(ctx context.Context, owner string, req Request, source sandboxclient.Checkout) (*run, error) {
	id := uuid.NewString()
	log, err := runlog.Create(e.logPath(id))
	if err != nil {
		return nil, storageError(err)
	}
	r := e.newRun(owner, id, log)
	r.source = source
	r.promise = newPromise(req, e.timeout(req.Timeout))
	r.summary = Summary{
		ID: id, Repository: source.Public(), Restored: req.Restore, Ref: req.Ref, Command: orDefault(req.Command, DefaultCommand), OwnCommand: req.Command != "",
		Status: StatusQueued, CreatedAt: now(), Artifacts: []Artifact{},
	}
	err = r.tellStart()
	if err == nil {
		err = r.save(ctx)
	}
	if err != nil { // and yet a record may be there, when the visitor left meanwhile
		return nil, errors.Join(err, e.withdraw(r))
	}
	return r, nil
}

// withdraw takes back a run of which nobody was told.
func (e *Engine) withdraw(r *run) error {
	r.end(nil)
	ctx, cancel := context.WithTimeout(context.Background(), saveTime)
	defer cancel()
	return errors.Join(e.opts.Retention.DeleteRun(ctx, r.id), r.events.Close(), os.Remove(e.logPath(r.id)))
}

// launch gives a run its goroutine, which ends with the work, and the work with
// the run or with the engine. An engine that has stopped launches nothing.
func (e *Engine) launch(r *run, work func()) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ctx.Err() != nil {
		return errStopping
	}
	e.runs[r.id] = r
	e.work.Go(func() {
		defer e.forget(r)
		work()
	})
	return nil
}

// forget lets go of a run that is put away, or cannot be.
func (e *Engine) forget(r *run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.runs, r.id)
	if err := r.events.Close(); err != nil {
		e.opts.Logger.Error("log of a run was not closed", "run", r.id, "error", err)
	}
}

// Close ends the runs that work with an error that says so, and leaves those
// that wait for the next gateway. It waits no longer than ctx.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	e.stop(errStopping)
	e.mu.Unlock()
	ended := make(chan struct{})
	go func() { // ends with the runs, of which each has its bounds
		e.work.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return errors.New("runs are still ending")
	}
}

// Load counts the runs at work and those that wait.
func (e *Engine) Load() (working, waiting int) { return e.turns.load() }

func (e *Engine) timeout(asked time.Duration) time.Duration {
	return min(orDefault(asked, e.opts.Timeout), e.opts.MaxTimeout)
}

func (e *Engine) logPath(id string) string { return filepath.Join(e.opts.Dir, id+".log") }

// active gives an owner's run that is not put away yet, else nil.
func (e *Engine) active(owner, id string) *run {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.runs[id]
	if r == nil || r.owner != owner {
		return nil
	}
	return r
}

// works says whether a run is not put away yet, whoever's it is.
func (e *Engine) works(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.runs[id] != nil
}

// now is the time as the database keeps it.
func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }
