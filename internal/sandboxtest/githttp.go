package sandboxtest

import (
	"crypto/subtle"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A GitServer serves git repositories over plain HTTP on loopback, by git's own
// http-backend. What was not added answers 404.
//
//	git := sandboxtest.ServeGit(t)
//	repo := git.AddRepository("team/project.git", os.DirFS("testdata/projects/mocha"), sandboxtest.GitOptions{})
//	// clone repo.URL, and find repo.Commit
//
// It is an http.Handler as well, for a test that wants it behind a server of
// its own, with TLS say.
type GitServer struct {
	URL string // http://127.0.0.1:…, without a slash at the end

	t    testing.TB
	root string

	mu       sync.Mutex
	options  map[string]GitOptions // by the repository's name
	requests []GitRequest
}

var _ http.Handler = (*GitServer)(nil)

// GitOptions says how a repository is served if not as it should be.
type GitOptions struct {
	User, Password string // wanted by basic authentication, when one of them is set
	Redirect       string // the URL of another server, which has the repository under the same name
	Status         int    // answered to everything
	Garbage        bool   // answers are of the right type and make no sense
	Silent         bool   // there is no answer, for as long as anybody waits
	Slow           bool   // answers drip, some 50 bytes a second
	OldProtocol    bool   // version 0: nothing can be fetched but what is at the tip of a branch or tag
}

// A GitRequest is what one request asked for, and as whom.
type GitRequest struct {
	Path           string
	User, Password string
}

// ServeGit starts a server that ends with the test.
func ServeGit(t testing.TB) *GitServer {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		Missing(t, "there is no git")
	}
	s := &GitServer{t: t, root: t.TempDir(), options: make(map[string]GitOptions)}
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		server.CloseClientConnections() // the slow ones
		server.Close()
	})
	s.URL = server.URL
	return s
}

// Requests gives what was asked for so far.
func (s *GitServer) Requests() []GitRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// AddRepository serves a new repository under a name, which may have slashes;
// files are the only commit of its branch main. Without files it is empty.
func (s *GitServer) AddRepository(name string, files fs.FS, opts GitOptions) *GitRepository {
	s.t.Helper()
	r := &GitRepository{URL: s.URL + "/" + name, Dir: filepath.Join(s.root, name), t: s.t}
	if err := os.MkdirAll(r.Dir, 0o755); err != nil {
		s.t.Fatal(err)
	}
	r.Git("init", "--quiet", "--bare", "--template=", "--initial-branch=main")
	if files != nil {
		r.Commit = r.AddCommit("main", files)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.options[name] = opts
	return r
}

func (s *GitServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user, password, _ := r.BasicAuth()
	opts, ok := s.note(GitRequest{Path: r.URL.Path, User: user, Password: password})
	switch {
	case !ok:
		http.NotFound(w, r)
	case opts.Status != 0:
		http.Error(w, http.StatusText(opts.Status), opts.Status)
	case opts.Redirect != "":
		http.Redirect(w, r, opts.Redirect+r.URL.RequestURI(), http.StatusFound)
	case !opts.admits(user, password):
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		http.Error(w, "who are you?", http.StatusUnauthorized)
	case opts.Silent:
		<-r.Context().Done()
	case opts.Garbage:
		serveGarbage(w, r)
	default:
		s.serve(w, r, opts)
	}
}

// note keeps the request, and gives the options of the repository that it is for.
func (s *GitServer) note(r GitRequest) (GitOptions, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	for name, opts := range s.options {
		if strings.HasPrefix(r.Path, "/"+name+"/") {
			return opts, true
		}
	}
	return GitOptions{}, false
}

func (o GitOptions) admits(user, password string) bool {
	if o.User == "" && o.Password == "" {
		return true
	}
	want, got := o.User+":"+o.Password, user+":"+password
	return subtle.ConstantTimeCompare([]byte(want), []byte(got)) == 1
}

func (s *GitServer) serve(w http.ResponseWriter, r *http.Request, opts GitOptions) {
	if opts.OldProtocol {
		r.Header.Del("Git-Protocol")
	}
	if opts.Slow {
		w = dripping{w, r}
	}
	git, err := exec.LookPath("git")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	backend := cgi.Handler{
		Path:   git,
		Args:   []string{"http-backend"},
		Dir:    s.root,
		Env:    append(gitEnvironment(), "GIT_PROJECT_ROOT="+s.root, "GIT_HTTP_EXPORT_ALL=1"),
		Logger: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // clients leave, which is their right
		Stderr: io.Discard,
	}
	backend.ServeHTTP(w, r)
}

// serveGarbage answers with what begins like git's protocol.
func serveGarbage(w http.ResponseWriter, r *http.Request) {
	kind := "application/x-git-upload-pack-result"
	if strings.HasSuffix(r.URL.Path, "/info/refs") {
		kind = "application/x-git-upload-pack-advertisement"
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write([]byte("001e# service=git-upload-pack\n0000zzzz\x00\x1b[31m\xff\xfe garbage\r\n"))
}

// dripping lets an answer out byte by byte, as long as somebody reads it.
type dripping struct {
	http.ResponseWriter
	request *http.Request
}

func (d dripping) Write(p []byte) (int, error) {
	flush := http.NewResponseController(d.ResponseWriter).Flush
	for i := range p {
		select {
		case <-d.request.Context().Done():
			return i, d.request.Context().Err()
		case <-time.After(20 * time.Millisecond):
		}
		if _, err := d.ResponseWriter.Write(p[i : i+1]); err != nil {
			return i, err
		}
		if err := flush(); err != nil {
			return i, err
		}
	}
	return len(p), nil
}
