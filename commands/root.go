package commands

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

const rootHelp = `Turnstile measures algorithms of distributed mutual exclusion and leader election, and locks
and elections that people use. It starts real processes that talk over NATS, drives a load through them,
records every event, and judges the history.

Each flag can also be set in the environment, as TURNSTILE_ and its name (TURNSTILE_LATENCY=1ms,
TURNSTILE_NODE_PROGRAM=...), or in turnstile.yaml in the working directory (latency: 1ms). The command
line comes first, then the environment, then the file.

Exit status: 0 valid, 1 violated, 2 inconclusive, 3 under- or overloaded, 64 bad usage,
69 if a server, a host or a run cannot be reached, 74 if the output could not be written.`

const rootExample = `  orchestrator bench --algo ricart -n 32
  orchestrator bench --service redis -n 4 --kill holder --at 1s
  orchestrator elect --algo bully -n 9 --plan leader-crashes
  orchestrator list
  orchestrator verify latest
  orchestrator runs --verdict violated`

// root returns the tree of commands for one call of the program.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "orchestrator",
		Short:         "Benchmark and judge distributed mutual exclusion and leader election",
		Long:          rootHelp,
		Example:       rootExample,
		Version:       versions()["turnstile"],
		SilenceErrors: true, // runTo prints errors
		SilenceUsage:  true, // the usage would scroll the error off the screen
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(flagError)
	groupHelp(root)
	root.SetVersionTemplate(versionText())
	root.Flags().Bool("version", false, "print the versions of this program, of Go and of its NATS libraries")
	root.PersistentFlags().String("config", "",
		"configuration `file` (default turnstile.yaml, if it is there)")
	oneValueEach(root.PersistentFlags())
	cobra.EnableCommandSorting = false
	for _, c := range Commands(a.known) {
		cmd := c.in(a)
		if cmd.GroupID = c.Group; c.Group != "" && !root.ContainsGroup(c.Group) {
			root.AddGroup(&cobra.Group{ID: c.Group, Title: c.Group})
		}
		root.AddCommand(cmd)
	}
	root.SetHelpCommandGroupID(saysWhatIs)
	root.SetCompletionCommandGroupID(saysWhatIs)
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	refuseUnknown(root)
	return root
}

// Manual returns the commands with their whole help, for manual pages and completions.
func Manual() *cobra.Command {
	return (&app{stdout: io.Discard, stderr: io.Discard, manual: true}).root()
}

// refuseUnknown makes the two commands that cobra adds refuse unknown arguments: completion an unknown shell,
// and help an unknown command.
func refuseUnknown(root *cobra.Command) {
	help, _, _ := root.Find([]string{"help"})
	help.Run, help.RunE = nil, func(_ *cobra.Command, args []string) error {
		of, _, err := root.Find(args)
		if err != nil {
			return err
		}
		of.InitDefaultHelpFlag()
		return of.Help()
	}
	completion, _, _ := root.Find([]string{"completion"})
	completion.Args = cobra.ArbitraryArgs
	completion.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		var shells []string
		for _, c := range cmd.Commands() {
			shells = append(shells, c.Name())
		}
		return fmt.Errorf("there is no completion for %s: write one of %s", args[0], strings.Join(shells, ", "))
	}
}
