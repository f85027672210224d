package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
)

const (
	envPrefix  = "SANDGATE_"
	configFlag = "config"
)

// A layer is what one source says about settings, by their names.
type layer struct {
	origin string // for "listen: 127.0.0.1:8787 # from ..."
	values map[string]string
}

// problems are all that is wrong with a configuration, a line each.
type problems []string

func (p problems) Error() string {
	return "the configuration has problems:\n  " + strings.Join(p, "\n  ")
}

func (p *problems) addf(format string, args ...any) {
	*p = append(*p, fmt.Sprintf(format, args...))
}

// apply sets the flags to what the layers say, a later one over an earlier,
// and gives the origin of every setting that one of them names.
func apply(flags *pflag.FlagSet, layers []layer) (map[string]string, problems) {
	origins := map[string]string{}
	var wrong problems
	for _, l := range layers {
		for _, name := range slices.Sorted(maps.Keys(l.values)) {
			flag := flags.Lookup(name)
			if flag == nil {
				wrong.addf("%s (from %s): there is no such setting", name, l.origin)
				continue
			}
			if err := set(flag.Value, l.values[name]); err != nil {
				wrong.addf("%s (from %s): %q is no %s", name, l.origin, l.values[name], wanted(flag))
				continue
			}
			origins[name] = l.origin
		}
	}
	return origins, wrong
}

// set gives a value what a layer says. A list is replaced, not added to.
func set(value pflag.Value, text string) error {
	list, ok := value.(pflag.SliceValue)
	if !ok {
		return value.Set(text)
	}
	return list.Replace(strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }))
}

// get gives a value in the form in which set takes it.
func get(value pflag.Value) string {
	if list, ok := value.(pflag.SliceValue); ok {
		return strings.Join(list.GetSlice(), ",")
	}
	return value.String()
}

// wanted words what a setting's value must be.
func wanted(flag *pflag.Flag) string {
	switch flag.Value.Type() {
	case "bool":
		return "true or false"
	case "int":
		return "whole number"
	case "float64":
		return "number"
	case "duration":
		return "duration such as 90s, 10m or 30d"
	case "size":
		return "size such as 512MiB or 2GB"
	}
	return flag.Value.Type()
}

// sayWrongFlag words a value that a command's own flag cannot take as those of
// settings are.
func sayWrongFlag(err error) error {
	wrong, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	flag := wrong.GetFlag()
	return fmt.Errorf("--%s: %q is no %s", flag.Name, wrong.GetValue(), wanted(flag))
}

// fileLayer reads a YAML file. Without a path it says nothing.
func fileLayer(path string) (layer, error) {
	l := layer{origin: path}
	if path == "" {
		return l, nil
	}
	k := koanf.New(".")
	if err := k.Load(file.Provider(path), yaml.Parser()); err != nil {
		return l, fmt.Errorf("read %s: %w", path, err)
	}
	l.values = texts(k)
	return l, nil
}

// envLayer reads SANDGATE_STATE_DIR as state-dir.
func envLayer(environ func() []string) (layer, error) {
	l := layer{origin: "the environment"}
	k := koanf.New(".")
	err := k.Load(env.Provider(".", env.Opt{
		Prefix:      envPrefix,
		EnvironFunc: environ,
		TransformFunc: func(name, value string) (string, any) {
			return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, envPrefix)), "_", "-"), value
		},
	}), nil)
	if err != nil {
		return l, fmt.Errorf("read the environment: %w", err)
	}
	l.values = texts(k)
	return l, nil
}

// texts gives every value in the form in which a flag would be given.
func texts(k *koanf.Koanf) map[string]string {
	values := map[string]string{}
	for name, value := range k.All() {
		values[name] = text(value)
	}
	return values
}

func text(value any) string {
	list, ok := value.([]any)
	if !ok {
		if value == nil {
			return ""
		}
		return fmt.Sprint(value)
	}
	parts := make([]string, len(list))
	for i, part := range list {
		parts[i] = fmt.Sprint(part)
	}
	return strings.Join(parts, ",")
}

// A said flag keeps what the command line says until the other layers have
// been read, so that everything that is wrong is told at once.
type said struct {
	pflag.Value
	texts []string
}

func (s *said) Set(text string) error {
	s.texts = append(s.texts, text)
	return nil
}

// postpone makes flags of the same names that only note what is said.
func postpone(flags *pflag.FlagSet) *pflag.FlagSet {
	noted := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.VisitAll(func(f *pflag.Flag) {
		note := *f
		note.Value = &said{Value: f.Value}
		noted.AddFlag(&note)
	})
	return noted
}

// flagLayer reads the command line, of which all words of a list count, and
// the last word of all others.
func flagLayer(noted *pflag.FlagSet) layer {
	l := layer{origin: "the command line", values: map[string]string{}}
	noted.VisitAll(func(f *pflag.Flag) { // Visit would miss what cobra parsed in a set of its own
		note, ok := f.Value.(*said)
		if !ok || len(note.texts) == 0 {
			return
		}
		l.values[f.Name] = note.texts[len(note.texts)-1]
		if _, list := note.Value.(pflag.SliceValue); list {
			l.values[f.Name] = strings.Join(note.texts, ",")
		}
	})
	return l
}
