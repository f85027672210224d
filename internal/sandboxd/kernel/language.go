package kernel

import (
	"embed"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"sandgate/sandboxclient/wire"
)

//go:embed python/*.py python/*/*.py
var programs embed.FS

// A language is an interpreter, the program that makes a kernel of it, and what
// its environment holds unless the code context says otherwise.
type language struct {
	name        string
	interpreter []string
	main        string // the file of the program to run, in programs/name
	env         []string
}

var languages = []language{{
	name: wire.Python,
	// Not what PATH finds: that can be a wrapper that is not in the sandbox.
	interpreter: []string{"/usr/bin/python3"},
	main:        "main.py",
	env: []string{
		"PYTHONUTF8=1", // whatever the locale: nothing printed may fail
		"MPLBACKEND=Agg",
		"MPLCONFIGDIR=/tmp/.matplotlib",
		"IPYTHONDIR=/tmp/.ipython",
	},
}}

func lookup(name string) (language, error) {
	for _, l := range languages {
		if l.name == name {
			return l, nil
		}
	}
	return language{}, &wire.Error{Code: wire.CodeUnsupported, Message: "no code context speaks " + name}
}

// program gives the files of the language's program.
func (l language) program() fs.FS {
	files, err := fs.Sub(programs, l.name)
	if err != nil {
		panic(err) // the name is no path
	}
	return files
}

// argv runs the program that lies in dir.
func (l language) argv(dir string) []string {
	return append(slices.Clone(l.interpreter), filepath.Join(dir, l.main))
}

// withDefaults adds those variables to env that it does not set.
func withDefaults(env, defaults []string) []string {
	all := slices.Clone(env)
	for _, entry := range defaults {
		name, _, _ := strings.Cut(entry, "=")
		if !slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") }) {
			all = append(all, entry)
		}
	}
	return all
}
