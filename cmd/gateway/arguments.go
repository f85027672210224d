package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// noArguments refuses words behind a command that takes none, with what may have
// been meant.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasSubCommands() {
		return fmt.Errorf("%s takes no %q: what it can be told are flags", cmd.CommandPath(), args[0])
	}
	if cmd.SuggestionsMinimumDistance == 0 {
		cmd.SuggestionsMinimumDistance = 2
	}
	if meant := cmd.SuggestionsFor(args[0]); len(meant) > 0 {
		return fmt.Errorf("there is no command %q: did you mean %s %s?", args[0], cmd.CommandPath(), meant[0])
	}
	return fmt.Errorf("there is no command %q of %s", args[0], cmd.CommandPath())
}

// oneArgument asks for a word behind a command.
func oneArgument(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s takes one argument, %s, and got %d", cmd.CommandPath(), what, len(args))
		}
		return nil
	}
}
