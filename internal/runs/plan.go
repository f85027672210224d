package runs

import (
	"bytes"
	"context"
	_ "embed"
	"io"
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
	"YARN_ENABLE_TELEMETRY":      "0",
	"YARN_UNSAFE_HTTP_WHITELIST": "127.0.0.1", // where the gateway's cache of packages is
}

// env adds the visitor's variables, which win.
func (r *run) env() map[string]string {
	env := maps.Clone(environment)
	maps.Copy(env, r.promise.Env)
	return env
}

// installScript installs by what is not npm.
//
//go:embed install.sh
var installScript string

// An installer fits one kind of lock file.
type installer struct {
	lock    string // the file's name; empty: there is none
	begins  string // what is in the lock file's first lines, to tell it from others of the name
	shown   string
	argv    []string
	warning sandboxclient.CheckoutWarning
}

// installers are in the order in which they are looked for.
var installers = []installer{
	{lock: "package-lock.json", shown: "npm ci", argv: []string{"npm", "ci"}},
	{lock: "npm-shrinkwrap.json", shown: "npm ci", argv: []string{"npm", "ci"}},
	{
		lock: "pnpm-lock.yaml", shown: "pnpm install --frozen-lockfile", argv: byScript("pnpm"),
		warning: sandboxclient.CheckoutWarning{Code: "pnpm_lock", Message: "The lock file is pnpm's, so pnpm installs in place of npm ci"},
	},
	{
		lock: "yarn.lock", begins: "__metadata:", shown: "yarn install --immutable", argv: byScript("berry"),
		warning: sandboxclient.CheckoutWarning{Code: "yarn_lock", Message: "The lock file is Yarn's, so Yarn installs in place of npm ci"},
	},
	{
		lock: "yarn.lock", shown: "yarn install --frozen-lockfile", argv: byScript("yarn"),
		warning: sandboxclient.CheckoutWarning{Code: "yarn_lock", Message: "The lock file is Yarn's, so Yarn 1 installs in place of npm ci"},
	},
	{
		shown: "npm install", argv: []string{"npm", "install"},
		warning: sandboxclient.CheckoutWarning{Code: "no_lock_file", Message: "There is no lock file, so npm install takes the place of npm ci: the next run may get other versions"},
	},
}

func byScript(name string) []string { return []string{"/bin/sh", "-c", installScript, "install", name} }

// installer finds the one that fits the repository.
func (r *run) installer(ctx context.Context) (installer, error) {
	for _, i := range installers {
		fits, err := r.fits(ctx, i)
		if fits || err != nil {
			return i, err
		}
	}
	panic("the last installer fits every repository")
}

func (r *run) fits(ctx context.Context, i installer) (bool, error) {
	if i.lock == "" {
		return true, nil
	}
	file, err := r.sandbox.ReadFile(ctx, appDir+"/"+i.lock, sandboxclient.ReadOptions{})
	if err != nil {
		if code := sandboxclient.CodeOf(err); code == sandboxclient.CodeNotFound || code == sandboxclient.CodeInvalid {
			return false, nil // there is none, or a link that leads out, which npm would not read either
		}
		return false, err
	}
	defer func() { _ = file.Body.Close() }() // all that we want of it was read
	first, err := io.ReadAll(io.LimitReader(file.Body, lockHead))
	return file.Listing == nil && bytes.Contains(first, []byte(i.begins)), err
}

// lockHead is as much of a lock file as tells whose it is.
const lockHead = 1 << 10

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
