package e2e

import (
	"encoding/json"
	"io/fs"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"sandgate/internal/sandboxtest"
)

// runTime is what a run may take on a busy machine.
const runTime = 4 * time.Minute

// A lab is a gateway, and a git server that its runs may reach.
type lab struct {
	*sandboxtest.Gateway
	git *sandboxtest.GitServer
}

func openLab(t *testing.T, args ...string) lab {
	t.Helper()
	return openLabIn(t, stateDir(t), sandboxtest.ServeGit(t), args...)
}

func openLabIn(t *testing.T, dir string, git *sandboxtest.GitServer, args ...string) lab {
	t.Helper()
	private := "--egress-allow-private=" + strings.TrimPrefix(git.URL, "http://")
	return lab{startIn(t, dir, append([]string{private}, args...)...), git}
}

// project serves files as a repository and gives its URL.
func (l lab) project(name string, files fs.FS) string {
	return l.git.AddRepository(name+".git", files, sandboxtest.GitOptions{}).URL
}

// plain is a project that needs nothing from a registry, with more files.
func plain(test string, more map[string]string) fstest.MapFS {
	script, _ := json.Marshal(test)
	files := fstest.MapFS{
		"package.json":      {Data: []byte(`{"name":"plain","version":"1.0.0","scripts":{"test":` + string(script) + `}}`)},
		"package-lock.json": {Data: []byte(`{"name":"plain","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"plain","version":"1.0.0"}}}`)},
	}
	for name, content := range more {
		files[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return files
}

// testEvent is an event of a run, or its summary.
type testEvent struct {
	Seq             string `json:"-"`
	Type            string
	Run             string
	Phase           string
	State           string
	Command         string
	Commit          string
	Data            string
	Code            string
	Message         string
	Status          string
	Signal          string
	Position        int
	ExitCode        *int
	DurationMS      float64
	ResultsDisagree bool
	Truncated       bool
	Results         *testResults
	Artifacts       []testArtifact
	Error           *struct{ Code, Message string }
}

type testResults struct {
	Framework                            string
	Passed, Failed, Skipped, Todo, Total int
	Failures                             []struct {
		Name, File, Message string
		Line                int
	}
}

type testArtifact struct {
	Name string
	Size int64
	URL  string
}

// ended says whether the run's program ended in this phase, with this code.
func (e testEvent) ended(t *testing.T, phase string, code int) testEvent {
	t.Helper()
	if e.Type != "complete" || e.Phase != phase || e.Status != "exited" || e.ExitCode == nil || *e.ExitCode != code {
		t.Errorf("ended as %+v, want phase %s with exit code %d", e, phase, code)
	}
	return e
}

// failed says whether we failed in this phase, with this code and words.
func (e testEvent) failed(t *testing.T, phase, code, words string) {
	t.Helper()
	if e.Type != "error" || e.Phase != phase || e.Code != code || !strings.Contains(e.Message, words) {
		t.Errorf("ended as %+v, want an error %s in phase %s that says %q", e, code, phase, words)
	}
}

// A testStream is the events of a run, as one viewer reads them.
type testStream struct {
	t *testing.T
	stream[testEvent]
	seen []testEvent
}

// test starts a run and watches it.
func (l lab) test(t *testing.T, body string) *testStream {
	t.Helper()
	return openTestStream(t, http.MethodPost, l.URL+"/tests", body)
}

// again watches a run from a number on.
func (l lab) again(t *testing.T, location, after string) *testStream {
	t.Helper()
	return openTestStream(t, http.MethodGet, l.URL+location+"/events", "", "Last-Event-ID", after)
}

func openTestStream(t *testing.T, method, target, body string, header ...string) *testStream {
	t.Helper()
	numbered := func(e *testEvent, id string) { e.Seq = id }
	return &testStream{t: t, stream: openStream(t, runTime, numbered, method, target, body, header...)}
}

// next gives the next event; false when the stream ended.
func (s *testStream) next() (testEvent, bool) {
	s.t.Helper()
	select {
	case e, ok := <-s.events:
		if ok {
			s.seen = append(s.seen, e)
		}
		return e, ok
	case <-time.After(runTime):
		s.t.Fatal("no event")
	}
	panic("unreachable")
}

// until reads up to an event that is wanted.
func (s *testStream) until(what string, wanted func(testEvent) bool) testEvent {
	s.t.Helper()
	for {
		e, ok := s.next()
		if !ok {
			s.t.Fatalf("the stream ended before %s:\n%s", what, s.story())
		}
		if wanted(e) {
			return e
		}
	}
}

// says reads up to output that holds a text.
func (s *testStream) says(text string) testEvent {
	s.t.Helper()
	return s.until("it says "+text, func(e testEvent) bool { return strings.Contains(e.Data, text) })
}

// end reads to the terminal event, which must be the last and only one.
func (s *testStream) end() testEvent {
	s.t.Helper()
	last := s.until("its end", func(e testEvent) bool { return e.Type == "complete" || e.Type == "error" })
	if e, more := s.next(); more {
		s.t.Errorf("after the terminal event: %+v", e)
	}
	s.t.Cleanup(func() {
		if s.t.Failed() {
			s.t.Logf("the run's events:\n%s", s.story())
		}
	})
	return last
}

// output is all that was printed so far.
func (s *testStream) output() string {
	var b strings.Builder
	for _, e := range s.seen {
		b.WriteString(e.Data)
	}
	return b.String()
}

// story is the events so far in short, for who looks for a mistake.
func (s *testStream) story() string {
	var b strings.Builder
	for _, e := range s.seen {
		if e.Data != "" {
			b.WriteString(e.Data[:min(len(e.Data), 500)])
			continue
		}
		line, _ := json.Marshal(e)
		b.Write(append(line, '\n'))
	}
	return b.String()
}

// warned says whether there was a warning with a code.
func (s *testStream) warned(code string) bool {
	for _, e := range s.seen {
		if e.Type == "warning" && e.Code == code {
			return true
		}
	}
	return false
}

// summary asks for a run's.
func (l lab) summary(t *testing.T, location string) testEvent {
	t.Helper()
	var s testEvent
	if err := json.Unmarshal([]byte(ask(t, http.MethodGet, l.URL+location, "").has(200).body), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// order is the JSON form of a request.
func order(repository string, more map[string]any) string {
	all := map[string]any{"repository": repository}
	maps.Copy(all, more)
	body, _ := json.Marshal(all)
	return string(body)
}
