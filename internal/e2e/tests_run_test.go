package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"sandgate/internal/sandboxtest"
)

// TestRuns are those that share one gateway.
func TestRuns(t *testing.T) {
	t.Parallel()
	sandboxtest.Require(t)
	l := openLab(t, "--max-runs", "4")
	slow := startSlowRuns(t, l)
	t.Run("meanwhile", func(t *testing.T) { // returns when all of them have
		for name, check := range map[string]func(*testing.T, lab){
			"fails":        testFails,
			"passes":       testPasses,
			"staleLock":    testStaleLock,
			"noLock":       testNoLock,
			"private":      testPrivate,
			"missing":      testMissing,
			"large":        testLargeOutput,
			"canceled":     testCanceled,
			"disconnected": testDisconnected,
			"resumed":      testResumed,
			"asJSON":       testAsJSON,
			"artifacts":    testArtifacts,
			"attack":       testAttack,
			"ownCommand":   testOwnCommand,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				check(t, l)
			})
		}
	})
	slow.check(t, l)
}

func testPasses(t *testing.T, l lab) {
	s := l.test(t, " "+l.sample("nodetest")+"\n")
	end := s.end().ended(t, "test", 0)
	if r := end.Results; r == nil || r.Framework != "node:test" || r.Passed != 3 || r.Skipped != 1 || r.Todo != 1 || r.Failed != 0 || end.ResultsDisagree {
		t.Errorf("results %+v", r)
	}
	if first := s.seen[0]; first.Type != "start" || first.Seq != "1" || first.Command != "npm ci && npm test" || "/tests/"+first.Run != s.location {
		t.Errorf("first %+v at %s", first, s.location)
	}
	sum := l.summary(t, s.location)
	if sum.Phase != "test" || sum.Status != "exited" || sum.ExitCode == nil || *sum.ExitCode != 0 || sum.Results == nil || len(sum.Commit) != 40 {
		t.Errorf("summary %+v", sum)
	}
}

func testFails(t *testing.T, l lab) {
	end := l.test(t, l.sample("failing")).end().ended(t, "test", 1)
	if r := end.Results; r == nil || r.Failed != 2 || r.Passed != 2 || len(r.Failures) != 2 || r.Failures[0].Line == 0 || end.ResultsDisagree {
		t.Errorf("results %+v", r)
	}
}

func testStaleLock(t *testing.T, l lab) {
	s := l.test(t, l.sample("stale-lock"))
	end := s.end()
	if end.Type != "complete" || end.Phase != "install" || end.ExitCode == nil || *end.ExitCode == 0 || end.Results != nil {
		t.Errorf("%+v", end)
	}
	if !strings.Contains(s.output(), "EUSAGE") {
		t.Errorf("npm's words are not passed on: %s", s.output())
	}
}

func testNoLock(t *testing.T, l lab) {
	files := plain("echo tested", nil)
	delete(files, "package-lock.json")
	s := l.test(t, l.project("nolock", files))
	s.end().ended(t, "test", 0)
	if !s.warned("no_lock_file") || l.summary(t, s.location).Command != "npm install && npm test" {
		t.Errorf("not told: %s", s.story())
	}
}

// A repository that asks who one is fails at once, and with credentials is
// cloned, which nobody gets to see.
func testPrivate(t *testing.T, l lab) {
	repo := l.git.AddRepository("private.git", plain("git config -l; cat .git/config; env", nil), sandboxtest.GitOptions{User: "me", Password: "hunter2"})
	began := time.Now()
	l.test(t, repo.URL).end().failed(t, "clone", "forbidden", "")
	if took := time.Since(began); took > time.Minute {
		t.Errorf("told after %s", took)
	}
	s := l.test(t, strings.Replace(repo.URL, "http://", "http://me:hunter2@", 1))
	s.end().ended(t, "test", 0)
	for where, text := range map[string]string{
		"the events":  s.output(),
		"the summary": ask(t, http.MethodGet, l.URL+s.location, "").body,
		"the log":     l.Log(),
	} {
		if strings.Contains(text, "hunter2") {
			t.Errorf("the password is in %s", where)
		}
	}
}

func testMissing(t *testing.T, l lab) {
	l.test(t, l.git.URL+"/nothing.git").end().failed(t, "clone", "not_found", "")
	for body, status := range map[string]int{
		"":                               400,
		"--upload-pack=touch x":          400,
		"EXT::sh -c id":                  400,
		"file:///etc":                    403,
		"ssh://git@github.com/x/y":       403,
		"http://github.com/x/y":          403,
		"https://169.254.169.254/latest": 403,
		"https://[::1]:8787/x":           403,
		"https://example.org/not/on/the/list.git":           403,
		`{"repository":"https://github.com/x/y","cmd":"x"}`: 400,
	} {
		a := ask(t, http.MethodPost, l.URL+"/tests", body)
		if a.status != status {
			t.Errorf("%s: %d %s, want %d", body, a.status, a.body, status)
		}
	}
	ask(t, http.MethodPost, l.URL+"/tests", "https://example.org/x.git").has(403, "--egress-allow")
	ask(t, http.MethodGet, l.URL+"/tests/00000000-0000-4000-8000-000000000000", "").has(404)
}

// slowRuns take their time and do nothing: they are run beside all others.
type slowRuns struct{ overdue, hanging string }

func startSlowRuns(t *testing.T, l lab) slowRuns {
	t.Helper()
	begin := func(body string) string {
		return ask(t, http.MethodPost, l.URL+"/tests", body, "Accept", "application/json").has(202).header.Get("Location")
	}
	return slowRuns{
		overdue: begin(order(l.sample("hangs-silent"), map[string]any{"timeout": 30})),
		hanging: begin(l.sample("hangs")),
	}
}

// check says whether the one was ended at its timeout, and the other some time
// after its summary.
func (r slowRuns) check(t *testing.T, l lab) {
	if end := l.again(t, r.overdue, "0").end(); end.Type != "complete" || end.Status != "timed_out" {
		t.Errorf("overdue: %+v", end)
	}
	s := l.again(t, r.hanging, "0")
	end := s.end()
	if end.Type != "complete" || end.Status != "timed_out" || end.Phase != "test" || end.Results == nil || end.Results.Passed != 2 || !s.warned("did_not_exit") {
		t.Errorf("hanging: %+v", end)
	}
}

// All of what is printed reaches the viewer, in order, and the gateway bears it.
func testLargeOutput(t *testing.T, l lab) {
	s := l.test(t, l.sample("loud"))
	s.says("> node loud.js\n")
	var printed strings.Builder
	var end testEvent
	for end.Type != "complete" && end.Type != "error" {
		var ok bool
		if end, ok = s.next(); !ok {
			t.Fatal("the stream broke")
		}
		printed.WriteString(end.Data)
		s.seen = nil // 50 MB once is enough
	}
	if end.ended(t, "test", 0); end.Truncated || end.Results == nil || end.Results.Passed != 1 {
		t.Errorf("%+v", end)
	}
	const lines = 500_000
	next := 1
	for line := range strings.Lines(printed.String()) {
		if !strings.HasPrefix(line, "line ") {
			continue
		}
		if !strings.HasPrefix(line, fmt.Sprintf("line %d .", next)) || len(line) != 100 {
			t.Fatalf("line %d is %.40q, %d bytes", next, line, len(line))
		}
		next++
	}
	if next != lines+1 {
		t.Errorf("%d lines of %d", next-1, lines)
	}
}

func testCanceled(t *testing.T, l lab) {
	s := l.test(t, l.project("canceled", plain("echo begun; sh -c 'setsid sleep 600 & sleep 600'", nil)))
	s.says("begun\n")
	ask(t, http.MethodDelete, l.URL+s.location, "").has(204)
	if end := s.end(); end.Type != "complete" || end.Status != "canceled" {
		t.Errorf("%+v", end)
	}
	ask(t, http.MethodDelete, l.URL+s.location, "").has(204)
	if sum := l.summary(t, s.location); sum.Status != "canceled" {
		t.Errorf("%+v", sum)
	}
}

func testDisconnected(t *testing.T, l lab) {
	project := l.project("left", plain("echo begun; sleep 5; echo done", nil))
	for policy, status := range map[string]string{"cancel": "canceled", "continue": "exited"} {
		s := l.test(t, order(project, map[string]any{"onDisconnect": policy}))
		s.says("begun\n")
		s.leave()
		again := l.again(t, s.location, "0")
		if end := again.end(); end.Status != status || strings.Contains(again.output(), "\ndone\n") != (policy == "continue") {
			t.Errorf("%s: %+v", policy, end)
		}
	}
}

// A viewer who comes back after event 40 reads exactly from 41 on, before the
// end and after it.
func testResumed(t *testing.T, l lab) {
	s := l.test(t, l.project("resumed", plain("for i in $(seq 60); do echo line $i; sleep 0.05; done", nil)))
	s.until("event 40", func(e testEvent) bool { return e.Seq == "40" })
	s.leave()
	for _, when := range []string{"while it runs", "after its end"} {
		again := l.again(t, s.location, "40")
		again.end().ended(t, "test", 0)
		for i, e := range again.seen {
			if e.Seq != fmt.Sprint(41+i) {
				t.Fatalf("%s: event %s is the %dth after 40", when, e.Seq, i+1)
			}
		}
		whole := l.again(t, s.location, "")
		whole.end()
		if got, want := again.output(), whole.output(); !strings.HasSuffix(want, got) || !strings.HasSuffix(got, "line 60\n") {
			t.Errorf("%s: read %q of %q", when, got, want)
		}
		if len(whole.seen) != 40+len(again.seen) {
			t.Errorf("%s: %d events after 40, of %d", when, len(again.seen), len(whole.seen))
		}
	}
	last := l.again(t, s.location, "0")
	end := last.end()
	ask(t, http.MethodGet, l.URL+s.location+"/events?after="+end.Seq, "").has(http.StatusNoContent)
}

func testAsJSON(t *testing.T, l lab) {
	a := ask(t, http.MethodPost, l.URL+"/tests", l.project("json", plain("true", nil)), "Accept", "application/json").has(202, `"status":`, `"artifacts":[]`)
	location := a.header.Get("Location")
	l.again(t, location, "0").end().ended(t, "test", 0)
	var list struct {
		Runs []struct{ ID, Status string }
		Next string
	}
	if err := json.Unmarshal([]byte(ask(t, http.MethodGet, l.URL+"/tests?limit=100", "").has(200).body), &list); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, run := range list.Runs {
		found = found || "/tests/"+run.ID == location && run.Status == "exited"
	}
	if !found {
		t.Errorf("%s is not in %+v", location, list)
	}
}

func testArtifacts(t *testing.T, l lab) {
	script := `mkdir -p out/deep node_modules/x; echo report > out/deep/r.txt; echo '<script>' > out/page.html; ` +
		`ln -s /etc/passwd out/passwd; ln -s /etc out/etc; ln -s /workspace/.home out/home; mkfifo out/fifo; echo no > node_modules/x/a.txt; exit 3`
	s := l.test(t, order(l.project("artifacts", plain(script, nil)), map[string]any{"artifacts": []string{"out/**", "**/a.txt"}}))
	end := s.end().ended(t, "test", 3)
	var names []string
	for _, a := range end.Artifacts {
		names = append(names, a.Name)
	}
	if got := strings.Join(names, " "); got != "out/deep/r.txt out/page.html" {
		t.Errorf("kept %s", got)
	}
	if !s.warned("artifact_skipped") {
		t.Error("the link is not told of")
	}
	for _, a := range end.Artifacts {
		got := ask(t, http.MethodGet, l.URL+a.URL, "").has(200)
		if int64(len(got.body)) != a.Size || !strings.HasPrefix(got.header.Get("Content-Disposition"), "attachment") ||
			got.header.Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(got.header.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%s: %q %v", a.Name, got.body, got.header)
		}
	}
	ask(t, http.MethodGet, l.URL+s.location+"/artifacts/out/passwd", "").has(404)
	ask(t, http.MethodGet, l.URL+s.location+"/artifacts/../../../etc/passwd", "").has(404)
}

// What an install script tries reaches nothing, and harms nobody.
func testAttack(t *testing.T, l lab) {
	secret := l.Dir + "/key"
	if _, err := os.Stat(secret); err != nil {
		t.Fatal(err)
	}
	files := plain("echo tested", map[string]string{"attack.sh": `
for url in http://169.254.169.254/latest/meta-data/ http://[fd00:ec2::254]/ ` + l.URL + `/ ` + l.Admin + `/metrics https://example.org/; do
	curl -sf -m 5 -o /dev/null "$url" && echo "REACHED $url"
	curl -sf -m 5 --noproxy '*' -o /dev/null "$url" && echo "REACHED $url past the proxy"
done
getent hosts example.org && echo "REACHED a name server"
cat ` + secret + ` /etc/shadow 2>/dev/null && echo "REACHED a file of the host"
echo attacked
`})
	files["package.json"] = &fstest.MapFile{Data: []byte(`{"name":"plain","version":"1.0.0","scripts":{"postinstall":"bash attack.sh","test":"echo tested"}}`)}
	s := l.test(t, order(l.project("attack", files), map[string]any{"command": "npm ci --foreground-scripts; echo survived"}))
	end := s.end()
	out := s.output()
	if strings.Contains(out, "REACHED") || !strings.Contains(out, "attacked") && end.Status == "exited" {
		t.Errorf("%+v\n%s", end, out)
	}
	if !s.warned("egress_refused") {
		t.Error("what was refused is not told")
	}
	run(t, l.Gateway, "1")
}

func testOwnCommand(t *testing.T, l lab) {
	s := l.test(t, order(l.project("own", plain("false", nil)), map[string]any{
		"command": `echo "$GREETING from $PWD $CI" | tee greeting; exit 5`, "env": map[string]string{"GREETING": "hello"},
	}))
	s.end().ended(t, "test", 5)
	if !strings.Contains(s.output(), "hello from /workspace/app true\n") {
		t.Errorf("%s", s.output())
	}
}
