package commands

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"turnstile/internal/proc"
	"turnstile/internal/suggest"
	"turnstile/internal/terminal"
	"turnstile/results"
)

// A Command is a command of the program: its help, its flags and arguments, and the function that runs it.
type Command struct {
	Name                 string // name with arguments, as in show [RUN]
	Group                string // group of commands in the help of the program; see makesRun
	Short, Help, Example string
	More                 string // part of the help that only --help-all prints
	Hidden               bool
	Options              func(*cobra.Command) // adds the flags of the command
	Args                 cobra.PositionalArgs // checks the arguments; nil: the command takes only flags
	Complete             cobra.CompletionFunc // completes the arguments
	Instead              string               // flag for another form of output, which excludes --json
	Check                func(settings) error // checks the flags before Run
	Notes                bool                 // the command prints which flags a file or variable has set
	Raw                  bool                 // words after the name are arguments, even if they look like flags
	Piped                *bool                // a run has started the command; files and variables set no flags
	Ends                 bool                 // asked to end, it still has to end or remove what it made
	Serves               bool                 // it goes on until it is asked to end
	Run                  runner
	Below                []Command
}

// A runner does the work of a command in one call of the program.
type runner func(context.Context, *app) error

// in returns the cobra command for a call of the program.
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

// wholeHelp returns the help that --help-all prints above the flags.
func (c *Command) wholeHelp() string { return strings.TrimSpace(c.Help + "\n\n" + c.More) }

// run sets flags from the environment and the file, checks them, and does the work of the command.
func (c *Command) run(cmd *cobra.Command, a *app) error {
	if isOn(cmd, helpAll) {
		cmd.Long = c.wholeHelp()
		return cmd.Help()
	}
	if c.Raw || c.Piped != nil && *c.Piped {
		if out, is := a.stdout.(*output); is { // unescaped: programs read these lines, some with \x1e
			out.Writer = terminal.Raw(out.Writer)
		}
		return c.Run(cmd.Context(), a)
	}
	var s settings
	err := unlessAsked(cmd.Context(), func() (err error) {
		s, err = settingsOf(cmd)
		if err == nil && c.Instead != "" && isOn(cmd, "json") && isOn(cmd, c.Instead) {
			err = fmt.Errorf("--json and --%s ask for different outputs: leave out one of the two", c.Instead)
		}
		if err == nil && c.Check != nil {
			err = c.Check(s)
		}
		return err
	})
	if err != nil {
		return err
	}
	if c.Notes {
		a.note(s)
	}
	return c.meant(c.do(cmd.Context(), a), a.args)
}

// isOn reports whether a switch is on.
func isOn(cmd *cobra.Command, flag string) bool {
	on, _ := cmd.Flags().GetBool(flag)
	return on
}

// do does the work of the command. Unless the command serves others, its status is not 0 once it is asked to
// end.
func (c *Command) do(ctx context.Context, a *app) (err error) {
	if c.Ends || c.Serves {
		proc.RemoveDead()
		err = c.Run(ctx, a)
	} else {
		err = unlessAsked(ctx, func() error { return c.Run(ctx, a) })
	}
	if err == nil && a.status == 0 && ctx.Err() != nil && !c.Serves {
		return errInterrupted
	}
	return err
}

// meant adds to an error the name of a subcommand, if the first argument may be a misspelling of it.
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

// onStored returns the runner of a command about a stored run or set. open finds the run or set that the
// argument names, in the folder of all result sets. Without an argument it finds the latest run.
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
