package kernel

import (
	"embed"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"sandgate/sandboxclient/wire"
)

//go:embed python/*.py python/*/*.py javascript/*.js bash/*.sh
var programs embed.FS

// A language is an interpreter, the program that makes a kernel of it, and what
// its environment holds unless the code context says otherwise.
type language struct {
	name        string
	interpreter []string
	main        string // the file of the program to run, in programs/name
	env         []string

	preloads bool // modules before the first cell

	mainIn string                                            // the variable that names main, if no argument does
	encode func(id int, cell Cell) (frame []byte, err error) // a request, if it is not JSON
}

var languages = []language{{
	name: wire.Python,
	// Not what PATH finds: that can be a wrapper that is not in the sandbox.
	interpreter: []string{"/usr/bin/python3"},
	main:        "main.py",
	preloads:    true,
	env: []string{
		"PYTHONUTF8=1", // whatever the locale: nothing printed may fail
		"MPLBACKEND=Agg",
		"MPLCONFIGDIR=/tmp/.matplotlib",
		"IPYTHONDIR=/tmp/.ipython",
	},
}, {
	name:        wire.JavaScript,
	interpreter: []string{"node"},
	main:        "main.js",
	env:         []string{"NO_COLOR=1", "NODE_REPL_HISTORY="},
}, {
	name: wire.Bash,
	// The requests are its script, which it reads from descriptor 0.
	interpreter: []string{"/bin/sh", "-c", "exec /bin/bash --noprofile --norc -s <&3 3<&-"},
	main:        "main.sh",
	mainIn:      "BASH_ENV",
	encode:      bashRequest,
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

// command runs the program that lies in dir.
func (l language) command(dir string, env []string) (argv, environ []string) {
	environ = withDefaults(env, l.env)
	main := filepath.Join(dir, l.main)
	if l.mainIn != "" {
		return l.interpreter, append(environ, l.mainIn+"="+main)
	}
	return append(slices.Clone(l.interpreter), main), environ
}

// request is a cell as the program takes it, on one line. With renew the program
// may be one of many that were the same until now, and draws anew.
func (l language) request(id int, cell Cell, renew bool) ([]byte, error) {
	if l.encode != nil {
		return l.encode(id, cell)
	}
	type renewal struct {
		Env map[string]*string `json:"env"`
	}
	frame := struct {
		ID    int      `json:"id"`
		Code  string   `json:"code"`
		Stdin []byte   `json:"stdin,omitempty"`
		Renew *renewal `json:"renew,omitempty"`
	}{ID: id, Code: cell.Code, Stdin: cell.Stdin}
	if renew {
		frame.Renew = &renewal{cell.Env}
	}
	line, err := json.Marshal(frame)
	return append(line, '\n'), err
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
