package commands

import (
	"context"

	"github.com/spf13/cobra"

	"turnstile/results"
)

// A Command is a word of the command line: what help says of it, what it takes, and what it does.
type Command struct {
	Name                 string // with its arguments, as in show [RUN]
	Group                string // in which the help of the program lists it
	Short, Help, Example string
	More                 string // what the whole help says beside
	Hidden               bool
	Options              func(*cobra.Command) // adds its flags
	Args                 cobra.PositionalArgs // checks its arguments; nil: it takes none
	Complete             cobra.CompletionFunc // of its arguments
	Raw                  bool                 // its arguments are not read as flags
	Run                  runner
	Below                []Command
}

// A runner does what a command is for, in one call of the program.
type runner func(a *app, cmd *cobra.Command, args []string) error

// in returns the command as part of a call of the program.
func (c *Command) in(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: c.Name, Short: c.Short, Long: c.Help, Example: c.Example, Hidden: c.Hidden,
		Args: c.Args, ValidArgsFunction: c.Complete, DisableFlagParsing: c.Raw,
		RunE: func(cmd *cobra.Command, args []string) error { return c.Run(a, cmd, args) }}
	if c.Args == nil && !c.Raw {
		cmd.Args = noArgs
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().SetNormalizeFunc(oneFlag)
	if c.Options != nil {
		c.Options(cmd)
	}
	addHelpAll(cmd, c.More)
	for _, below := range c.Below {
		cmd.AddCommand(below.in(a))
	}
	return cmd
}

// checked returns what runs a command that takes flags alone, which are checked before anything is done.
func checked(check func(settings) error, run func(context.Context, *app) error) runner {
	return func(a *app, cmd *cobra.Command, _ []string) error {
		if _, err := settle(cmd, check); err != nil {
			return err
		}
		return run(cmd.Context(), a)
	}
}

// many is checked for a command that makes many runs: it says which flags have values from elsewhere.
func many(check func(settings) error, run func(context.Context, *app) error) runner {
	return func(a *app, cmd *cobra.Command, _ []string) error {
		s, err := settle(cmd, check)
		if err != nil {
			return err
		}
		a.note(s)
		return run(cmd.Context(), a)
	}
}

// named returns what runs a command with its arguments.
func named(run func(ctx context.Context, a *app, args []string) error) runner {
	return func(a *app, cmd *cobra.Command, args []string) error {
		if _, err := settingsOf(cmd); err != nil {
			return err
		}
		return run(cmd.Context(), a, args)
	}
}

// onRun returns what runs a command that is about one stored run: the one that its argument names, or the
// latest. What is wrong with its flags, by check, is said first.
func onRun(check func(*cobra.Command, settings) error,
	do func(context.Context, *app, *results.Folder) error) runner {
	return onStored(check, results.Open, do)
}

// onStored returns what runs a command that is about what open finds below the folder of all result sets.
func onStored[T any](check func(*cobra.Command, settings) error, open func(root, ref string) (T, error),
	do func(context.Context, *app, T) error) runner {
	return func(a *app, cmd *cobra.Command, args []string) error {
		s, err := settingsOf(cmd)
		if err == nil && check != nil {
			err = check(cmd, s)
		}
		if err != nil {
			return err
		}
		root, err := cmd.Flags().GetString("results")
		if err != nil {
			return err
		}
		stored, err := open(root, append(args, results.LatestLink)[0])
		if err != nil {
			return err
		}
		return do(cmd.Context(), a, stored)
	}
}
