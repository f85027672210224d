package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"sandgate/internal/sandboxtest"
)

// The README's table lists every setting with its default, and no other.
func TestReadme_listsEverySetting(t *testing.T) {
	sandboxtest.Require(t)
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), sandboxtest.Bin("gateway"), "config").Output()
	if err != nil {
		t.Fatal(err)
	}
	settings := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, line := range settings {
		setting, _, _ := strings.Cut(line, "#")
		name, value, _ := strings.Cut(strings.TrimSpace(setting), ": ")
		row := fmt.Sprintf("| `--%s` | ", name)
		if value = strings.Trim(value, `"`); value != "" {
			row += "`" + value + "` |"
		}
		if !strings.Contains(string(readme), row) {
			t.Errorf("the README has no row %q", row)
		}
	}
	if rows := strings.Count(string(readme), "| `--"); rows != len(settings) {
		t.Errorf("the README has %d rows for %d settings", rows, len(settings))
	}
}
