package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"turnstile/internal/suggest"
)

// variable matches a flag as make has it: THINK=1ms is --think=1ms.
var variable = regexp.MustCompile(`(?s)^([A-Z][A-Z0-9_]*)=(.*)$`)

// variablesToFlags replaces the variables that follow the name of a command by the flags of those names. The
// first word that is none ends them: what follows may be the value of a flag.
func variablesToFlags(root *cobra.Command, args []string) ([]string, error) {
	cmd, rest, err := root.Find(args)
	if err != nil || cmd == root || len(rest) != len(args)-1 {
		return args, nil // cobra says what is wrong
	}
	flags := []string{args[0]}
	for i, word := range rest {
		v := variable.FindStringSubmatch(word)
		if v == nil {
			return append(flags, rest[i:]...), nil
		}
		name := strings.ToLower(strings.ReplaceAll(v[1], "_", "-"))
		f := flagOf(cmd, name)
		switch {
		case f == nil:
			return nil, fmt.Errorf("%s takes no variable %s%s", cmd.Name(), v[1], variableHint(cmd, name, v[2]))
		case v[2] == "": // the flag would have its default, silently
			return nil, fmt.Errorf("%s has no value: write one behind %[1]s=, or leave it out", v[1])
		}
		flags = append(flags, fmt.Sprintf("--%s=%s", f.Name, v[2]))
	}
	return flags, nil
}

// flagOf returns the flag of a command that a name stands for, or nil.
func flagOf(cmd *cobra.Command, name string) *pflag.Flag {
	if f := cmd.Flags().Lookup(name); f != nil {
		return f
	}
	if len(name) == 1 {
		return cmd.Flags().ShorthandLookup(name)
	}
	return cmd.InheritedFlags().Lookup(name)
}

// variableOf returns the variable that stands for a flag.
func variableOf(flag string) string { return strings.ToUpper(strings.ReplaceAll(flag, "-", "_")) }

// variableHint says which variable may have been meant, or who takes this one.
func variableHint(cmd *cobra.Command, name, value string) string {
	switch {
	case name == "algo" && flagOf(cmd, "scheme") != nil:
		return ": did you mean SCHEME?"
	case name == "name" && strings.Contains(cmd.Use, " [NAME"):
		return fmt.Sprintf(": did you mean ARGS=%s?", value)
	case strings.Trim(name, "n") == "" && len(name) > 1 && flagOf(cmd, "n") != nil:
		return ": did you mean N?"
	}
	long := name
	if name == "n" {
		long = "nodes"
	}
	if takers := commandsWith(cmd.Root(), long); len(takers) > 0 {
		return "; these do: " + strings.Join(takers, ", ")
	}
	if near := suggest.Nearest(name, append(flagNames(cmd.Flags()), "n")); near != "" {
		return ": did you mean " + variableOf(near) + "?"
	}
	return fmt.Sprintf("; see %s --help: each flag is the variable of its name", cmd.CommandPath())
}
