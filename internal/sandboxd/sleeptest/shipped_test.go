package sleeptest

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"sandgate/internal/sandboxtest"
)

// Fresh sandboxes of the shipped gateway begin with the same memory, from the
// pool and beyond it, and have drawn nothing in common.
func TestGateway_freshSandboxesAreOneOfAKind(t *testing.T) {
	g := startGateway(t, "--pool", "2", "--preload", "wave,random,tempfile")
	for deadline := time.Now().Add(hang); !strings.Contains(g.Log(), "template made"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no template is made\n%s", g.Log())
		}
	}
	code := `import os, random, ssl, sys, tempfile
print(random.random(), tempfile.mktemp(), ssl.RAND_bytes(16).hex(), os.urandom(16).hex())
'wave' in sys.modules`
	drawn := make(map[string]string)
	for i := range 5 {
		name := "n" + strconv.Itoa(i)
		a := runIn(t, g, name, code)
		if a.Start != "fresh" || a.Generation != 1 || a.ExecutionCount != 1 || len(a.Values) != 1 || a.Values[0] != "True" {
			t.Errorf("%s begins with %+v", name, a)
		}
		for word := range strings.FieldsSeq(strings.Join(a.Output, "")) {
			if other, taken := drawn[word]; taken {
				t.Errorf("%s and %s have both drawn %s", name, other, word)
			}
			drawn[word] = name
		}
	}
	if len(drawn) != 5*4 {
		t.Errorf("%d different numbers are drawn, want 20", len(drawn))
	}
}

func startGateway(t *testing.T, args ...string) *sandboxtest.Gateway {
	t.Helper()
	sandboxtest.Require(t)
	dir, err := os.MkdirTemp("", "sg")
	if err != nil {
		t.Fatal(err)
	}
	g, err := sandboxtest.StartGateway(dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), hang)
		defer cancel()
		if err := g.Stop(ctx); err != nil {
			t.Error(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return g
}

// An answered cell is what /notebook tells of it.
type answered struct {
	Output, Errors, Values     []string
	Start                      string
	Generation, ExecutionCount int
}

func runIn(t *testing.T, g *sandboxtest.Gateway, notebook, code string) (a answered) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.URL+"/notebook?notebook="+notebook, strings.NewReader(code))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", notebook, resp.Status, err)
	}
	return a
}
