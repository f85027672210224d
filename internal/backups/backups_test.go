package backups_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sandgate/internal/backups"
	"sandgate/internal/objects"
	"sandgate/internal/sandboxtest"
	"sandgate/internal/store"
	"sandgate/sandboxclient"
)

func TestMain(m *testing.M) { os.Exit(sandboxtest.Main(m)) }

// A shop is an engine with all that it works on.
type shop struct {
	*backups.Engine
	t       *testing.T
	client  *sandboxclient.Client
	records *store.Store
	objects *objects.Local
	dir     string // of the objects
}

func openShop(t *testing.T, change ...func(*backups.Options)) shop {
	t.Helper()
	s := shop{t: t, client: sandboxtest.Client(t), dir: filepath.Join(t.TempDir(), "objects")}
	var err error
	if s.records, err = store.Open(t.Context(), filepath.Join(t.TempDir(), "db")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.records.Close() })
	if s.objects, err = objects.Open(s.dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.objects.Close() })
	opts := backups.Options{
		Open:    func(ref sandboxclient.Ref) backups.Sandbox { return s.client.Sandbox(ref) },
		Records: s.records, Retention: s.records, Objects: s.objects,
	}
	for _, c := range change {
		c(&opts)
	}
	s.Engine = backups.New(opts)
	return s
}

var (
	adas = sandboxclient.Ref{Owner: "ada", App: "files", Name: "files"}
	bobs = sandboxclient.Ref{Owner: "bob", App: "files", Name: "files"}
)

func (s shop) write(ref sandboxclient.Ref, path, content string) {
	s.t.Helper()
	if _, err := s.client.Sandbox(ref).WriteFile(s.t.Context(), path, strings.NewReader(content), sandboxclient.WriteOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

func (s shop) wantFile(ref sandboxclient.Ref, path, want string) {
	s.t.Helper()
	f, err := s.client.Sandbox(ref).ReadFile(s.t.Context(), path, sandboxclient.ReadOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Body.Close()
	if got, err := io.ReadAll(f.Body); err != nil || string(got) != want {
		s.t.Errorf("%s is %q, %v; want %q", path, got, err, want)
	}
}

func (s shop) create(ref sandboxclient.Ref, req backups.Request) backups.Backup {
	s.t.Helper()
	b, err := s.Create(s.t.Context(), ref, req, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return b
}

func (s shop) wantObjects(want int) {
	s.t.Helper()
	n := 0
	for _, err := range s.objects.List(s.t.Context(), "") {
		if err != nil {
			s.t.Fatal(err)
		}
		n++
	}
	if n != want {
		s.t.Errorf("%d objects, want %d", n, want)
	}
}

func wantCode(t *testing.T, err error, code sandboxclient.Code) {
	t.Helper()
	if err == nil || sandboxclient.CodeOf(err) != code {
		t.Errorf("got error %v, want %s", err, code)
	}
}

func TestCreateAndRestore(t *testing.T) {
	s := openShop(t)
	s.write(adas, "app/file", "first")
	var told int
	b, err := s.Create(t.Context(), adas, backups.Request{Dir: "app", Label: "one"}, func(done, _ int64) { told++ })
	if err != nil || told == 0 {
		t.Fatalf("%v, told %d times", err, told)
	}
	if b.Owner != "ada" || b.Dir != "/workspace/app" || b.Files != 1 || b.Content != 5 || b.ExpiresAt.Sub(b.CreatedAt) != backups.DefaultTTL {
		t.Errorf("%+v", b)
	}
	s.write(adas, "app/file", "second")
	restored, err := s.Restore(t.Context(), b.ID, adas, "", nil)
	if err != nil || restored.Dir != "/workspace/app" || restored.Files != 1 {
		t.Fatalf("%+v, %v", restored, err)
	}
	s.wantFile(adas, "app/file", "first")
	if _, err := s.Restore(t.Context(), b.ID, adas, "other/place", nil); err != nil {
		t.Fatal(err)
	}
	s.wantFile(adas, "other/place/file", "first")
	_, err = s.Restore(t.Context(), b.ID, bobs, "", nil)
	wantCode(t, err, sandboxclient.CodeNotFound)
	wantCode(t, s.Delete(t.Context(), "bob", b.ID), sandboxclient.CodeNotFound)
	s.wantObjects(1)
	if err := s.Delete(t.Context(), "ada", b.ID); err != nil {
		t.Fatal(err)
	}
	s.wantObjects(0)
}

// What is not the archive that was stored is not restored, and nothing changes.
func TestRestore_damaged(t *testing.T) {
	s := openShop(t)
	s.write(adas, "app/file", "packed")
	b := s.create(adas, backups.Request{Dir: "app"})
	s.write(adas, "app/file", "what was")
	object := filepath.Join(s.dir, "backups", b.ID)
	whole, err := os.ReadFile(object)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 1
	for name, content := range map[string][]byte{
		"flipped": flipped, "cut": whole[:len(whole)-1], "longer": append(bytes.Clone(whole), 0), "empty": {}, "gone": nil,
	} {
		if err := os.Remove(object); err != nil {
			t.Fatal(err)
		}
		if content != nil {
			if err := os.WriteFile(object, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := s.Restore(t.Context(), b.ID, adas, "", nil)
		if err == nil {
			t.Errorf("%s: was restored", name)
		}
		if says := err != nil && strings.Contains(err.Error(), "is gone"); says != (content == nil) {
			t.Errorf("%s: %v", name, err)
		}
		s.wantFile(adas, "app/file", "what was")
		if err := os.WriteFile(object, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A reader is a sandbox that takes all that comes for an archive.
type reader struct{ backups.Sandbox }

func (r reader) Restore(_ context.Context, _ string, body io.Reader, _ sandboxclient.RestoreOptions) (sandboxclient.Restored, error) {
	_, err := io.Copy(io.Discard, body)
	return sandboxclient.Restored{}, err
}

// Whoever restores cannot do anything about the length of what was stored.
func TestRestore_saysWhatIsDamaged(t *testing.T) {
	s := openShop(t, func(o *backups.Options) {
		open := o.Open
		o.Open = func(ref sandboxclient.Ref) backups.Sandbox { return reader{open(ref)} }
	})
	s.write(adas, "file", "x")
	b := s.create(adas, backups.Request{})
	for name, size := range map[string]int64{"longer": b.Size - 1, "shorter": b.Size + 1} {
		changed := b
		changed.ID, changed.Size = name, size
		if err := s.records.SaveBackup(t.Context(), changed); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(filepath.Join(s.dir, "backups", b.ID), filepath.Join(s.dir, "backups", name)); err != nil {
			t.Fatal(err)
		}
		_, err := s.Restore(t.Context(), name, adas, "", nil)
		wantCode(t, err, sandboxclient.CodeBadGateway)
	}
	if _, err := s.Restore(t.Context(), b.ID, adas, "", nil); err != nil {
		t.Error(err)
	}
}

func TestCreate_leavesNothingOfWhatFails(t *testing.T) {
	s := openShop(t, func(o *backups.Options) { o.MaxBytes = 1000 })
	s.write(adas, "large", strings.Repeat("0123456789abcdef", 10)+string(noise(100_000)))
	_, err := s.Create(t.Context(), adas, backups.Request{}, nil)
	wantCode(t, err, sandboxclient.CodeTooLarge)
	_, err = s.Create(t.Context(), adas, backups.Request{Dir: "missing"}, nil)
	wantCode(t, err, sandboxclient.CodeNotFound)
	_, err = s.Create(t.Context(), adas, backups.Request{Dir: "../x"}, nil)
	wantCode(t, err, sandboxclient.CodeInvalid)
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := s.Create(ended, adas, backups.Request{}, nil); err == nil {
		t.Error("made for nobody")
	}
	s.wantObjects(0)
	if list, _, err := s.List(t.Context(), "ada", backups.Filter{}, 10); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

func noise(n int) []byte {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

func TestExpire(t *testing.T) {
	s := openShop(t)
	s.write(adas, "file", "x")
	short := s.create(adas, backups.Request{TTL: time.Second})
	long := s.create(adas, backups.Request{TTL: time.Hour})
	wait := time.NewTimer(time.Until(short.ExpiresAt))
	<-wait.C
	_, err := s.Restore(t.Context(), short.ID, adas, "", nil)
	wantCode(t, err, sandboxclient.CodeNotFound)
	s.Expire(t.Context())
	s.wantObjects(1)
	if _, err := s.Get(t.Context(), "ada", short.ID); !errors.Is(err, backups.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if _, err := s.Get(t.Context(), "ada", long.ID); err != nil {
		t.Error(err)
	}
}

// A beside lists one more backup than there are: its owner has deleted it meanwhile.
type beside struct{ backups.Retention }

func (b beside) ExpiredBackups(ctx context.Context, before time.Time, limit int) ([]backups.Backup, error) {
	expired, err := b.Retention.ExpiredBackups(ctx, before, limit)
	return append([]backups.Backup{{ID: "deleted", Owner: "ada"}}, expired...), err
}

func TestExpire_besideADelete(t *testing.T) {
	s := openShop(t, func(o *backups.Options) { o.Retention = beside{o.Retention} })
	past := time.Now().Add(-time.Hour)
	if err := s.records.SaveBackup(t.Context(), backups.Backup{ID: "old", Owner: "ada", CreatedAt: past, ExpiresAt: past}); err != nil {
		t.Fatal(err)
	}
	s.Expire(t.Context())
	if _, err := s.Get(t.Context(), "ada", "old"); !errors.Is(err, backups.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

// A patient fails when it is asked to delete for ever.
type patient struct{ backups.Objects }

func (p patient) Delete(ctx context.Context, key string) error {
	if _, bounded := ctx.Deadline(); !bounded {
		return errors.New("for ever")
	}
	return p.Objects.Delete(ctx, key)
}

func TestDelete_isBounded(t *testing.T) {
	s := openShop(t, func(o *backups.Options) { o.Objects = patient{o.Objects} })
	if err := s.records.SaveBackup(t.Context(), backups.Backup{ID: "b", Owner: "ada"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), "ada", "b"); err != nil {
		t.Error(err)
	}
}

// Objects without a record go, and records without an object.
func TestReconcile(t *testing.T) {
	s := openShop(t)
	s.write(adas, "file", "x")
	kept := s.create(adas, backups.Request{})
	if _, err := s.objects.Put(t.Context(), "backups/orphan", strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.objects.Put(t.Context(), "runs/1/log", strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	lost := kept
	lost.ID, lost.CreatedAt = "lost", kept.CreatedAt.Add(-2*time.Hour)
	if err := s.records.SaveBackup(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	s.Reconcile(t.Context())
	s.wantObjects(2)
	list, _, err := s.List(t.Context(), "ada", backups.Filter{}, 10)
	if err != nil || len(list) != 1 || list[0].ID != kept.ID {
		t.Errorf("%+v, %v", list, err)
	}
}

// A store that is empty all of a sudden is one that is not there: what is known of
// its backups stays, so that they are no orphans when it is back.
func TestReconcile_storeIsAway(t *testing.T) {
	s := openShop(t)
	s.write(adas, "file", "x")
	b := s.create(adas, backups.Request{TTL: 100 * time.Hour})
	old := b
	old.ID, old.CreatedAt = "old", b.CreatedAt.Add(-2*time.Hour)
	if err := s.records.SaveBackup(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(s.dir, "backups")
	if err := os.Rename(filepath.Join(folder, b.ID), filepath.Join(folder, "old")); err != nil {
		t.Fatal(err)
	}
	away := filepath.Join(t.TempDir(), "away")
	if err := os.Rename(folder, away); err != nil {
		t.Fatal(err)
	}
	s.Reconcile(t.Context())
	if err := os.Rename(away, folder); err != nil {
		t.Fatal(err)
	}
	s.Reconcile(t.Context())
	s.wantObjects(1)
	if _, err := s.Get(t.Context(), "ada", "old"); err != nil {
		t.Error(err)
	}
}

// Who says that the objects are gone is believed: of records without an object none
// is kept, however young, and the others stay.
func TestForget(t *testing.T) {
	s := openShop(t)
	s.write(adas, "file", "x")
	saved, lost := s.create(adas, backups.Request{}), s.create(adas, backups.Request{})
	if err := s.objects.Delete(t.Context(), "backups/"+lost.ID); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{1, 0} {
		if n, err := s.Forget(t.Context()); n != want || err != nil {
			t.Errorf("%d were forgotten, want %d: %v", n, want, err)
		}
	}
	if _, err := s.Get(t.Context(), "ada", lost.ID); !errors.Is(err, backups.ErrNotFound) {
		t.Errorf("lost: %v", err)
	}
	if err := s.objects.Delete(t.Context(), "backups/"+saved.ID); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Forget(t.Context()); n != 1 || err != nil {
		t.Errorf("the last: %d, %v", n, err)
	}
}

// An allowance is a quota of so many bytes.
type allowance struct {
	records *store.Store
	bytes   int64
}

func (a *allowance) Room(ctx context.Context, owner string) (int64, error) {
	has, err := a.records.ObjectBytes(ctx, owner)
	return max(a.bytes-has, 0), err
}

func (a *allowance) NoRoom(string) error {
	return sandboxclient.Errorf(sandboxclient.CodeNoSpace, "full")
}

// openBounded opens a shop in which owners may keep so many backups of a workspace
// with one small file, and half of one.
func openBounded(t *testing.T, backupsOf int64, change ...func(*backups.Options)) (s shop, one int64) {
	t.Helper()
	quota := &allowance{bytes: 1 << 30}
	s = openShop(t, append(change, func(o *backups.Options) { o.Quota = quota })...)
	quota.records = s.records
	s.write(adas, "file", "x")
	b := s.create(adas, backups.Request{})
	if err := s.Delete(t.Context(), "ada", b.ID); err != nil {
		t.Fatal(err)
	}
	quota.bytes = backupsOf*b.Size + b.Size/2
	return s, b.Size
}

// A gate lets nobody begin to store before all of a number have come, and counts
// what is stored.
type gate struct {
	backups.Objects
	missing atomic.Int32
	all     chan struct{}
	stored  atomic.Int64
}

func (g *gate) Put(ctx context.Context, key string, content io.Reader) (objects.Info, error) {
	if g.missing.Add(-1) == 0 {
		close(g.all)
	}
	if g.missing.Load() > -1 {
		<-g.all
	}
	return g.Objects.Put(ctx, key, io.TeeReader(content, g))
}

func (g *gate) Write(p []byte) (int, error) {
	g.stored.Add(int64(len(p)))
	return len(p), nil
}

// A backup under way ends once it takes more than there is room for, and leaves the
// room as it was.
func TestCreate_endsWhereTheRoomDoes(t *testing.T) {
	g := new(gate)
	s, one := openBounded(t, 2, func(o *backups.Options) { g.Objects, o.Objects = o.Objects, g })
	s.write(adas, "large/noise", string(noise(1<<20)))
	for range 3 {
		g.stored.Store(0)
		_, err := s.Create(t.Context(), adas, backups.Request{Dir: "large"}, nil)
		wantCode(t, err, sandboxclient.CodeNoSpace)
		if stored := g.stored.Load(); stored > 3*one {
			t.Errorf("%d bytes were stored", stored)
		}
		_, err = s.Create(t.Context(), adas, backups.Request{Dir: "missing"}, nil)
		wantCode(t, err, sandboxclient.CodeNotFound)
	}
	s.wantObjects(0)
	small := backups.Request{Excludes: []string{"large/"}}
	s.create(adas, small)
	s.create(adas, small)
	_, err := s.Create(t.Context(), adas, small, nil)
	wantCode(t, err, sandboxclient.CodeNoSpace)
	s.wantObjects(2)
}

// Backups that are made at the same time get no more room than one after the other.
func TestCreate_roomForOne(t *testing.T) {
	g := &gate{all: make(chan struct{})}
	s, one := openBounded(t, 1, func(o *backups.Options) { g.Objects, o.Objects = o.Objects, g })
	const together = 4
	g.stored.Store(0)
	g.missing.Store(together)
	came := make(chan error, together)
	for range together {
		go func() {
			_, err := s.Create(context.Background(), adas, backups.Request{}, nil)
			came <- err
		}()
	}
	made := 0
	for range together {
		if err := <-came; err == nil {
			made++
		} else {
			wantCode(t, err, sandboxclient.CodeNoSpace)
		}
	}
	if made != 1 || g.stored.Load() != one {
		t.Errorf("%d were made, of %d bytes", made, g.stored.Load())
	}
	s.wantObjects(1)
}
