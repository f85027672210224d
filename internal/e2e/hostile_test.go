package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// Every way to write a path that leads out, and the answer each must get: a
// refusal, or the name taken literally, and never a byte of the host's.
func TestFiles_pathsThatLeadOut(t *testing.T) {
	g := shared(t)
	ask(t, http.MethodPut, file(g, "here"), "here").has(200)
	for query, status := range map[string]int{
		"..%2fetc%2fpasswd":        400,
		"%2e%2e/etc/passwd":        400,
		"..%5cetc%5cpasswd":        404, // a backslash is a character of a name
		"%252e%252e/etc/passwd":    404, // decoded once
		"//etc/passwd":             400,
		"/workspace/../etc/passwd": 400,
		"/workspacefoo":            400,
		"a%00b":                    400,
		strings.Repeat("x/", 2500): 400,
		strings.Repeat("x", 300):   400,
		"here/":                    200,
		"../workspace/here":        200,
		"%2Fworkspace%2Fhere":      200,
		"/proc/self/environ":       400,
		"file:///etc/passwd":       404,
		".sandgate-secret":         0,
	} {
		got := ask(t, http.MethodGet, g.URL+"/files?path="+query, "")
		if status != 0 && got.status != status {
			t.Errorf("%.60s: %d %.80q, want %d", query, got.status, got.body, status)
		}
		if strings.Contains(got.body, "root:") {
			t.Errorf("%.60s leaked the host's file", query)
		}
	}
}

// The Files app shares its sandbox with nobody who runs code, so nobody can plant
// links there; what sandboxd makes of links is tested with it.
func TestNotebook_itsCodeFollowsLinksToNothingOfTheHosts(t *testing.T) {
	g := shared(t)
	got := notebook(t, g, "links", strings.Join([]string{
		"import os",
		"os.symlink('/etc/shadow', 'shadow')",
		"os.symlink('/', 'root')",
		"def sees(p):",
		"    try: open(p).read(); return True",
		"    except OSError: return False",
		"[sees('shadow'), sees('root/etc/passwd'), os.path.exists('root/work'), os.path.exists('root/home/sandbox')]",
	}, "\n"))
	if !slices.Equal(got.Values, []string{"[False, True, False, True]"}) {
		t.Errorf("%+v", got)
	}
}

func TestGuard_foreignHostsAndOrigins(t *testing.T) {
	g := shared(t)
	for _, host := range []string{"evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80"} {
		req := httptest.NewRequest(http.MethodPost, g.URL+"/run", strings.NewReader("print(1)"))
		req.RequestURI, req.Host = "", host
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode/100 != 4 {
			t.Errorf("host %s: %d", host, resp.StatusCode)
		}
	}
	for _, header := range [][]string{
		{"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"},
		{"Origin", "https://evil.example"},
		{"Origin", "null"},
	} {
		for _, target := range []string{g.URL + "/run", g.URL + "/notebook", g.URL + "/notebook/interrupt"} {
			ask(t, http.MethodPost, target, "print(1)", header...).has(http.StatusForbidden)
		}
		ask(t, http.MethodPut, file(g, "x"), "x", header...).has(http.StatusForbidden)
		ask(t, http.MethodDelete, file(g, "x"), "", header...).has(http.StatusForbidden)
	}
	ask(t, http.MethodPost, g.URL+"/run", "print(1)", "Origin", g.URL, "Sec-Fetch-Site", "same-origin").has(200)
}

func TestBodies_thatAreWrong(t *testing.T) {
	t.Parallel()
	g := start(t, "--max-body", "4KiB", "--max-upload", "1MiB")
	ask(t, http.MethodPost, g.URL+"/run", strings.Repeat("#", 5<<10)).has(http.StatusRequestEntityTooLarge)
	ask(t, http.MethodPost, g.URL+"/run", "print('\xff')").has(http.StatusBadRequest)
	ask(t, http.MethodPost, g.URL+"/run?timeout=nonsense", "1").has(http.StatusBadRequest)
	ask(t, http.MethodPost, g.URL+"/run?timeout=-1", "1").has(http.StatusBadRequest)
	ask(t, http.MethodPost, g.URL+"/run?language=cobol", "1").has(http.StatusNotImplemented)
	ask(t, http.MethodPut, file(g, "kept"), "before").has(200)
	ask(t, http.MethodPut, file(g, "kept"), strings.Repeat("x", 2<<20)).has(http.StatusRequestEntityTooLarge)
	ask(t, http.MethodGet, file(g, "kept"), "").is(200, "before")
	ask(t, http.MethodGet, g.URL+"/nothing", "").has(http.StatusNotFound)
	got := ask(t, http.MethodGet, g.URL+"/run", "", "Accept", "application/json")
	got.has(http.StatusMethodNotAllowed, `"code":"method_not_allowed"`, `"requestId":"`)
	if allow := got.header.Get("Allow"); !strings.Contains(allow, "POST") {
		t.Errorf("Allow: %q", allow)
	}
}

// Neither code nor content nor a file's name reaches the log.
func TestLog_holdsNoSecrets(t *testing.T) {
	t.Parallel()
	g := start(t, "--log-level", "debug")
	const secret = "s3cr3t-marker"
	run(t, g, "print('"+secret+"')")
	run(t, g, "raise Exception('"+secret+"')")
	ask(t, http.MethodPut, file(g, secret), secret).has(200)
	ask(t, http.MethodGet, search(g, secret), "").has(200)
	ask(t, http.MethodGet, file(g, "../"+secret), "", "Authorization", "Bearer "+secret).has(400)
	notebook(t, g, secret, "1")
	killSandboxes(t, g.Dir) // what breaks is told without names as well
	for range 2 {
		ask(t, http.MethodGet, file(g, secret), "")
		ask(t, http.MethodGet, search(g, secret), "")
	}
	if strings.Contains(g.Log(), secret) {
		t.Errorf("the log holds what it must not:\n%s", g.Log())
	}
}

func TestIsolation_asUserCodeSeesIt(t *testing.T) {
	g := shared(t)
	for what, c := range map[string]struct{ code, want string }{
		"uid":              {"import os; os.getuid(), os.getgid(), os.getgroups()", "(20000, 20000, [])"},
		"no capabilities":  {"[l.split()[1] for l in open('/proc/self/status') if l.startswith('CapEff')]", "['0000000000000000']"},
		"no new privs":     {"[l.split()[1] for l in open('/proc/self/status') if l.startswith('NoNewPrivs')]", "['1']"},
		"no token":         {"import os; os.access('/run/sandgate/token', os.R_OK)", "False"},
		"no link":          {"import os; os.access('/run/sandgate', os.X_OK)", "False"},
		"no write to /usr": {"import os; os.access('/usr/bin', os.W_OK)", "False"},
		"only loopback":    {"import socket; [n for _, n in socket.if_nameindex()]", "['lo']"},
		"own workspace":    {"import os; os.access('/workspace', os.W_OK), os.getcwd()", "(True, '/workspace')"},
		"a home":           {"import os; os.access(os.environ['HOME'], os.W_OK), os.environ['HOME']", "(True, '/home/sandbox')"},
	} {
		if got := notebook(t, g, "isolation", c.code); !slices.Equal(got.Values, []string{c.want}) {
			t.Errorf("%s: %+v", what, got)
		}
	}
	got := notebook(t, g, "isolation", fmt.Sprintf("import socket\ndef to(*a):\n    try: socket.create_connection(a, 2); return 'in'\n    except OSError: return 'out'\n[to('127.0.0.1', %s), to('10.0.0.1', 80), to('169.254.169.254', 80)]", g.URL[strings.LastIndex(g.URL, ":")+1:]))
	if !slices.Equal(got.Values, []string{"['out', 'out', 'out']"}) {
		t.Errorf("network: %+v", got)
	}
}
