package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sandgate/internal/sandboxtest"
)

// backup is a backup, as the gateway describes it.
type backup struct {
	ID, App, Name, Dir, Label, Checksum string
	SizeBytes, Files, ContentBytes      int64
	CreatedAt, ExpiresAt                time.Time
}

func makeBackup(t *testing.T, g *sandboxtest.Gateway, order string) backup {
	t.Helper()
	var b backup
	a := ask(t, http.MethodPost, g.URL+"/v1/backups", order)
	if err := json.Unmarshal([]byte(a.has(http.StatusCreated).body), &b); err != nil {
		t.Fatal(err)
	}
	if got := a.header.Get("Location"); got != "/v1/backups/"+b.ID {
		t.Errorf("Location %q", got)
	}
	return b
}

func restoreBackup(t *testing.T, g *sandboxtest.Gateway, id, order string) answer {
	t.Helper()
	return ask(t, http.MethodPost, g.URL+"/v1/backups/"+id+"/restore", order)
}

// oddTree makes a tree in a notebook with all that a replica must have, and
// prints a digest of it.
const oddTree = `
import os, subprocess
os.makedirs("app/empty/inside"); os.makedirs("app/" + "deep/" * 40)
open("app/secret", "w").write("secret"); os.chmod("app/secret", 0)
open("app/first", "w").write("linked"); os.link("app/first", "app/second")
os.symlink("/usr/bin/python3", "app/absolute"); os.symlink("../../etc", "app/out"); os.symlink("nowhere", "app/dangling")
for name in [b"with space", b"new\nline", b"\xff\xfe", b"-rf", "ünï".encode()]: open(b"app/" + name, "wb").write(name)
with open("app/sparse", "wb") as f: f.seek(32 << 20); f.write(b"end")
os.utime("app/first", ns=(1, 946684799123456789)); os.chmod("app/empty/inside", 0o500)
`

const digest = `
import hashlib, os, stat
def digest(top):
    lines = []
    for root, dirs, files in sorted(os.walk(os.fsencode(top))):
        dirs[:] = [d for d in dirs if not d.startswith(b".sandgate-")] # which are being swept
        for name in sorted(dirs + files + [b"."]):
            path = os.path.join(root, name); s = os.lstat(path)
            content = b""
            if stat.S_ISREG(s.st_mode) and s.st_mode & 0o400: content = open(path, "rb").read()
            if stat.S_ISLNK(s.st_mode): content = os.readlink(path)
            lines.append((path[len(top):], oct(s.st_mode), path != b"/workspace/." and s.st_mtime_ns, s.st_uid, s.st_nlink if stat.S_ISREG(s.st_mode) else 0, hashlib.sha256(content).hexdigest()))
    return hashlib.sha256(repr(lines).encode()).hexdigest()
`

func output(t *testing.T, c cell) string {
	t.Helper()
	if c.Error != nil || len(c.Output) != 1 {
		t.Fatalf("%+v", c)
	}
	return strings.TrimSpace(c.Output[0])
}

// Five times round, into the same sandbox and others, everything comes back.
func TestBackup_fiveTimesRound(t *testing.T) {
	g := shared(t)
	first := "backup-0"
	notebook(t, g, first, oddTree)
	want := output(t, notebook(t, g, first, digest+`print(digest("/workspace/app"))`))
	b := makeBackup(t, g, fmt.Sprintf(`{"app":"notebook","name":%q,"dir":"app","label":"odd"}`, first))
	if b.Dir != "/workspace/app" || b.Files == 0 || b.ExpiresAt.Sub(b.CreatedAt) != 72*time.Hour || b.Label != "odd" {
		t.Errorf("%+v", b)
	}
	for round := range 5 {
		name := fmt.Sprintf("backup-%d", round%3)
		notebook(t, g, name, "import os, shutil; os.makedirs('app', exist_ok=True); open('app/newer', 'w').write('x'); open('beside', 'w').write('stays')")
		restoreBackup(t, g, b.ID, fmt.Sprintf(`{"app":"notebook","name":%q}`, name)).has(200, `"files":`)
		if got := output(t, notebook(t, g, name, digest+`print(digest("/workspace/app"))`)); got != want {
			t.Errorf("round %d: another tree", round)
		}
		if got := output(t, notebook(t, g, name, "print(open('beside').read())")); got != "stays" {
			t.Errorf("beside it: %q", got)
		}
		if again := makeBackup(t, g, fmt.Sprintf(`{"app":"notebook","name":%q,"dir":"/workspace/app"}`, name)); again.Checksum != b.Checksum {
			t.Errorf("round %d: its archive is another one", round)
		}
	}
}

func TestBackup_ofAllOfTheWorkspace(t *testing.T) {
	g := sharedWithoutFiles(t)
	for _, name := range []string{"a/b", "c", "d/e/f"} {
		ask(t, http.MethodPut, file(g, name), name).has(200)
	}
	b := makeBackup(t, g, `{"app":"files","excludes":["d/"]}`)
	ask(t, http.MethodPut, file(g, "newer"), "x").has(200)
	ask(t, http.MethodPut, file(g, "c"), "spoiled").has(200)
	restoreBackup(t, g, b.ID, "").has(200)
	ask(t, http.MethodGet, file(g, "c"), "").is(200, "c")
	ask(t, http.MethodGet, file(g, "a/b"), "").is(200, "a/b")
	for _, gone := range []string{"newer", "d"} {
		ask(t, http.MethodGet, file(g, gone), "").has(404)
	}
	run(t, g, "import os; print(os.listdir('/workspace'))") // another sandbox is as it was
}

func TestBackup_refuses(t *testing.T) {
	g := shared(t)
	for order, words := range map[string]string{
		"":                               "names an app",
		"{}":                             "app is files",
		`{"app":"testrunner"}`:           "app is files",
		`{"app":"files","name":"x"}`:     "has one sandbox",
		`{"app":"files","dir":"../etc"}`: "Paths must stay inside /workspace",
		`{"app":"files","dir":"relative/../../x"}`: "Paths must stay inside /workspace",
		`{"app":"files","ttl":-1}`:                 "ttl is a duration",
		`{"app":"files","ttl":"100000h"}`:          "ttl is a",
		`{"app":"files","label":"a\nb"}`:           "label",
		`{"app":"files","excludes":["[a"]}`:        "excludes",
		`{"app":"files","what":1}`:                 "what",
		`{"app":"files"} x`:                        "more than one",
	} {
		ask(t, http.MethodPost, g.URL+"/v1/backups", order).has(400, words)
	}
	ask(t, http.MethodPost, g.URL+"/v1/backups", `{"app":"files","dir":"not/there"}`).has(404)
	for _, id := range []string{"x", "00000000-0000-4000-8000-000000000000"} {
		restoreBackup(t, g, id, "").has(404, "There is no such backup")
		ask(t, http.MethodGet, g.URL+"/v1/backups/"+id, "").has(404)
		ask(t, http.MethodDelete, g.URL+"/v1/backups/"+id, "").has(404)
	}
}

func TestBackup_expires(t *testing.T) {
	g := shared(t)
	notebook(t, g, "expiring", "1")
	b := makeBackup(t, g, `{"app":"notebook","name":"expiring","ttl":1}`)
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(b.ExpiresAt.Add(time.Second)) && time.Now().Before(deadline) {
		ask(t, http.MethodGet, g.URL+"/v1/backups?name=expiring", "").has(200)
	}
	restoreBackup(t, g, b.ID, "").has(404)
}

// A gateway that is killed while it makes or restores backups leaves whole ones
// alone, the former files or the new ones, and no objects that are nobody's.
func TestBackup_gatewayKilledMeanwhile(t *testing.T) {
	dir := stateDir(t)
	g := startIn(t, dir)
	const fill = `import os; os.makedirs("app", exist_ok=True)
for i in range(40): open(f"app/{i}", "wb").write(os.urandom(1 << 20))`
	notebook(t, g, "killed", fill)
	b := makeBackup(t, g, `{"app":"notebook","name":"killed","dir":"app"}`)
	notebook(t, g, "killed", fill)
	second := output(t, notebook(t, g, "killed", digest+`print(digest("/workspace/app"))`))
	for _, request := range []struct{ path, body string }{
		{"/v1/backups", `{"app":"notebook","name":"killed","dir":"app"}`},
		{"/v1/backups/" + b.ID + "/restore", ""},
	} {
		answered := make(chan struct{})
		go func() { // ends with the gateway
			defer close(answered)
			resp, err := http.Post(g.URL+request.path, "", strings.NewReader(request.body))
			if err == nil {
				_ = resp.Body.Close()
			}
		}()
		time.Sleep(150 * time.Millisecond) // any moment will do
		g.Kill()
		<-answered
		g = startIn(t, dir)
	}
	got := output(t, notebook(t, g, "killed", digest+`print(digest("/workspace/app"))`))
	restoreBackup(t, g, b.ID, "").has(200)
	first := output(t, notebook(t, g, "killed", digest+`print(digest("/workspace/app"))`))
	if got != second && got != first {
		t.Error("what the restore left is neither the former nor the new directory")
	}
	var list struct{ Backups []backup }
	if err := json.Unmarshal([]byte(ask(t, http.MethodGet, g.URL+"/v1/backups", "").has(200).body), &list); err != nil {
		t.Fatal(err)
	}
	wantObjects(t, filepath.Join(dir, "objects"), len(list.Backups))
}

// wantObjects wants as many objects of backups, and nothing unfinished.
func wantObjects(t *testing.T, dir string, want int) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		kept, err := os.ReadDir(filepath.Join(dir, "backups"))
		if err != nil {
			t.Fatal(err)
		}
		unfinished, err := os.ReadDir(filepath.Join(dir, ".unfinished"))
		if err != nil {
			t.Fatal(err)
		}
		if len(kept) == want && len(unfinished) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d objects of %d backups, %d unfinished", len(kept), want, len(unfinished))
		}
	}
}

func TestArchives_roundTrip(t *testing.T) {
	g := shared(t)
	notebook(t, g, "archived", oddTree)
	want := output(t, notebook(t, g, "archived", digest+`print(digest("/workspace/app"))`))
	target := func(name string) string {
		return g.URL + "/v1/archives?" + url.Values{"app": {"notebook"}, "name": {name}, "dir": {"app"}}.Encode()
	}
	ask(t, http.MethodGet, target("archived"), "").has(200)
	notebook(t, g, "archived", "import os; os.remove('app/absolute'); os.remove('app/out')")
	got := ask(t, http.MethodGet, target("archived"), "")
	if got.status != 200 || got.header.Get("Content-Type") != "application/zstd" {
		t.Fatalf("%d %v", got.status, got.header)
	}
	ask(t, http.MethodPut, target("archived-too"), got.body).has(200, `"dir":"/workspace/app"`)
	again := ask(t, http.MethodGet, target("archived-too"), "")
	if again.body != got.body {
		t.Error("what was put is not what is got")
	}
	ask(t, http.MethodPut, target("archived-too"), got.body[:len(got.body)/2]).has(400, "no whole tar")
	if ask(t, http.MethodGet, target("archived-too"), "").body != got.body {
		t.Error("half an archive changed something")
	}
	if want == "" {
		t.Error("no digest")
	}
}

// What sleeps has variables that are of its files. They are gone with these, which
// is told twice; not before, and not if the archive is no good.
func TestArchives_intoOneThatSleeps(t *testing.T) {
	g := shared(t)
	notebook(t, g, "sleepy", "import os; os.makedirs('app'); open('app/a', 'w').write('old'); x = 41")
	target := g.URL + "/v1/archives?app=notebook&name=sleepy&dir=app"
	archive := ask(t, http.MethodGet, target, "").has(200).body
	notebook(t, g, "sleepy", "open('app/a', 'w').write('new')")
	hibernate(t, g, "sleepy")
	ask(t, http.MethodPut, target, archive[:len(archive)/2]).has(400)
	if got := notebook(t, g, "sleepy", "x, open('app/a').read()"); !slices.Equal(got.Values, []string{"(41, 'new')"}) || got.Start != "woken" {
		t.Errorf("after a bad archive: %+v", got)
	}
	hibernate(t, g, "sleepy")
	const why = "its files were restored while it slept"
	ask(t, http.MethodPut, target, archive).has(200, `"restart":"`+why+`"`)
	if got := notebook(t, g, "sleepy", "'x' in globals(), open('app/a').read()"); !slices.Equal(got.Values, []string{"(False, 'old')"}) || got.Start != "restarted" || got.Restart != why {
		t.Errorf("after a good one: %+v", got)
	}
	if got := ask(t, http.MethodPut, target, archive).has(200); strings.Contains(got.body, "restart") {
		t.Errorf("into one that runs: %s", got.body)
	}
}

// The next run starts from what the first one prepared.
func TestTests_backupAndRestore(t *testing.T) {
	l := openLab(t)
	project := l.project("you/prepared", plain("node --test", map[string]string{"a.test.js": "require('node:test')('adds', () => {})\n"}))
	first := ask(t, http.MethodPost, l.URL+"/tests", `{"repository":"`+project+`","backup":{"ttl":600}}`).
		has(200, `"phase":"backup","state":"ended"`, `"type":"complete"`, `"exitCode":0`).body
	_, rest, found := strings.Cut(first, `"backup":{"id":"`)
	if !found {
		t.Fatal(first)
	}
	id := rest[:36]
	second := ask(t, http.MethodPost, l.URL+"/tests", `{"restore":"`+id+`"}`).
		has(200, `"phase":"restore","state":"ended"`, `"type":"complete"`, `"exitCode":0`, `"passed":1`).body
	for _, phase := range []string{"clone", "backup"} {
		if strings.Contains(second, `"phase":"`+phase+`"`) {
			t.Errorf("phase %s in %s", phase, second)
		}
	}
	ask(t, http.MethodPost, l.URL+"/tests", `{"restore":"`+id+`","command":"ls"}`).has(200, "a.test.js")
	ask(t, http.MethodPost, l.URL+"/tests", `{"restore":"00000000-0000-4000-8000-000000000000"}`).has(404)
	ask(t, http.MethodPost, l.URL+"/tests", `{"restore":"`+id+`","repository":"`+project+`"}`).has(400)
	ask(t, http.MethodGet, l.URL+"/v1/backups?app=testrunner", "").has(200, id, project)
}

// A sandbox that is killed while all of its workspace is replaced has the former
// files or the new ones when it starts again, and whoever asked is told.
func TestBackup_sandboxKilledMeanwhile(t *testing.T) {
	g := start(t)
	const fill = `
import os, shutil
for name in os.listdir("."): shutil.rmtree(name)
for i in range(500):
    name = %q + str(i); os.makedirs(name); open(name + "/file", "w").write("x" * 1000)
print("filled")`
	state := func() string {
		var a answer
		eventually(t, "the sandbox answers again", func() bool {
			a = ask(t, http.MethodPost, g.URL+"/notebook?notebook=killed", digest+`print(digest("/workspace"))`)
			return a.status == http.StatusOK
		})
		return output(t, a.cell())
	}
	output(t, notebook(t, g, "killed", fmt.Sprintf(fill, "old")))
	b := makeBackup(t, g, `{"app":"notebook","name":"killed"}`)
	first := state()
	for round := range 3 {
		output(t, notebook(t, g, "killed", fmt.Sprintf(fill, "new")))
		second := state()
		answered := make(chan int)
		go func() { // ends with the request
			resp, err := http.Post(g.URL+"/v1/backups/"+b.ID+"/restore", "", nil)
			if err != nil {
				answered <- 0
				return
			}
			_ = resp.Body.Close()
			answered <- resp.StatusCode
		}()
		time.Sleep(time.Duration(200+400*round) * time.Millisecond) // any moment will do
		killSandboxes(t, g.Dir)
		status := <-answered
		got := state()
		if got != first && got != second {
			t.Errorf("round %d: neither the former nor the new files, after %d", round, status)
		}
		t.Logf("round %d: %d, and the files are the former: %v", round, status, got == second)
		if status == http.StatusOK && got != first {
			t.Errorf("round %d: a restore that was said to be done was not", round)
		}
	}
}

// Backups go to an S3 server and come from there; without it they are refused,
// and nothing is left of what was under way.
func TestBackup_onS3(t *testing.T) {
	server := sandboxtest.StartS3(t)
	server.MakeBucket("objects")
	t.Setenv("AWS_ACCESS_KEY_ID", server.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", server.SecretKey)
	place := "s3://objects/gateway?endpoint=" + url.QueryEscape(server.Endpoint)
	g := start(t, "--objects", place)
	ask(t, http.MethodPut, file(g, "app/file"), "packed").has(200)
	notebook(t, g, "large", `import os; open("noise", "wb").write(os.urandom(30 << 20))`)
	b := makeBackup(t, g, `{"app":"files","dir":"app"}`)
	large := makeBackup(t, g, `{"app":"notebook","name":"large"}`)
	if large.SizeBytes < 30<<20 {
		t.Errorf("%+v", large)
	}
	ask(t, http.MethodPut, file(g, "app/file"), "spoiled").has(200)
	restoreBackup(t, g, b.ID, "").has(200)
	ask(t, http.MethodGet, file(g, "app/file"), "").is(200, "packed")
	restoreBackup(t, g, large.ID, `{"app":"notebook","name":"other"}`).has(200)
	server.Kill()
	if a := ask(t, http.MethodPost, g.URL+"/v1/backups", `{"app":"files"}`); a.status < 500 {
		t.Errorf("without a server: %d %s", a.status, a.body)
	}
	if a := restoreBackup(t, g, b.ID, ""); a.status < 500 {
		t.Errorf("without a server: %d %s", a.status, a.body)
	}
	ask(t, http.MethodGet, file(g, "app/file"), "").is(200, "packed")
	server.Start()
	restoreBackup(t, g, b.ID, "").has(200)
	if strings.Contains(g.Log(), server.SecretKey) {
		t.Error("the log holds the key")
	}
}
