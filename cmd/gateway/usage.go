package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const usageWidth = 100

// needs is the annotation of a command that needs few settings: it says which, and
// so do the commands below it.
const needs = "needs"

func needsOf(cmd *cobra.Command) string {
	if why := cmd.Annotations[needs]; why != "" || !cmd.HasParent() {
		return why
	}
	return needsOf(cmd.Parent())
}

// plain gives a command's own flags as help shows them: nobody says =false to a switch
// that nothing else sets.
func plain(flags *pflag.FlagSet) *pflag.FlagSet {
	shown := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.VisitAll(func(f *pflag.Flag) {
		flag := *f
		if f.Value.Type() == "bool" {
			flag.Value = struct{ pflag.Value }{f.Value} // which hides that it is a switch
		}
		shown.AddFlag(&flag)
	})
	return shown
}

// usage writes what --help shows below a command's description.
func (p *program) usage(cmd *cobra.Command) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s\n", cmd.UseLine())
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\nCommands:\n")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				fmt.Fprintf(&b, "  %-10s %s\n", sub.Name(), sub.Short)
			}
		}
	}
	if flags := cmd.LocalNonPersistentFlags(); flags.HasAvailableFlags() && cmd.HasParent() {
		fmt.Fprintf(&b, "\nFlags:\n%s", plain(flags).FlagUsagesWrapped(usageWidth))
	}
	if why := needsOf(cmd); why != "" {
		fmt.Fprintf(&b, "\nIt takes the settings of the gateway as well, of which %s; gateway --help lists them.\n", why)
		_, err := io.WriteString(cmd.OutOrStderr(), b.String())
		return err
	}
	for _, g := range p.groups {
		fmt.Fprintf(&b, "\n%s:\n%s", g.title, g.FlagUsagesWrapped(usageWidth))
	}
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	own.AddFlag(p.noted.Lookup(configFlag))
	fmt.Fprintf(&b, "\nConfiguration:\n%s%s", own.FlagUsagesWrapped(usageWidth), `
Every setting can also come from the environment, SANDGATE_STATE_DIR for --state-dir, or from
the file, state-dir: /srv/sandgate. The command line wins over the environment, and that over
the file. Sizes are written like 512MiB or 2GB, times like 90s, 10m or 30d.
`)
	_, err := io.WriteString(cmd.OutOrStderr(), b.String())
	return err
}
