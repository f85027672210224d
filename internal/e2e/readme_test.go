package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sandgate/internal/sandboxtest"
)

// The documents whose console blocks are run as they stand, each on a gateway
// of its own.
var documents = []string{"README.md", "docs/code.md", "docs/executions.md", "docs/files.md", "docs/isolation.md", "docs/limits.md"}

func TestDocuments_examplesAnswerAsTheySay(t *testing.T) {
	for _, name := range documents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join("..", "..", name))
			if err != nil {
				t.Fatal(err)
			}
			examples := parseExamples(string(text))
			if len(examples) == 0 {
				t.Fatal("no examples")
			}
			g := start(t)
			dir := t.TempDir()
			for _, ex := range examples {
				ex.check(t, g, dir)
			}
		})
	}
}

// example is one "$ command" of a console block with the output below it.
type example struct{ command, want string }

var consoleBlock = regexp.MustCompile("(?s)```console\n(.*?)```")

func parseExamples(text string) []example {
	var examples []example
	for _, block := range consoleBlock.FindAllStringSubmatch(text, -1) {
		for _, part := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			command, want, _ := strings.Cut(part, "\n")
			for strings.HasSuffix(command, `\`) { // a command over several lines
				var more string
				more, want, _ = strings.Cut(want, "\n")
				command += "\n" + more
			}
			examples = append(examples, example{command, strings.TrimSuffix(want, "\n")})
		}
	}
	return examples
}

// check runs the command in a shell and compares its output; … in what is
// wanted stands for anything.
func (ex example) check(t *testing.T, g *sandboxtest.Gateway, dir string) {
	t.Helper()
	command := strings.ReplaceAll(ex.command, "localhost:8787", strings.TrimPrefix(g.URL, "http://"))
	cmd := exec.CommandContext(t.Context(), "bash", "-c", strings.ReplaceAll(command, "curl ", "curl -sS "))
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	got := strings.TrimSuffix(string(out), "\n")
	pattern := strings.ReplaceAll(regexp.QuoteMeta(ex.want), "…", "(?s:.*)")
	if err != nil || !regexp.MustCompile(`^`+pattern+`$`).MatchString(got) {
		t.Errorf("$ %s\n got: %s (%v)\nwant: %s", ex.command, got, err, ex.want)
	}
}
