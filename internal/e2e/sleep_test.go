package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sandgate/internal/sandboxtest"
)

// listed is a sandbox as GET /v1/sandboxes tells of it.
type listed struct {
	App, Name, State       string
	LastUsed               time.Time
	SleepsAt, DestroyedAt  *time.Time
	MemoryBytes, DiskBytes int64
}

// sandboxes gives those of a gateway by name.
func sandboxes(t *testing.T, g *sandboxtest.Gateway) map[string]listed {
	t.Helper()
	var page struct{ Sandboxes []listed }
	a := ask(t, http.MethodGet, g.URL+"/v1/sandboxes?limit=1000", "").has(200)
	if err := json.Unmarshal([]byte(a.body), &page); err != nil {
		t.Fatal(err)
	}
	byName := make(map[string]listed)
	for _, s := range page.Sandboxes {
		byName[s.Name] = s
	}
	return byName
}

// asleep waits until a sandbox is.
func asleep(t *testing.T, g *sandboxtest.Gateway, name string) {
	t.Helper()
	eventually(t, name+" sleeps", func() bool { return sandboxes(t, g)[name].State == "hibernated" })
}

// hibernate puts a notebook to sleep.
func hibernate(t *testing.T, g *sandboxtest.Gateway, name string) {
	t.Helper()
	ask(t, http.MethodPost, g.URL+"/v1/sandboxes/hibernate?app=notebook&name="+name, "").has(200, `"hibernated"`)
}

// stopped stops a gateway as an operator does.
func stopped(t *testing.T, g *sandboxtest.Gateway) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := g.Stop(ctx); err != nil {
		t.Fatalf("%v\n%s", err, g.Log())
	}
}

func TestSleep_keepsVariablesAndCostsNoProcess(t *testing.T) {
	t.Parallel()
	g := start(t, "--sleep-after", "1s")
	ask(t, http.MethodPut, file(g, "kept.txt"), "kept").has(200)
	notebook(t, g, "n", "x = 41\nopen('own.txt','w').write('own')")
	asleep(t, g, "n")
	eventually(t, "nothing runs", func() bool { return len(sandboxProcesses(t, g.Dir)) == 0 })
	s := sandboxes(t, g)["n"]
	if s.MemoryBytes != 0 || s.DiskBytes < 1<<20 || s.DestroyedAt == nil || s.SleepsAt != nil {
		t.Errorf("a notebook that sleeps: %+v", s)
	}
	ask(t, http.MethodGet, g.URL+"/notebook?notebook=n", "").has(200, `"hibernated"`)
	got := notebook(t, g, "n", "x + 1, open('own.txt').read()")
	if !slices.Equal(got.Values, []string{"(42, 'own')"}) || got.Start != "woken" || got.Generation != 1 {
		t.Errorf("%+v", got)
	}
	// A request for a file wakes as well.
	ask(t, http.MethodGet, file(g, "kept.txt"), "").is(200, "kept")
}

func TestSleep_overAStopOfTheGateway(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	g := startIn(t, dir)
	notebook(t, g, "n", "x = 41")
	stopped(t, g)
	if left := sandboxProcesses(t, dir); len(left) != 0 {
		t.Errorf("processes of sandboxes without a gateway: %v", left)
	}
	g = startIn(t, dir)
	if got := notebook(t, g, "n", "x + 1"); !slices.Equal(got.Values, []string{"42"}) || got.Start != "woken" {
		t.Errorf("%+v", got)
	}
}

// What runs detached goes on, also over a stop of the gateway; its events are
// found by who asks for them later.
func TestSleep_detachedWorkGoesOn(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	g := startIn(t, dir, "--shutdown-grace", "1s")
	v := watch(t, http.MethodPost, g.URL+"/notebook?notebook=n&timeout=5m&onDisconnect=continue",
		"import os, time\nprint('begun')\nwhile not os.path.exists('go'): time.sleep(0.05)\nprint('done')")
	for v.next().Type != "stdout" {
	}
	location := v.location
	stopped(t, g)
	v.leave()
	g = startIn(t, dir)
	ask(t, http.MethodGet, g.URL+location, "").has(200, `"running"`)
	stop := watch(t, http.MethodGet, g.URL+location+"/events", "")
	ask(t, http.MethodPost, g.URL+"/notebook?notebook=n&language=bash", "touch go").has(200)
	if output, end := stop.rest(); output != "begun\ndone\n" || end.Status != "exited" {
		t.Errorf("%q, %+v", output, end)
	}
}

// A cell's state of every awkward kind is there after a sleep.
func TestSleep_cycles(t *testing.T) {
	t.Parallel()
	g := start(t)
	notebook(t, g, "n", `
import hashlib, os, random, sqlite3, subprocess, threading, time
random.seed(42)
data = os.urandom(1 << 20)
open("file", "wb").write(data)
digest = hashlib.sha256(data).hexdigest()
gone = open("gone", "w+b"); gone.write(b"unlinked"); gone.flush(); os.unlink("gone")
db = sqlite3.connect("db"); db.execute("pragma journal_mode=wal"); db.execute("create table t(n)"); db.execute("insert into t values (7)")
child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
ticks = 0
def tick():
    global ticks
    while True:
        ticks += 1
        time.sleep(0.01)
threading.Thread(target=tick, daemon=True).start()
cycle = 0`)
	cycles := max(5, soakRuns(t)/15) // 200 in a soak
	for i := range cycles {
		hibernate(t, g, "n")
		got := notebook(t, g, "n", `
cycle += 1
before = ticks
time.sleep(0.1)
child.stdin.write(b"x\n"); child.stdin.flush()
gone.seek(0)
assert hashlib.sha256(open("file", "rb").read()).hexdigest() == digest
assert (gone.read(), child.stdout.readline(), db.execute("select n from t").fetchone()) == (b"unlinked", b"x\n", (7,))
assert ticks > before and abs(time.time() - float(subprocess.check_output(["date", "+%s"]))) < 5
(cycle, random.random())`)
		if len(got.Values) != 1 || !strings.HasPrefix(got.Values[0], fmt.Sprintf("(%d,", i+1)) || got.Start != "woken" {
			t.Fatalf("cycle %d: %+v", i, got)
		}
		if want := "(1, 0.6394267984578837)"; i == 0 && got.Values[0] != want {
			t.Errorf("the sequence of its random numbers: %s, want %s", got.Values[0], want)
		}
	}
}

// The gateway as it ships makes its template, and fresh notebooks begin with it.
func TestSleep_freshNotebooksBeginWarm(t *testing.T) {
	t.Parallel()
	g := start(t, "--warm", "--pool=1")
	eventually(t, "a template is made", func() bool {
		made, _ := filepath.Glob(filepath.Join(g.Dir, "templates", "*", "synced"))
		return len(made) == 1
	})
	for _, name := range []string{"first", "second"} {
		if got := notebook(t, g, name, "x = 41; x + 1"); !slices.Equal(got.Values, []string{"42"}) || got.Start != "fresh" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if strings.Contains(g.Log(), "begin cold") {
		t.Error("they begin cold")
	}
}

// More notebooks than the memory has room for: each keeps its variable. It has the
// machine to itself, for it is about many sleeps and not about patience. gVisor
// may die of itself, seldom, which is told; nothing is lost without a word.
func TestSleep_density(t *testing.T) {
	count, memory := 20, "400MiB"
	if os.Getenv("SOAK_RUNS") != "" {
		count, memory = 500, "3GiB"
		if room := roomIn(t, os.TempDir()); room < 40<<30 {
			t.Fatalf("500 sleeping notebooks need some 25 GB of disk, and %d MB are free", room>>20)
		}
	}
	g := start(t, "--warm", "--max-memory", memory, "--max-running", "1000", "--queue-time", "1m")
	visit := func(check func(name string)) {
		names := make(chan string)
		var visitors sync.WaitGroup
		for range 4 {
			visitors.Go(func() {
				for name := range names {
					check(name)
				}
			})
		}
		for _, i := range rand.Perm(count) {
			names <- strconv.Itoa(i)
		}
		close(names)
		visitors.Wait()
	}
	visit(func(name string) { notebook(t, g, name, "x = "+name) })
	var lost atomic.Int32
	for range 2 {
		visit(func(name string) {
			got := notebook(t, g, name, "x = globals().get('x', "+name+"); x")
			if got.Start == "restarted" && got.Restart != "" {
				lost.Add(1)
				t.Logf("notebook %s: %+v", name, got)
			} else if !slices.Equal(got.Values, []string{name}) {
				t.Errorf("notebook %s: %+v", name, got)
			}
		})
	}
	if n := int(lost.Load()); n > count/20 {
		t.Errorf("%d of %d visits found a notebook that had been started anew", n, 2*count)
	}
	states := make(map[string]int)
	for _, s := range sandboxes(t, g) {
		states[s.State]++
	}
	if states["running"]+states["hibernated"] != count || states["hibernated"] < count/2 {
		t.Errorf("of %d notebooks: %v", count, states)
	}
	t.Logf("%d notebooks in %s: %v", count, memory, states)
}

// roomIn is what the disk of a directory has room for.
func roomIn(t *testing.T, dir string) int64 {
	t.Helper()
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		t.Fatal(err)
	}
	return int64(stat.Bavail) * stat.Bsize
}

// Whatever changed under a notebook that sleeps: it starts anew on its files, and
// says why; nothing hangs, and nothing is silently wrong.
func TestSleep_whatHasChangedStartsAnew(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, dir string, programs string)
		args   []string
		reason string
	}{
		{"a program that runs inside was replaced", func(t *testing.T, _, programs string) { replace(t, filepath.Join(programs, "sandboxd")) }, nil, "sandboxd, which it was using, was changed"},
		{"the runtime was upgraded", func(t *testing.T, _, programs string) { replace(t, filepath.Join(programs, "runsc")) }, nil, "runtime was replaced"},
		{"the limits are others", func(*testing.T, string, string) {}, []string{"--memory", "900MiB"}, "limits of sandboxes were changed"},
		{"its memory is damaged", damage("pages.img"), nil, "its memory could not be brought back"},
		{"what describes it is damaged", damage("manifest.json"), nil, "cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, programs := stateDir(t), t.TempDir()
			args := []string{"--sandboxd", copyProgram(t, "sandboxd", programs), "--runtime", copyProgram(t, "runsc", programs)}
			g := startIn(t, dir, args...)
			notebook(t, g, "n", "x = 41\nopen('own.txt','w').write('own')")
			stopped(t, g)
			c.change(t, dir, programs)
			g = startIn(t, dir, append(args, c.args...)...)
			got := notebook(t, g, "n", "open('own.txt').read(), 'x' in globals()")
			if !slices.Equal(got.Values, []string{"('own', False)"}) || got.Start != "restarted" || !strings.Contains(got.Restart, c.reason) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// copyProgram puts a copy of a shipped program into a directory.
func copyProgram(t *testing.T, name, dir string) string {
	t.Helper()
	data, err := os.ReadFile(sandboxtest.Bin(name))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// replace replaces a file by one of the same content, as an upgrade would.
func replace(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".new", data, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// damage cuts a file of every checkpoint short.
func damage(name string) func(*testing.T, string, string) {
	return func(t *testing.T, dir, _ string) {
		t.Helper()
		found, _ := filepath.Glob(filepath.Join(dir, "sandboxes", "*", "checkpoint", name))
		if len(found) == 0 {
			t.Fatalf("there is no %s", name)
		}
		for _, path := range found {
			if err := os.Truncate(path, 50); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// After a reboot there is nothing below run/, and no mount: what sleeps wakes.
func TestSleep_overAReboot(t *testing.T) {
	t.Parallel()
	dir := stateDir(t)
	g := startIn(t, dir)
	notebook(t, g, "n", "x = 41")
	stopped(t, g)
	if err := os.RemoveAll(filepath.Join(dir, "run")); err != nil {
		t.Fatal(err)
	}
	g = startIn(t, dir)
	if got := notebook(t, g, "n", "x + 1"); !slices.Equal(got.Values, []string{"42"}) || got.Start != "woken" {
		t.Errorf("%+v", got)
	}
}

// Without room for its memory a notebook runs on, whoever asks it to sleep.
func TestSleep_onAFullDiskRunsOn(t *testing.T) {
	dir := sandboxtest.SmallDisk(t, 256<<20)
	g := startIn(t, filepath.Join(dir, "s"), "--workspace-size", "32MiB")
	notebook(t, g, "n", "x = 41")
	filler := filepath.Join(dir, "filler")
	if err := fillDisk(filler, roomIn(t, dir)); err != nil {
		t.Fatal(err)
	}
	ask(t, http.MethodPost, g.URL+"/v1/sandboxes/hibernate?app=notebook&name=n", "").has(503, "runs on")
	if got := notebook(t, g, "n", "x + 1"); !slices.Equal(got.Values, []string{"42"}) || got.Start != "running" {
		t.Errorf("%+v", got)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	hibernate(t, g, "n")
	if got := notebook(t, g, "n", "x + 1"); !slices.Equal(got.Values, []string{"42"}) || got.Start != "woken" {
		t.Errorf("%+v", got)
	}
}

// fillDisk takes all the room but a little.
func fillDisk(path string, room int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	for range room>>20 - 8 {
		if _, err := f.Write(chunk); err != nil {
			return nil // full: as was wanted
		}
	}
	return nil
}

// What sleeps has so much of the disk: memories are compressed when it gets short,
// then the one that slept for longest is given up, and told why.
func TestSleep_withinItsDisk(t *testing.T) {
	g := start(t, "--sleep-disk", "240MiB")
	var sizes []int64 // of all memories, after each
	for _, name := range []string{"first", "second"} {
		notebook(t, g, name, "x = b'z' * (185 << 20) + b'"+name+"'")
		hibernate(t, g, name)
		sizes = append(sizes, memoriesOf(t, g))
	}
	if first, second := sizes[0], sizes[1]-sizes[0]; second <= 0 || second > first/2 {
		t.Errorf("the second memory takes %d bytes, the first took %d", second, first)
	}
	notebook(t, g, "third", "import os; x = os.urandom(60 << 20)")
	hibernate(t, g, "third")
	if got := notebook(t, g, "first", "'x' in globals()"); got.Start != "restarted" || !strings.Contains(got.Restart, "oldest") {
		t.Errorf("the first: %+v", got)
	}
	if got := notebook(t, g, "second", "x[-6:]"); !slices.Equal(got.Values, []string{"b'second'"}) || got.Start != "woken" {
		t.Errorf("the second: %+v", got)
	}
}

// memoriesOf is the size of what sleeps.
func memoriesOf(t *testing.T, g *sandboxtest.Gateway) (sum int64) {
	t.Helper()
	found, _ := filepath.Glob(filepath.Join(g.Dir, "sandboxes", "*", "checkpoint", "*.img"))
	for _, path := range found {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		sum += info.Size()
	}
	return sum
}

// The gateway is killed again and again while notebooks sleep and wake, and every
// other time its sandboxes with it: none is stuck, none answers with another's
// variable, and nothing is left behind.
func TestSleep_killsAtRandom(t *testing.T) {
	t.Parallel()
	rounds := max(3, soakRuns(t)/30) // 100 in a soak
	dir := stateDir(t)
	args := []string{"--warm", "--pool", "1", "--sleep-after", "200ms", "--shutdown-grace", "1s"}
	told := [3]int{-1, -1, -1} // the last count that each notebook has answered with
	for round := range rounds {
		g := startIn(t, dir, args...)
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(2000+rand.IntN(3000))*time.Millisecond)
		var visitors sync.WaitGroup
		for i := range told {
			visitors.Go(func() { visitUntilKilled(ctx, t, g, strconv.Itoa(i), &told[i]) })
		}
		<-ctx.Done()
		cancel()
		if round%2 == 1 {
			for _, pid := range sandboxProcesses(t, dir) {
				_ = unix.Kill(pid, unix.SIGKILL)
			}
		}
		g.Kill()
		visitors.Wait()
	}
	g := startIn(t, dir, args...)
	for i, last := range told {
		name := strconv.Itoa(i)
		got := notebook(t, g, name, fmt.Sprintf("int(open('count').read()) >= %d, globals().get('name', %q)", last, name))
		if !slices.Equal(got.Values, []string{"(True, '" + name + "')"}) {
			t.Errorf("notebook %s after %d: %+v", name, last, got)
		}
	}
	stopped(t, g)
	nothingLeft(t, dir)
}

// A gateway that is killed while a notebook falls asleep costs nothing of it: the
// next one finds it awake or asleep.
func TestSleep_killedWhileItFallsAsleep(t *testing.T) {
	t.Parallel()
	rounds := max(4, soakRuns(t)/50) // 60 in a soak
	dir := stateDir(t)
	g := startIn(t, dir)
	notebook(t, g, "n", "x = b'z' * (100 << 20); n = 0") // some tenths of a second
	for round := range rounds {
		done := make(chan struct{})
		go func() {
			defer close(done)
			resp, err := http.Post(g.URL+"/v1/sandboxes/hibernate?app=notebook&name=n", "", nil)
			if err == nil {
				resp.Body.Close()
			}
		}()
		begun := func() bool {
			found, _ := filepath.Glob(filepath.Join(dir, "sandboxes", "*", "checkpoint", "m*"))
			return len(found) > 0
		}
		eventually(t, "the notebook begins to fall asleep", begun)
		time.Sleep(time.Duration(round%4*4+round/4%4) * 20 * time.Millisecond) // 0, 80, 160, 240, 20, 100, …
		g.Kill()
		<-done
		g = startIn(t, dir)
		got := notebook(t, g, "n", "n += 1; n, len(x)")
		if want := fmt.Sprintf("(%d, %d)", round+1, 100<<20); !slices.Equal(got.Values, []string{want}) {
			t.Fatalf("round %d: %+v", round, got)
		}
	}
	stopped(t, g)
	nothingLeft(t, dir)
}

// visitUntilKilled counts in a notebook, in memory and in a file. What was
// acknowledged is never lost: the file never counts less than told, which an
// answer has said before, of this gateway or of one that was killed.
func visitUntilKilled(ctx context.Context, t *testing.T, g *sandboxtest.Gateway, name string, told *int) {
	for ctx.Err() == nil {
		code := "import os\nname = globals().get('name', '" + name + "')\n" +
			"n = int(open('count').read()) + 1 if os.path.exists('count') else 0\n" +
			"with open('count.new', 'w') as f: f.write(str(n))\nos.rename('count.new', 'count')\n(n, name)"
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.URL+"/notebook?notebook="+name, strings.NewReader(code))
		if err != nil {
			t.Error(err)
			return
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			continue // the gateway was killed
		}
		var got cell
		err = json.NewDecoder(resp.Body).Decode(&got)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			continue
		}
		if len(got.Values) != 1 {
			t.Errorf("notebook %s: %+v", name, got)
			return
		}
		var n int
		var who string
		if _, err := fmt.Sscanf(got.Values[0], "(%d, %s", &n, &who); err != nil || n <= *told || who != "'"+name+"')" {
			t.Errorf("notebook %s after %d: %+v", name, *told, got)
			return
		}
		*told = n
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(rand.IntN(500)) * time.Millisecond):
		}
	}
}

func TestSandboxes_byRequest(t *testing.T) {
	t.Parallel()
	g := start(t)
	at := func(action, name string) string {
		return g.URL + "/v1/sandboxes" + action + "?app=notebook&name=" + name
	}
	ask(t, http.MethodGet, g.URL+"/v1/sandboxes", "").is(200, `{"sandboxes":[]}`+"\n")
	ask(t, http.MethodPost, at("/hibernate", "n"), "").has(404)
	ask(t, http.MethodPost, at("/wake", "n"), "").has(404)
	ask(t, http.MethodDelete, at("", "n"), "").has(404)
	ask(t, http.MethodPost, g.URL+"/v1/sandboxes/wake?app=notebook", "").has(400, "app and name")

	notebook(t, g, "n", "x = 41")
	if s := sandboxes(t, g)["n"]; s.App != "notebook" || s.State != "running" || s.MemoryBytes < 1<<20 || s.SleepsAt == nil {
		t.Errorf("one that runs: %+v", s)
	}
	hibernate(t, g, "n")
	hibernate(t, g, "n") // it is what was asked for
	ask(t, http.MethodPost, at("/wake", "n"), "").has(200, `"running"`)
	if got := notebook(t, g, "n", "x + 1"); !slices.Equal(got.Values, []string{"42"}) || got.Start != "woken" {
		t.Errorf("%+v", got)
	}
	hibernate(t, g, "n")
	ask(t, http.MethodDelete, at("", "n"), "").has(204)
	if got := notebook(t, g, "n", "'x' in globals()"); !slices.Equal(got.Values, []string{"False"}) || got.Start != "restarted" {
		t.Errorf("after its memory was given up: %+v", got)
	}
	ask(t, http.MethodDelete, at("", "n")+"&files=true", "").has(204)
	ask(t, http.MethodGet, g.URL+"/v1/sandboxes", "").is(200, `{"sandboxes":[]}`+"\n")
}

func TestRetention_destroysWhatNobodyUses(t *testing.T) {
	t.Parallel()
	g := start(t, "--sleep-after", "1s", "--retention", "5s")
	notebook(t, g, "n", "x = 41")
	eventually(t, "it is destroyed", func() bool { return len(sandboxes(t, g)) == 0 })
	if left := listDir(t, filepath.Join(g.Dir, "sandboxes")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}
