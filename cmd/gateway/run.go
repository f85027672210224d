package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Exit statuses.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2 // what was asked for makes no sense
)

// run is the whole program: it does what the arguments say and gives the exit
// status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	cmd := newCommand(stdout, stderr)
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(stderr, "gateway: %v\n", err)
	if _, failed := errors.AsType[*failure](err); failed {
		return exitFailure
	}
	fmt.Fprintln(stderr, "gateway --help lists what can be set")
	return exitUsage
}

// A failure is an error of the work, not of the question.
type failure struct{ error }

func (f *failure) Unwrap() error { return f.error }

// newCommand is the command line. Every command takes every setting, so that
// config and doctor speak of what serving would do.
func newCommand(stdout, stderr io.Writer) *cobra.Command {
	p := newProgram()
	root := &cobra.Command{
		Use:     "gateway",
		Version: version,
		Short:   "Serve code, notebooks, files and search from isolated sandboxes",
		Long: `Sandgate serves five small apps over HTTP. Each bit of work that they do is
done in a Linux sandbox that is isolated from this machine and from the others.

Without a command it serves.`,
		Example: `  gateway
  gateway --listen 127.0.0.1:9000 --state-dir /srv/sandgate
  SANDGATE_MEMORY=2GiB gateway --sleep-after 1h
  gateway --config /etc/sandgate.yaml config`,
		Args:          noArguments,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: p.with(func(cmd *cobra.Command, _ []row) error {
			return serve(cmd.Context(), p.config, stdout, stderr)
		}),
	}
	root.PersistentFlags().AddFlagSet(p.noted)
	root.PersistentFlags().SortFlags = false
	root.SetUsageFunc(func(cmd *cobra.Command) error { return p.usage(cmd) })
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return sayWrongFlag(err) })
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(
		&cobra.Command{
			Use:   "config",
			Short: "Print the configuration in effect, and where each setting comes from",
			Args:  noArguments,
			RunE:  p.with(func(_ *cobra.Command, rows []row) error { return printConfig(stdout, rows) }),
		},
		&cobra.Command{
			Use:   "doctor",
			Short: "Say whether this machine can run sandboxes, and what to do if not",
			Args:  noArguments,
			RunE: p.with(func(cmd *cobra.Command, _ []row) error {
				return doctor(cmd.Context(), p.config, stdout)
			}),
		},
		p.keysCommand(stdout, stderr),
		p.objectsCommand(stderr),
		&cobra.Command{
			Use:   "version",
			Short: "Print the version",
			Args:  noArguments,
			RunE: func(*cobra.Command, []string) error {
				_, err := fmt.Fprintf(stdout, "sandgate %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
				return err
			},
		},
	)
	return root
}

// A program is the command line's settings and what becomes of them.
type program struct {
	config Config
	groups []group
	flags  *pflag.FlagSet // bound to config
	noted  *pflag.FlagSet // what the command line says
	path   string         // of the configuration file
}

func newProgram() *program {
	p := &program{config: defaults(), flags: pflag.NewFlagSet("", pflag.ContinueOnError)}
	p.groups = settings(&p.config)
	for _, g := range p.groups {
		p.flags.AddFlagSet(g.FlagSet)
	}
	p.noted = postpone(p.flags)
	p.noted.StringVar(&p.path, configFlag, os.Getenv(envPrefix+"CONFIG"), "YAML `FILE` of settings by the names of the flags")
	return p
}

// with reads the configuration, then does the command's work.
func (p *program) with(work func(*cobra.Command, []row) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		rows, err := p.load(os.Environ)
		if err != nil {
			return err
		}
		if err := work(cmd, rows); err != nil {
			return &failure{err}
		}
		return nil
	}
}

// load fills the configuration from all layers: defaults, then the file, then
// the environment, then the command line.
func (p *program) load(environ func() []string) ([]row, error) {
	fromFile, fileErr := fileLayer(p.path)
	fromEnv, envErr := envLayer(environ)
	if err := errors.Join(fileErr, envErr); err != nil {
		return nil, err
	}
	delete(fromEnv.values, configFlag)
	origins, wrong := apply(p.flags, []layer{fromFile, fromEnv, flagLayer(p.noted)})
	if wrong = slices.Concat(wrong, check(p.config)); len(wrong) > 0 {
		return nil, wrong
	}
	return rows(p.groups, origins), nil
}
