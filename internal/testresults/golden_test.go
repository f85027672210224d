package testresults

import (
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden is what the files in testdata hold.
type golden struct {
	Results *Results `json:"results"`
	Done    bool     `json:"done"`
}

// Each recording is what a real runner printed: see testdata/record.sh.
func TestParser_recordings(t *testing.T) {
	for _, name := range recordings(t) {
		t.Run(name, func(t *testing.T) {
			p := NewParser()
			p.Write("stdout", recorded(t, name+".stdout"))
			p.Write("stderr", recorded(t, name+".stderr"))
			got := golden{Done: p.Done()}
			p.Close()
			got.Results, _ = p.Summary()
			compare(t, name, got)
		})
	}
}

func recordings(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.stdout")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	var names []string
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".stdout"))
	}
	return names
}

// recorded gives a recording; a runner that printed nothing there has none.
func recorded(t testing.TB, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return content
}

func compare(t *testing.T, name string, got golden) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden.json")
	if *update {
		text, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want golden
	if err := json.Unmarshal(content, &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}
