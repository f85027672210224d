package main

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strconv"

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
			all = append(all, row{f.Name, get(f.Value), cmp.Or(origins[f.Name], "the defaults")})
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
	if plainYAML.MatchString(value) {
		return value
	}
	return strconv.Quote(value)
}
