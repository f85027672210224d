package runs

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"sandgate/internal/objects"
)

const (
	owner      = "local"
	repository = "https://git.example/you/project.git"
	commit     = "0123456789abcdef0123456789abcdef01234567"
)

// A world is all that is there beside an engine, and outlives it: sandboxes,
// records, objects and the directory of logs. Programs in it are scripts.
type world struct {
	t       *testing.T
	dir     string
	objects *objects.Local

	mu        sync.Mutex
	boxes     map[string]*box
	scripts   map[string]script // by the last words of argv, "npm test" say
	files     map[string]string // below the repository, in every sandbox
	records   map[string]Record
	createErr error
	saveErr   error
	ticks     int // of processor time taken
	busy      int // how many more at each look
	life      int // how often the engine was killed
}

// A script is what a program does: it prints, waits and ends.
type script func(*program)

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	store, err := objects.Open(filepath.Join(dir, "objects"))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, dir: dir, objects: store,
		boxes: make(map[string]*box), records: make(map[string]Record),
		files: map[string]string{"package-lock.json": "{}"},
		scripts: map[string]script{
			"clone":    func(p *program) { p.err("Cloning\n"); p.out("commit " + commit + "\n") },
			"npm ci":   func(p *program) { p.out("added 1 package\n") },
			"npm test": func(p *program) { p.out("ok\n") },
		},
	}
	t.Cleanup(func() {
		w.killAll()
		_ = store.Close()
	})
	return w
}

// engine starts an engine in the world, which is stopped with the test.
func (w *world) engine(change ...func(*Options)) *Engine {
	w.t.Helper()
	v := &view{world: w, life: w.life}
	opts := Options{
		Open:       func(_, id string) Sandbox { return &handle{v, id} },
		Executions: w, Records: v, Retention: v, Objects: v, Egress: w,
		Dir: w.logs(), MaxQueued: 10,
	}
	for _, c := range change {
		c(&opts)
	}
	e, err := New(opts)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := e.Resume(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = e.Close(context.Background()) })
	return e
}

// logs is the directory of the logs in this life.
func (w *world) logs() string { return filepath.Join(w.dir, "runs-"+strconv.Itoa(w.life)) }

// log is the file of a run's log.
func (w *world) log(id string) string { return filepath.Join(w.logs(), id+".log") }

// crash kills the engine: from here on nothing that it does has an effect, and
// the next one finds all as it was at this moment.
func (w *world) crash() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.logs()
	w.life++
	if err := os.CopyFS(w.logs(), os.DirFS(before)); err != nil {
		w.t.Fatal(err)
	}
}

// A view is the world as one engine has it, until it is killed.
type view struct {
	*world
	life int
}

// dead says whether the engine was killed. v.mu is not held.
func (v *view) dead() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.life != v.world.life
}

var errDead = errors.New("this engine was killed")

func (v *view) SaveRun(ctx context.Context, r Record) error {
	if v.dead() {
		return errDead
	}
	return v.world.SaveRun(ctx, r)
}

func (v *view) DeleteRun(ctx context.Context, id string) error {
	if v.dead() {
		return errDead
	}
	return v.world.DeleteRun(ctx, id)
}

func (v *view) Put(ctx context.Context, key string, content io.Reader) (objects.Info, error) {
	if v.dead() {
		return objects.Info{}, errDead
	}
	return v.objects.Put(ctx, key, content)
}

func (v *view) Get(ctx context.Context, key string, offset int64) (io.ReadCloser, objects.Info, error) {
	return v.objects.Get(ctx, key, offset)
}

func (v *view) Delete(ctx context.Context, key string) error { return v.objects.Delete(ctx, key) }

func (v *view) List(ctx context.Context, prefix string) iter.Seq2[objects.Info, error] {
	return v.objects.List(ctx, prefix)
}
