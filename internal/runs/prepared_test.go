package runs

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"sandgate/internal/backups"
	"sandgate/sandboxclient"
)

// A shelf keeps backups in name alone.
type shelf struct {
	mu       sync.Mutex
	kept     map[string]backups.Backup
	restored []string
	fails    error
	blocks   chan struct{} // nil: a restore does not wait
}

func (s *shelf) Get(_ context.Context, owner, id string) (backups.Backup, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.kept[id]
	if !ok || b.Owner != owner {
		return backups.Backup{}, backups.ErrNotFound
	}
	return b, nil
}

func (s *shelf) Create(_ context.Context, ref sandboxclient.Ref, req backups.Request, _ backups.Progress) (backups.Backup, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails != nil {
		return backups.Backup{}, s.fails
	}
	b := backups.Backup{ID: "b1", Owner: ref.Owner, App: ref.App, Name: ref.Name, Dir: req.Dir, Label: req.Label, ExpiresAt: time.Now().Add(time.Hour)}
	s.kept[b.ID] = b
	return b, nil
}

func (s *shelf) Restore(ctx context.Context, id string, _ sandboxclient.Ref, dir string, _ backups.Progress) (backups.Restored, error) {
	s.mu.Lock()
	blocks := s.blocks
	s.restored = append(s.restored, id+" to "+dir)
	s.mu.Unlock()
	if blocks != nil {
		select {
		case <-blocks:
		case <-ctx.Done():
			return backups.Restored{}, ctx.Err()
		}
	}
	return backups.Restored{ID: id, Dir: dir}, s.fails
}

func newShelf() *shelf { return &shelf{kept: make(map[string]backups.Backup)} }

func (s *shelf) use(o *Options) { o.Backups = s }

// phasesOf names the phases that a run's events tell, as they begin.
func phasesOf(t *testing.T, e *Engine, id string) string {
	t.Helper()
	var names []string
	for line, err := range e.Events(t.Context(), owner, id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		told, err := decode(line.Event)
		if err != nil {
			t.Fatal(err)
		}
		if told.Type == eventPhase && told.State == phaseStarted {
			names = append(names, told.Phase)
		}
	}
	return strings.Join(names, " ")
}

func TestBackup_keepsWhatIsInstalled(t *testing.T) {
	w, s := newWorld(t), newShelf()
	e := w.engine(s.use)
	started, err := e.Start(t.Context(), owner, Request{Repository: repository, Backup: &Keep{}})
	if err != nil {
		t.Fatal(err)
	}
	if got := phasesOf(t, e, started.ID); got != "clone install backup test" {
		t.Errorf("phases %s", got)
	}
	got, err := e.Get(t.Context(), owner, started.ID)
	if err != nil || got.Status != "exited" || got.Backup == nil || got.Backup.ID != "b1" || got.Backup.Dir != appDir {
		t.Errorf("%+v, %v", got, err)
	}
	if label := s.kept["b1"].Label; label != repository+" "+commit {
		t.Errorf("label %q", label)
	}
}

// A backup that fails costs no test.
func TestBackup_thatFailsIsAWarning(t *testing.T) {
	w, s := newWorld(t), newShelf()
	s.fails = sandboxclient.Errorf(sandboxclient.CodeTooLarge, "too large")
	e := w.engine(s.use)
	started, err := e.Start(t.Context(), owner, Request{Repository: repository, Backup: &Keep{}})
	if err != nil {
		t.Fatal(err)
	}
	warned := false
	for line, err := range e.Events(t.Context(), owner, started.ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		warned = warned || strings.Contains(string(line.Event), "backup_failed")
	}
	got, err := e.Get(t.Context(), owner, started.ID)
	if err != nil || !warned || got.Status != "exited" || got.Phase != PhaseTest || got.Backup != nil {
		t.Errorf("warned %v, %+v, %v", warned, got, err)
	}
}

func TestRestore_takesThePlaceOfCloneAndInstall(t *testing.T) {
	for files, phases := range map[string]string{"with": "restore test", "without": "restore install test"} {
		w, s := newWorld(t), newShelf()
		s.kept["b"] = backups.Backup{ID: "b", Owner: owner, Dir: "/workspace/elsewhere", ExpiresAt: time.Now().Add(time.Hour)}
		w.files[".git/HEAD"] = commit + "\n"
		if files == "with" {
			w.files["node_modules"] = aDirectory
		}
		e := w.engine(s.use)
		started, err := e.Start(t.Context(), owner, Request{Restore: "b"})
		if err != nil {
			t.Fatal(err)
		}
		if got := phasesOf(t, e, started.ID); got != phases {
			t.Errorf("%s modules: phases %s", files, got)
		}
		got, err := e.Get(t.Context(), owner, started.ID)
		if err != nil || got.Status != "exited" || got.Restored != "b" || got.Commit != commit {
			t.Errorf("%+v, %v", got, err)
		}
		if len(s.restored) != 1 || s.restored[0] != "b to "+appDir {
			t.Errorf("%q", s.restored)
		}
	}
}

func TestRestore_refused(t *testing.T) {
	w, s := newWorld(t), newShelf()
	s.kept["others"] = backups.Backup{ID: "others", Owner: "bob", ExpiresAt: time.Now().Add(time.Hour)}
	s.kept["expired"] = backups.Backup{ID: "expired", Owner: owner, ExpiresAt: time.Now()}
	s.kept["notebook's"] = backups.Backup{ID: "notebook's", Owner: owner, App: "notebook", ExpiresAt: time.Now().Add(time.Hour)}
	e := w.engine(s.use)
	for _, c := range []struct {
		req  Request
		code sandboxclient.Code
	}{
		{Request{Restore: "none"}, sandboxclient.CodeNotFound},
		{Request{Restore: "others"}, sandboxclient.CodeNotFound},
		{Request{Restore: "notebook's", Apps: []string{App}}, sandboxclient.CodeNotFound},
		{Request{Restore: "expired"}, sandboxclient.CodeNotFound},
		{Request{Restore: "expired", Repository: repository}, sandboxclient.CodeInvalid},
		{Request{Restore: "expired", Ref: "main"}, sandboxclient.CodeInvalid},
		{Request{Repository: repository, Command: "make", Backup: &Keep{}}, sandboxclient.CodeInvalid},
		{Request{Repository: repository, Backup: &Keep{Dir: "../x"}}, sandboxclient.CodeInvalid},
	} {
		if _, err := e.Start(t.Context(), owner, c.req); sandboxclient.CodeOf(err) != c.code {
			t.Errorf("%+v: %v", c.req, err)
		}
	}
	none := w.engine()
	if _, err := none.Start(t.Context(), owner, Request{Restore: "b"}); sandboxclient.CodeOf(err) != sandboxclient.CodeUnsupported {
		t.Errorf("without a shelf: %v", err)
	}
}

// A gateway that was killed while it restored leaves that to the next one.
func TestRestore_isDoneAgain(t *testing.T) {
	w, s := newWorld(t), newShelf()
	s.kept["b"] = backups.Backup{ID: "b", Owner: owner, Dir: appDir, ExpiresAt: time.Now().Add(time.Hour)}
	w.files["node_modules"] = aDirectory
	s.blocks = make(chan struct{})
	e := w.engine(s.use)
	started, err := e.Start(t.Context(), owner, Request{Restore: "b"})
	if err != nil {
		t.Fatal(err)
	}
	for line, err := range e.Events(t.Context(), owner, started.ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(line.Event), `"phase":"restore"`) {
			break
		}
	}
	w.crash()
	s.mu.Lock()
	s.blocks = nil
	s.mu.Unlock()
	again := w.engine(s.use)
	if got := phasesOf(t, again, started.ID); got != "restore test" {
		t.Errorf("phases %s", got)
	}
	if got, err := again.Get(t.Context(), owner, started.ID); err != nil || got.Status != "exited" {
		t.Errorf("%+v, %v", got, err)
	}
}
