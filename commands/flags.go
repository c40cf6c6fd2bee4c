package commands

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"turnstile/internal/suggest"
	"turnstile/option"
)

// flagError explains an error of pflag, with a hint at what to write instead.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var bad *pflag.InvalidValueError
	var twice givenTwice
	switch {
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if cmd.Name() == "diagram" && name == "until" {
			return fmt.Errorf("%w: the end of a diagram is --to", err)
		}
		hint := fmt.Sprintf("; see %s --help", cmd.CommandPath())
		if takers := commandsWith(cmd.Root(), name); len(takers) > 0 {
			hint = fmt.Sprintf(": %s does not take it%s; these do: %s", nameOf(cmd), sinceOf(cmd, name),
				strings.Join(takers, ", "))
		} else if near := suggest.Nearest(name, flagNames(cmd.Flags())); near != "" {
			hint = fmt.Sprintf(": did you mean --%s?", near)
		}
		return fmt.Errorf("%w%s", err, hint)
	case errors.As(err, &twice):
		return twice
	case errors.As(err, &bad):
		if cmd.Name() == "diagram" && bad.GetFlag().Name == "to" && slices.Contains(exportForms, bad.GetValue()) {
			return fmt.Errorf("--to: %s is a form of runs export, and here --to is the time at which the picture "+
				"ends: see runs export --to %s", bad.GetValue(), bad.GetValue())
		}
		return valueError("--"+bad.GetFlag().Name, bad.GetFlag(), bad.GetValue(), bad.Unwrap())
	}
	return err
}

// nameOf returns the name of a command as users write it, as in matrix failover.
func nameOf(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// sinceOf explains why a command does not take a flag that users may expect.
func sinceOf(cmd *cobra.Command, flag string) string {
	command := cmd.Name()
	since := map[string]string{
		"explore resources": "it explores one resource; several would be instances that share no state",
		"explore zipf":      "it explores one resource",
		"explore work":      "it checks that no two clients are inside, and holds take no time",
		"explore receive":   "it tries every delay of every message",
		"matrix n":          "its plans are about five nodes",
		"matrix units":      "its expectations hold for the default number of units",
	}[command+" "+flag]
	if command == "matrix" && since == "" && runsTake(cmd.Root(), flag) {
		since = "its expectations hold for the defaults of the options"
	}
	if since == "" {
		return ""
	}
	return ", since " + since
}

// runsTake reports whether a flag is an option of an algorithm, as bench takes it.
func runsTake(root *cobra.Command, flag string) bool {
	bench, _, err := root.Find([]string{"bench"})
	if err != nil {
		return false
	}
	f := bench.Flags().Lookup(flag)
	return f != nil && isOption(f)
}

// commandsWith names the commands that have a flag of that name or letter. It names each command once, though
// some commands are also subcommands of runs.
func commandsWith(root *cobra.Command, flag string) (names []string) {
	flag = oneName(flag)
	for _, cmd := range allBelow(root) {
		flags := cmd.LocalNonPersistentFlags()
		f := flags.Lookup(flag)
		if f == nil && len(flag) == 1 {
			f = flags.ShorthandLookup(flag)
		}
		if f != nil && !f.Hidden && !slices.Contains(names, cmd.Name()) {
			names = append(names, nameOf(cmd))
		}
	}
	return names
}

// allBelow returns the subcommands of a command, with their own subcommands and so on.
func allBelow(cmd *cobra.Command) []*cobra.Command {
	all := cmd.Commands()
	for _, one := range cmd.Commands() {
		all = append(all, allBelow(one)...)
	}
	return all
}

// valueError explains why the flag f refused a value. where is the place of the value, and cause the error of
// the flag.
func valueError(where string, f *pflag.Flag, value string, cause error) error {
	return fmt.Errorf("%s: %w", where, option.Refusal(f.Value.Type(), value, cause))
}

func flagNames(flags *pflag.FlagSet) []string {
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}

// noArgs lets a command have flags only.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := fmt.Sprintf("; see %s --help", cmd.CommandPath())
	if name, value, sets := strings.Cut(args[0], "="); sets {
		if f := flagOf(cmd, strings.ToLower(name)); f != nil {
			hint = fmt.Sprintf(": write --%s=%s or, for make, %s=%s", f.Name, value, variableOf(name), value)
		}
	}
	return fmt.Errorf("%s takes only flags, not %q%s", cmd.CommandPath(), args[0], hint)
}

// atMostOne lets a command have one argument.
func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	return fmt.Errorf("%s takes one argument, not %d; see %s --help",
		cmd.CommandPath(), len(args), cmd.CommandPath())
}

var exportForms = []string{"entries", "shiviz", "perfetto"}
