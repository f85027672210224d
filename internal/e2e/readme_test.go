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
var documents = []string{"README.md", "docs/backup.md", "docs/code.md", "docs/egress.md", "docs/executions.md", "docs/files.md", "docs/isolation.md", "docs/limits.md", "docs/tests.md"}

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
			stage := openStage(t, string(text))
			for _, ex := range examples {
				ex.check(t, stage)
			}
		})
	}
}

// exampleRepository is the address that documents clone from.
const exampleRepository = "https://git.example/you/project.git"

// A stage is where the examples of one document are run.
type stage struct {
	*sandboxtest.Gateway
	dir        string
	repository string // what stands for exampleRepository
}

// openStage starts a gateway, and where a document clones, a git server for it.
func openStage(t *testing.T, text string) stage {
	t.Helper()
	if !strings.Contains(text, exampleRepository) {
		return stage{Gateway: start(t), dir: t.TempDir(), repository: exampleRepository}
	}
	l := openLab(t)
	project := l.project("you/project", plain("node --test", map[string]string{
		"sum.test.js": "const test = require('node:test')\ntest('adds', () => {})\ntest('subtracts', () => {})\n",
	}))
	return stage{Gateway: l.Gateway, dir: t.TempDir(), repository: project}
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
func (ex example) check(t *testing.T, s stage) {
	t.Helper()
	command := strings.ReplaceAll(ex.command, "localhost:8787", strings.TrimPrefix(s.URL, "http://"))
	command = strings.ReplaceAll(command, exampleRepository, s.repository)
	want := strings.ReplaceAll(ex.want, exampleRepository, s.repository)
	cmd := exec.CommandContext(t.Context(), "bash", "-c", strings.ReplaceAll(command, "curl ", "curl -sS "))
	cmd.Dir = s.dir
	out, err := cmd.CombinedOutput()
	got := strings.TrimSuffix(string(out), "\n")
	pattern := strings.ReplaceAll(regexp.QuoteMeta(want), "…", "(?s:.*)")
	if err != nil || !regexp.MustCompile(`^`+pattern+`$`).MatchString(got) {
		t.Errorf("$ %s\n got: %s (%v)\nwant: %s", command, got, err, want)
	}
}
