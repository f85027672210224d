package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// Every app, and every notebook, has files, variables and ports of its own; a
// name that sounds like another app's does not lead there.
func TestIsolation_betweenAppsAndNames(t *testing.T) {
	g := sharedWithoutFiles(t)
	const offer = "open('/workspace/mine', 'w').write('mine'); import socket; s = socket.create_server(('127.0.0.1', 7788)); mine = 1"
	const find = `
import os, socket
def connects():
    try: socket.create_connection(('127.0.0.1', 7788), 1); return True
    except OSError: return False
('mine' in globals(), os.path.exists('/workspace/mine'), connects())`
	ask(t, http.MethodPut, file(g, "mine"), "mine").has(200)
	if got := notebook(t, g, "offers", offer); got.Error != nil {
		t.Fatalf("%+v", got)
	}
	for name, want := range map[string]string{
		"offers": "(True, True, True)", "finds": "(False, False, False)",
		"files": "(False, False, False)", "offers ": "(False, False, False)",
	} {
		if got := notebook(t, g, name, find); !slices.Equal(got.Values, []string{want}) {
			t.Errorf("notebook %q finds %q %v, want %s", name, got.Values, got.Error, want)
		}
	}
	for _, query := range []string{"?fresh=true", ""} {
		got := ask(t, http.MethodPost, g.URL+"/run"+query, find).cell()
		if len(got.Results) != 1 || got.Results[0]["text"] != "(False, False, False)" {
			t.Errorf("a run%s finds %v", query, got.Results)
		}
	}
	ask(t, http.MethodGet, search(g, "mine"), "").is(200, "/workspace/mine:1:mine\n")
	ask(t, http.MethodDelete, g.URL+"/notebook?files=true&notebook=offers", "").has(http.StatusNoContent)
	ask(t, http.MethodGet, file(g, "mine"), "").is(200, "mine")
}

// Neither interpreters nor what they start hold a descriptor of sandboxd's, and
// none has more to say than the three that it was given.
func TestIsolation_descriptorsInEveryLanguage(t *testing.T) {
	g := shared(t)
	for language, code := range map[string]string{
		"python":     "import subprocess; print(subprocess.run(['ls', '/proc/self/fd'], capture_output=True, text=True, close_fds=False).stdout.split())",
		"javascript": "console.log(JSON.stringify(require('child_process').execSync('ls /proc/self/fd').toString().trim().split('\\n')).replaceAll('\"', \"'\").replaceAll(',', ', '))",
		"bash":       "echo \"['$(ls /proc/self/fd | paste -sd, | sed \"s/,/', '/g\")']\"",
	} {
		got := ask(t, http.MethodPost, g.URL+"/notebook?notebook=descriptors&language="+language, code).cell()
		if len(got.Output) != 1 || strings.TrimSpace(got.Output[0]) != "['0', '1', '2', '3']" { // 3 is the directory that ls reads
			t.Errorf("%s: a child holds %+v", language, got)
		}
	}
}
