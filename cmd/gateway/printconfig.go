package main

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A row is one setting in effect.
type row struct {
	name, value, origin string
}

// rows gives every setting in the order of --help.
func rows(groups []group, origins map[string]string) []row {
	var all []row
	for _, g := range groups {
		g.VisitAll(func(f *pflag.Flag) {
			all = append(all, row{f.Name, f.Value.String(), cmp.Or(origins[f.Name], "the defaults")})
		})
	}
	return all
}

// printConfig writes the settings as the YAML that --config reads.
func printConfig(w io.Writer, rows []row) error {
	for _, r := range rows {
		if _, err := fmt.Fprintf(w, "%-40s # from %s\n", r.name+": "+yamlValue(r.value), r.origin); err != nil {
			return err
		}
	}
	return nil
}

var plainYAML = regexp.MustCompile(`^[A-Za-z0-9/][A-Za-z0-9./:_-]*$`)

func yamlValue(value string) string {
	if list, ok := strings.CutPrefix(value, "["); ok { // as pflag writes a list
		return strconv.Quote(strings.TrimSuffix(list, "]"))
	}
	if plainYAML.MatchString(value) {
		return value
	}
	return strconv.Quote(value)
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
	for _, g := range p.groups {
		fmt.Fprintf(&b, "\n%s:\n%s", g.title, g.FlagUsagesWrapped(100))
	}
	fmt.Fprintf(&b, `
Every setting can also come from the environment (SANDGATE_STATE_DIR for --state-dir) or from
the YAML file that --config or SANDGATE_CONFIG names (state-dir: /srv/sandgate). The command
line wins over the environment, and the environment over the file.
`)
	_, err := io.WriteString(cmd.OutOrStderr(), b.String())
	return err
}
