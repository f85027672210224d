package sandboxclient_test

import (
	"bytes"
	"encoding/base64"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandgate/internal/sandboxtest"
	"sandgate/sandboxclient"
)

// A password of characters that a shell, a URL or git's protocol could trip over.
const (
	user     = "ada lovelace@example.org"
	password = `p:/?#[]@!$&'()*+,;=%"\ ~` + "`id`"
	userinfo = "ada%20lovelace%40example.org:p%3A%2F%3F%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D%25%22%5C%20~%60id%60@"
)

func as(info, url string) string { return strings.Replace(url, "://", "://"+info, 1) }

func TestCredentials_reachGitAndNobodyElse(t *testing.T) {
	server := sandboxtest.ServeGit(t)
	opts := sandboxtest.GitOptions{User: user, Password: password}
	repo := server.AddRepository("p", text("a", "1"), opts)
	for ref, want := range map[string]string{"": "main", "main": "main", repo.Commit: "", repo.Commit[:8]: ""} {
		// git tells every program that it starts, and every header that it sends.
		got := onHost(t, sandboxclient.Checkout{Repository: as(userinfo, repo.URL), Ref: ref}, "GIT_TRACE=1", "GIT_TRACE_CURL=1")
		got.want(t, repo.Commit, want)
		noSecret(t, "stdout", []byte(got.stdout))
		noSecret(t, "stderr", []byte(got.stderr))
		noSecretIn(t, got.Dir)
		if url := got.git(t, "config", "remote.origin.url"); url != repo.URL {
			t.Errorf("the URL that is kept is %s", url)
		}
		for line := range strings.Lines(got.git(t, "config", "--local", "--list")) {
			if strings.Contains(line, "credential") {
				t.Errorf("the settings hold %s", line)
			}
		}
	}
}

// secrets are what must be nowhere.
func secrets() []string {
	return []string{password, "p%3A%2F", userinfo, base64.StdEncoding.EncodeToString([]byte(user + ":" + password))}
}

func noSecret(t *testing.T, where string, data []byte) {
	t.Helper()
	for _, secret := range secrets() {
		if bytes.Contains(data, []byte(secret)) {
			t.Errorf("%s holds %s", where, secret)
		}
	}
}

func noSecretIn(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		noSecret(t, name, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestCredentials_ofManyForms(t *testing.T) {
	server := sandboxtest.ServeGit(t)
	for name, c := range map[string]struct {
		opts sandboxtest.GitOptions
		info string
	}{
		"token":  {sandboxtest.GitOptions{User: "ghp_0123456789"}, "ghp_0123456789@"},
		"none":   {sandboxtest.GitOptions{}, "@"},
		"oauth2": {sandboxtest.GitOptions{User: "oauth2", Password: "glpat-0"}, "oauth2:glpat-0@"},
	} {
		repo := server.AddRepository(name, text("a", "1"), c.opts)
		onHost(t, sandboxclient.Checkout{Repository: as(c.info, repo.URL)}).want(t, repo.Commit, "main")
	}
}

func TestCredentials_missingOrWrongFailAtOnce(t *testing.T) {
	opts := sandboxtest.GitOptions{User: user, Password: password}
	repo := sandboxtest.ServeGit(t).AddRepository("p", text("a", "1"), opts)
	for info, words := range map[string]string{
		"":             "does not exist, or needs credentials",
		"ada:wr0ng!!@": "does not accept the credentials",
		"nobody@":      "does not accept the credentials",
	} {
		got := onHost(t, sandboxclient.Checkout{Repository: as(info, repo.URL)})
		got.wantError(t, sandboxclient.CodeForbidden, words)
		if got.took > 5*time.Second {
			t.Errorf("it took %v", got.took)
		}
		if strings.Contains(got.err.Error()+got.stderr, "wr0ng!!") {
			t.Errorf("it says %v and %s", got.err, got.stderr)
		}
	}
}

// What a server says must not get credentials out of git for somebody else.
func TestCredentials_areForOneHost(t *testing.T) {
	server, elsewhere := sandboxtest.ServeGit(t), sandboxtest.ServeGit(t)
	private := sandboxtest.GitOptions{User: user, Password: password}
	elsewhere.AddRepository("p", text("a", "1"), private)
	moved := server.AddRepository("p", nil, sandboxtest.GitOptions{Redirect: elsewhere.URL})
	got := onHost(t, sandboxclient.Checkout{Repository: as(userinfo, moved.URL)})
	if got.err == nil {
		t.Error("they were given to where the redirect leads")
	}

	elsewhere.AddRepository("sub", text("b", "1"), private)
	outer := server.AddRepository("outer", text("a", "1"), private)
	addSubmodule(t, outer, "sub", elsewhere.URL+"/sub")
	got = onHost(t, sandboxclient.Checkout{Repository: as(userinfo, outer.URL), Submodules: true})
	if got.err == nil {
		t.Error("they were given to where a submodule is")
	}

	requests := elsewhere.Requests()
	if len(requests) == 0 {
		t.Error("nobody was asked")
	}
	for _, r := range requests {
		if r.User != "" || r.Password != "" {
			t.Errorf("%s was asked for by %q with %q", r.Path, r.User, r.Password)
		}
	}
}

// Submodules of the same host need them.
func TestCredentials_areForSubmodulesOfTheHost(t *testing.T) {
	server := sandboxtest.ServeGit(t)
	private := sandboxtest.GitOptions{User: user, Password: password}
	server.AddRepository("sub", text("b", "2"), private)
	outer := server.AddRepository("outer", text("a", "1"), private)
	commit := addSubmodule(t, outer, "sub", "../sub")
	got := onHost(t, sandboxclient.Checkout{Repository: as(userinfo, outer.URL), Submodules: true})
	got.want(t, commit, "main")
	got.has(t, "sub/b", "2")
	noSecretIn(t, got.Dir)
}

// Such a server knows them, and git passes on what it says.
func TestCredentials_fromAServerThatRepeatsThem(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		_, given, _ := r.BasicAuth()
		http.Error(w, "you said "+given+" and "+r.Header.Get("Authorization"), http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	c := sandboxclient.Checkout{Repository: as(userinfo, server.URL+"/p")}
	got := onHost(t, c)
	if !strings.Contains(got.stderr, password) {
		t.Errorf("git says %q", got.stderr)
	}
	mask := c.Mask()
	noSecret(t, "what is shown", append(mask.Pass([]byte(got.stderr)), mask.End()...))
	noSecret(t, "the failure", []byte(got.err.Error()))
}
