package runs

import (
	"context"
	"maps"

	"sandgate/sandboxclient"
)

// environment is what the programs of a run find beside the sandbox's own
// variables. Caches lie beside the repository, on disk: the sandbox's usual
// places for them are memory.
var environment = map[string]string{
	"CI":             "true",
	"HOME":           homeDir,
	"XDG_CACHE_HOME": homeDir + "/.cache",

	"npm_config_cache":           homeDir + "/.npm",
	"npm_config_update_notifier": "false", // it asks the registry what nobody asked it
	"npm_config_audit":           "false",
	"npm_config_fund":            "false",

	"COREPACK_ENABLE_DOWNLOAD_PROMPT": "0",
	"YARN_ENABLE_TELEMETRY":           "0",
	"YARN_NODE_LINKER":                "node-modules", // which npm test can use
}

// env adds the visitor's variables, which win.
func (r *run) env() map[string]string {
	env := maps.Clone(environment)
	maps.Copy(env, r.promise.Env)
	return env
}

// An installer fits one kind of lock file.
type installer struct {
	lock    string // the file's name; empty: there is none
	shown   string
	argv    []string
	warning sandboxclient.CheckoutWarning
}

// installers are in the order in which they are looked for.
var installers = []installer{
	{lock: "package-lock.json", shown: "npm ci", argv: []string{"npm", "ci"}},
	{lock: "npm-shrinkwrap.json", shown: "npm ci", argv: []string{"npm", "ci"}},
	{
		lock: "pnpm-lock.yaml", shown: "pnpm install --frozen-lockfile", argv: bySelfOrNpx("pnpm@10", "pnpm", "install", "--frozen-lockfile"),
		warning: sandboxclient.CheckoutWarning{Code: "pnpm_lock", Message: "The lock file is pnpm's, so pnpm installs in place of npm ci"},
	},
	{
		lock: "yarn.lock", shown: "yarn install --frozen-lockfile", argv: bySelfOrNpx("yarn@1", "yarn", "install", "--frozen-lockfile"),
		warning: sandboxclient.CheckoutWarning{Code: "yarn_lock", Message: "The lock file is yarn's, so yarn installs in place of npm ci"},
	},
	{
		shown: "npm install", argv: []string{"npm", "install"},
		warning: sandboxclient.CheckoutWarning{Code: "no_lock_file", Message: "There is no lock file, so npm install takes the place of npm ci: the next run may get other versions"},
	},
}

// bySelfOrNpx runs a program where the sandbox has it, and else gets it by npx.
func bySelfOrNpx(pkg, name string, args ...string) []string {
	const script = `if command -v "$2" >/dev/null; then shift; exec "$@"; fi; pkg=$1; shift 2; exec npx --yes "$pkg" "$@"`
	return append([]string{"/bin/sh", "-c", script, "install", pkg, name}, args...)
}

// installer finds the one that fits the repository.
func (r *run) installer(ctx context.Context) (installer, error) {
	for _, i := range installers {
		if i.lock == "" {
			return i, nil
		}
		_, err := r.sandbox.Stat(ctx, appDir+"/"+i.lock)
		if err == nil {
			return i, nil
		}
		if sandboxclient.CodeOf(err) != sandboxclient.CodeNotFound {
			return installer{}, err
		}
	}
	panic("the last installer fits every repository")
}

func (r *run) installPhase() phase {
	return phase{name: PhaseInstall, place: 2, command: func(ctx context.Context) (sandboxclient.Command, string, error) {
		i, err := r.installer(ctx)
		if err != nil {
			return sandboxclient.Command{}, "", err
		}
		if i.warning.Code != "" {
			r.mark(func(s *Summary) { s.Command = i.shown + " && npm test" })
			if err := r.warn(0, i.warning.Code, i.warning.Message); err != nil {
				return sandboxclient.Command{}, "", err
			}
		}
		return r.program(i.argv...), i.shown, nil
	}}
}

func (r *run) testPhase() phase {
	return phase{name: PhaseTest, place: 3, keep: r.tests.write, command: func(context.Context) (sandboxclient.Command, string, error) {
		return r.program("npm", "test"), "npm test", nil
	}}
}

// commandPhase is the visitor's own command, by bash as in a script.
func (r *run) commandPhase() phase {
	return phase{name: PhaseTest, place: 2, keep: r.tests.write, command: func(context.Context) (sandboxclient.Command, string, error) {
		return r.program("/bin/bash", "-c", r.promise.Command), r.promise.Command, nil
	}}
}

func (r *run) program(argv ...string) sandboxclient.Command {
	return sandboxclient.Command{Argv: argv, Env: r.env(), Dir: appDir}
}
