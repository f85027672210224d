package selftest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"sandgate/sandboxclient"
	"sandgate/sandboxclient/wire"
)

// A Language is one that cells can be written in, if it is available here.
type Language struct {
	Name      string `json:"name"`
	Available bool   `json:"available"`
	Version   string `json:"version,omitempty"`
	Engine    string `json:"engine,omitempty"` // what runs its cells
	Reason    string `json:"reason,omitempty"` // why it is not available
}

// languageTime bounds the first cell of a language, whose interpreter starts for it.
const languageTime = 30 * time.Second

// proofs are cells that print a version and then an engine, each on a line.
var proofs = []struct{ language, code string }{
	{wire.Python, "import platform, sys\nprint(platform.python_version())\nprint('ipython' if 'IPython' in sys.modules else 'python')"},
	{wire.JavaScript, "console.log(process.versions.node); console.log('node')"},
	{wire.Bash, "echo ${BASH_VERSION%%(*}; echo bash"},
}

func proveLanguages(ctx context.Context, sandbox Sandbox) []Language {
	languages := make([]Language, len(proofs))
	var all sync.WaitGroup
	for i, p := range proofs {
		all.Go(func() { languages[i] = proveLanguage(ctx, sandbox, p.language, p.code) })
	}
	all.Wait()
	return languages
}

func proveLanguage(ctx context.Context, sandbox Sandbox, name, code string) Language {
	run, err := sandbox.RunCode(ctx, code, sandboxclient.RunOptions{Language: name, Timeout: languageTime})
	if err != nil {
		return Language{Name: name, Reason: public(err)}
	}
	version, engine, _ := strings.Cut(strings.TrimSpace(run.Stdout), "\n")
	if run.Exit.Status != wire.StatusExited || run.Exit.ExitCode != 0 || run.Exit.Error != nil || version == "" {
		return Language{Name: name, Reason: "its cell ended as " + string(run.Exit.Status) + ": " + brief(run.Stderr)}
	}
	return Language{Name: name, Available: true, Version: brief(version), Engine: brief(engine)}
}

// public is the part of an error that visitors may see.
func public(err error) string {
	if e, ok := errors.AsType[*sandboxclient.Error](err); ok {
		return e.Message
	}
	return "it could not be tried"
}
