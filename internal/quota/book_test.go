package quota

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"sandgate/internal/identity"
	"sandgate/sandboxclient"
)

func book(t *testing.T, settings ...string) (*Book, *prometheus.Registry) {
	t.Helper()
	classes, err := Parse(settings)
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewPedanticRegistry()
	return NewBook(classes, nil, registry), registry
}

func TestParse(t *testing.T) {
	got, err := Parse([]string{
		"default.rate=2.5", "default.running=3", "big.sandboxes=100", "big.executions=8", "big.runs=4",
		"big.disk=10GiB", "big.objects=1MB", "big.burst=7",
	})
	want := Classes{
		"default": {Rate: 2.5, Running: 3},
		"big":     {Sandboxes: 100, Executions: 8, Runs: 4, Disk: 10 << 30, Objects: 1e6, Burst: 7},
	}
	if err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
	for _, wrong := range []string{
		"", "rate=1", "a.rate", "a.rate=", ".rate=1", "a.speed=1", "a.rate=0", "a.rate=-1", "a.rate=NaN", "a.rate=fast",
		"a.runs=0", "a.runs=1.5", "a.disk=much", "a.disk=0", "a.objects=99EiB",
	} {
		if _, err := Parse([]string{wrong}); err == nil {
			t.Errorf("%q was taken", wrong)
		}
	}
}

func TestTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, registry := book(t, "default.rate=2", "default.burst=4", "fast.rate=1000")
		alice, bob := identity.Identity{Owner: "alice"}, identity.Identity{Owner: "bob", Class: "fast"}
		for left := range 4 {
			header := http.Header{}
			if err := b.Take(alice, header); err != nil {
				t.Fatal(err)
			}
			want := http.Header{"Ratelimit-Limit": {"4"}, "Ratelimit-Remaining": {string(rune('3' - left))}}
			header.Del("RateLimit-Reset")
			if cmp.Diff(want, header) != "" {
				t.Error(cmp.Diff(want, header))
			}
		}
		header := http.Header{}
		err := b.Take(alice, header)
		e, _ := err.(*sandboxclient.Error)
		if e == nil || e.Code != sandboxclient.CodeExhausted || e.RetryAfter != time.Second/2 || header.Get("RateLimit-Reset") != "2" {
			t.Errorf("%v, %v", err, header)
		}
		for range 100 { // refusals cost nothing of what is to come
			_ = b.Take(alice, http.Header{})
		}
		for range 100 {
			if err := b.Take(bob, http.Header{}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second / 2)
		if err := b.Take(alice, http.Header{}); err != nil {
			t.Error(err)
		}
		want := `
# HELP sandgate_quota_refused_total What owners were refused because they had as much as they may, by class and limit.
# TYPE sandgate_quota_refused_total counter
sandgate_quota_refused_total{class="default",limit="rate"} 101
`
		if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
			t.Error(err)
		}
	})
}

// However many are refused at once, the next token is as near as before.
func TestTake_aFloodCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := book(t, "default.rate=2", "default.burst=1")
		alice := identity.Identity{Owner: "alice"}
		if err := b.Take(alice, http.Header{}); err != nil {
			t.Fatal(err)
		}
		var flood sync.WaitGroup
		for range 100 {
			flood.Go(func() {
				for range 100 {
					header := http.Header{}
					e, _ := b.Take(alice, header).(*sandboxclient.Error)
					if e == nil || e.RetryAfter != time.Second/2 || header.Get("RateLimit-Reset") != "1" {
						t.Errorf("%+v, %v", e, header)
						return
					}
				}
			})
		}
		flood.Wait()
		time.Sleep(time.Second / 2)
		if err := b.Take(alice, http.Header{}); err != nil {
			t.Error(err)
		}
	})
}

// An admin who looks at what is another's does so on its own account, and a key
// of another class counts at its own rate from its first request on.
func TestTake_whose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := book(t, "default.rate=1", "default.burst=1", "big.rate=1", "big.burst=3")
		if err := b.Take(identity.Identity{Owner: "alice", Asker: "ops"}, http.Header{}); err != nil {
			t.Fatal(err)
		}
		if b.Take(identity.Identity{Owner: "ops"}, http.Header{}) == nil {
			t.Error("looking was free")
		}
		if err := b.Take(identity.Identity{Owner: "alice"}, http.Header{}); err != nil {
			t.Error("it went on her account")
		}
		if b.Take(identity.Identity{Owner: "alice", Class: "unknown"}, http.Header{}) == nil {
			t.Error("a class that is not there has no limit")
		}
	})
}

// Who follows an owner's link takes of the owner's requests, as many as the class
// of the owner's own key allows.
func TestTakeFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := book(t, "default.rate=1", "default.burst=1", "big.rate=1", "big.burst=4")
		alice := identity.Identity{Owner: "alice", Class: "big"}
		if err := b.Take(alice, http.Header{}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := b.TakeFor("alice", http.Header{}); err != nil {
				t.Error(err)
			}
		}
		if err := b.Take(alice, http.Header{}); err != nil {
			t.Errorf("the class has changed: %v", err)
		}
		if sandboxclient.CodeOf(b.TakeFor("alice", http.Header{})) != sandboxclient.CodeExhausted || b.Take(alice, http.Header{}) == nil {
			t.Error("following is free")
		}
	})
}

func TestBegin(t *testing.T) {
	b, _ := book(t, "default.executions=2")
	first, err := b.Begin("alice")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Begin("alice"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Begin("alice"); sandboxclient.CodeOf(err) != sandboxclient.CodeExhausted || !strings.Contains(err.Error(), "2: wait for one") {
		t.Error(err)
	}
	if _, err := b.Begin("bob"); err != nil {
		t.Error(err)
	}
	first()
	first() // a second time means nothing
	if _, err := b.Begin("alice"); err != nil {
		t.Error(err)
	}
	if _, err := b.Begin("alice"); err == nil {
		t.Error("one too many")
	}
}

// What is at work is counted however many others come meanwhile, and takes no
// room when it has ended.
func TestBegin_isNotForgotten(t *testing.T) {
	b, _ := book(t, "default.executions=1")
	end, err := b.Begin("alice")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 * maxAccounts {
		done, err := b.Begin(strconv.Itoa(i))
		if err != nil {
			t.Fatal(err)
		}
		done()
	}
	if _, err := b.Begin("alice"); err == nil {
		t.Error("she was forgotten")
	}
	end()
	if len(b.executions) != 0 {
		t.Errorf("%d are counted", len(b.executions))
	}
}

func TestRunsObjectsShare(t *testing.T) {
	b, _ := book(t, "default.runs=2", "default.objects=1MiB", "default.sandboxes=5", "default.running=2", "default.disk=4GiB")
	if b.Runs("alice", 1) != nil || sandboxclient.CodeOf(b.Runs("alice", 2)) != sandboxclient.CodeExhausted {
		t.Error("runs")
	}
	if room := b.ObjectRoom("alice", 1<<20-5); room != 5 || b.ObjectRoom("alice", 1<<21) != 0 {
		t.Errorf("room for %d bytes", room)
	}
	if err := b.NoObjectRoom("alice"); sandboxclient.CodeOf(err) != sandboxclient.CodeNoSpace || !strings.Contains(err.Error(), "may fill 1.0 MiB") {
		t.Error(err)
	}
	if got := b.Share("alice"); got.Existing != 5 || got.Running != 2 || got.DiskBytes != 4<<30 {
		t.Error(got)
	}
	none, _ := book(t)
	if none.Runs("a", 1e9) != nil || none.ObjectRoom("a", 1e18) != math.MaxInt64 || bounded(none.Share("a")) || none.Limited(func(Limits) bool { return true }) {
		t.Error("limits where there are none")
	}
}

// Sandboxes and runs may be older than the book, whose owners have sent nothing yet.
func TestBook_looksUpWhoHasSentNothing(t *testing.T) {
	classes, err := Parse([]string{"default.running=3", "default.runs=1", "default.rate=1", "default.burst=1", "ci.runs=4"})
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	broken := errors.New("no database")
	b := NewBook(classes, func(_ context.Context, owner string) (string, error) {
		asked = append(asked, owner)
		return "ci", broken
	}, prometheus.NewRegistry())
	if err := b.Take(identity.Identity{Owner: "alice"}, http.Header{}); err != nil || b.Share("alice").Running != 3 {
		t.Errorf("%v; what her key says was not believed", err)
	}
	if b.Share("ci").Running != 3 {
		t.Error("who cannot be looked up has no limit")
	}
	broken = nil
	if b.Share("ci").Running != 0 || b.Runs("ci", 3) != nil || b.Runs("ci", 4) == nil {
		t.Error("it is not of its class")
	}
	for range 2 {
		if err := b.TakeFor("linked", http.Header{}); err != nil {
			t.Error(err)
		}
	}
	if want := []string{"ci", "ci", "linked"}; cmp.Diff(want, asked) != "" {
		t.Error(cmp.Diff(want, asked))
	}
}

// What runs warm for who comes next is nobody's: no class bounds it, nor counts
// what it does without.
func TestShare_nobodys(t *testing.T) {
	b, _ := book(t, "default.sandboxes=5", "default.running=2", "default.disk=4GiB")
	if got := b.Share(""); bounded(got) || got.Refused != nil {
		t.Errorf("%+v", got)
	}
	if !bounded(b.Share(identity.Local)) {
		t.Error("a gateway that asks for no keys bounds nobody")
	}
}

func bounded(s sandboxclient.Share) bool { return s.Existing > 0 || s.Running > 0 || s.DiskBytes > 0 }
