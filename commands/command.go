package commands

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"turnstile/internal/suggest"
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
	Instead              string               // the flag of another output, beside which there is no --json
	Check                func(settings) error // says what is wrong with its flags, before anything is done
	Notes                bool                 // it says which flags have values from elsewhere
	Raw                  bool                 // its arguments are not read as flags
	Piped                *bool                // a run has started it, which settings of users are not for
	Run                  runner
	Below                []Command
}

// A runner does what a command is for, in one call of the program.
type runner func(context.Context, *app) error

// in returns the command as part of a call of the program.
func (c *Command) in(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: c.Name, Short: c.Short, Long: c.Help, Example: c.Example, Hidden: c.Hidden,
		Args: c.Args, ValidArgsFunction: c.Complete, DisableFlagParsing: c.Raw,
		RunE: func(cmd *cobra.Command, args []string) error {
			a.args, a.stdin = args, cmd.InOrStdin()
			return c.run(cmd, a)
		}}
	if c.Args == nil && !c.Raw {
		cmd.Args = noArgs
	}
	if args := cmd.Args; args != nil && c.Below != nil {
		cmd.Args = func(cmd *cobra.Command, of []string) error { return c.meant(args(cmd, of), of) }
	}
	if a.manual {
		cmd.Long = c.wholeHelp()
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().SetNormalizeFunc(oneFlag)
	if c.Options != nil {
		c.Options(cmd)
	}
	addHelpAll(cmd, c.More)
	oneValueEach(cmd.Flags())
	for _, below := range c.Below {
		cmd.AddCommand(below.in(a))
	}
	return cmd
}

// wholeHelp returns what --help-all says above the flags.
func (c *Command) wholeHelp() string { return strings.TrimSpace(c.Help + "\n\n" + c.More) }

// run sets the flags that the command line did not set, and does what the command is for.
func (c *Command) run(cmd *cobra.Command, a *app) error {
	if all, _ := cmd.Flags().GetBool(helpAll); all {
		cmd.Long = c.wholeHelp()
		return cmd.Help()
	}
	if c.Raw || c.Piped != nil && *c.Piped {
		return c.Run(cmd.Context(), a)
	}
	s, err := settingsOf(cmd)
	if err == nil && c.Instead != "" {
		err = s.either(cmd, "json", c.Instead)
	}
	if err == nil && c.Check != nil {
		err = c.Check(s)
	}
	if err != nil {
		return err
	}
	if c.Notes {
		a.note(s)
	}
	return c.meant(c.Run(cmd.Context(), a), a.args)
}

// meant adds to an error which command below this one may have been meant by a misspelt argument.
func (c *Command) meant(err error, args []string) error {
	var below []string
	for _, b := range c.Below {
		below = append(below, strings.Fields(b.Name)[0])
	}
	if err == nil || len(args) == 0 {
		return err
	}
	if near := suggest.Nearest(args[0], below); near != "" {
		err = fmt.Errorf("%w; did you mean %s %s?", err, strings.Fields(c.Name)[0], near)
	}
	return err
}

// onStored returns what runs a command that is about what open finds below the folder of all result sets:
// what its argument names, or the latest run.
func onStored[T any](root *string, open func(root, ref string) (T, error),
	do func(context.Context, *app, T) error) runner {
	return func(ctx context.Context, a *app) error {
		stored, err := open(*root, append(a.args, results.LatestLink)[0])
		if err != nil {
			return err
		}
		return do(ctx, a, stored)
	}
}
