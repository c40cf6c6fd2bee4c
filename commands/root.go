package commands

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"turnstile/algorithms/catalog"
	"turnstile/internal/suggest"
)

// An app is one call of the program.
type app struct {
	stdout, stderr io.Writer
	status         int  // to exit with, if there is no error
	diskFull       bool // something could not be stored
}

const rootHelp = `Turnstile measures algorithms of distributed mutual exclusion and leader election: it starts
real processes that talk over NATS, drives a load through them, records all that happens, and judges the
history.

Each flag can also be set in the environment, as TURNSTILE_ and its name (TURNSTILE_LATENCY=1ms,
TURNSTILE_NODE_PROGRAM=...), or in turnstile.yaml in the working directory (latency: 1ms). The command
line comes first, then the environment, then the file.

Exit status: 0 valid, 1 violated, 2 inconclusive, 3 under- or overloaded, 64 bad usage,
69 if a server, a host or a run cannot be reached, 74 if the output could not be written.`

const rootExample = `  orchestrator bench --algo ricart -n 32
  orchestrator bench --algo maekawa -n 9 --latency 1ms --load sequential
  orchestrator elect --scheme bully -n 9 --plan leader-crashes
  orchestrator list
  orchestrator verify latest
  orchestrator runs --verdict violated`

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "orchestrator",
		Short:         "Benchmark distributed mutual exclusion and leader election, and judge it",
		Long:          rootHelp,
		Example:       rootExample,
		Version:       versions()["turnstile"],
		SilenceErrors: true, // run prints them
		SilenceUsage:  true, // the error would scroll off the screen
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(flagError)
	groupHelp(root)
	root.SetVersionTemplate(versionText())
	root.Flags().Bool("version", false, "print the versions of this program and of what it is made with")
	root.PersistentFlags().String("config", "",
		"configuration `file` (default turnstile.yaml, if it is there)")
	root.AddCommand(a.benchCommand(), a.electCommand(), a.splitBrainCommand(), a.listCommand(),
		a.verifyCommand(), a.brokerCommand(),
		a.proxyCommand(), a.resourceCommand(), a.serviceCommand(), a.hostCommand(), a.hostsCommand(),
		a.simulateCommand(),
		a.exploreCommand(), a.validateCommand(), a.overheadCommand(),
		a.versionCommand(), a.plansCommand(), a.chaosCommand(), a.matrixCommand(),
		a.sweepCommand(), a.injectCommand(), a.runsCommand(), a.showCommand(), a.rerunCommand(),
		a.historyCommand(), a.compareCommand(), a.diagramCommand(), a.exportCommand(),
		a.reportCommand(), a.claimsCommand(),
		a.resultsCommand(), a.publishCommand(), a.keysCommand(), a.controlCommand())
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	refuseUnknown(root)
	return root
}

// refuseUnknown makes the two commands that cobra adds refuse what they do not know: completion a shell, and
// help a command.
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
		return fmt.Errorf("there is no completion for %s: there is for %s", args[0], strings.Join(shells, ", "))
	}
}

// flagError says what is wrong with a flag, and what would be right.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var bad *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if cmd.Name() == "diagram" && name == "until" {
			return fmt.Errorf("%w: the end of a diagram is --to", err)
		}
		hint := fmt.Sprintf("; see %s --help", cmd.CommandPath())
		if takers := commandsWith(cmd.Root(), name); len(takers) > 0 {
			hint = fmt.Sprintf(": %s does not take it%s; these do: %s", cmd.Name(), sinceOf(cmd.Name(), name),
				strings.Join(takers, ", "))
		} else if near := suggest.Nearest(name, flagNames(cmd.Flags())); near != "" {
			hint = fmt.Sprintf(": did you mean --%s?", near)
		}
		return fmt.Errorf("%w%s", err, hint)
	case errors.As(err, &bad):
		if cmd.Name() == "diagram" && bad.GetFlag().Name == "to" && slices.Contains(exportForms, bad.GetValue()) {
			return fmt.Errorf("--to: %s is a form of export, and here --to is the time at which the picture ends: "+
				"see export --to %s", bad.GetValue(), bad.GetValue())
		}
		return valueError("--"+bad.GetFlag().Name, bad.GetFlag(), bad.GetValue(), bad.Unwrap())
	}
	return err
}

// sinceOf says why a command does not take a flag, where somebody may expect that it does.
func sinceOf(command, flag string) string {
	since := map[string]string{
		"explore resources": "it explores one resource, and several are instances that share no state",
		"explore zipf":      "it explores one resource",
		"explore work":      "it looks whether two are inside, and holds take no time there",
		"explore receive":   "it tries every delay of every message",
		"matrix n":          "its plans are about five nodes",
		"matrix units":      "what rows say of plans is of the usual number",
	}[command+" "+flag]
	if command == "matrix" && slices.Contains(catalog.OptionNames(), flag) {
		since = "what rows say of plans is of the defaults of their options"
	}
	if since == "" {
		return ""
	}
	return ", since " + since
}

// commandsWith names the commands that have a flag of that name, or of that letter.
func commandsWith(root *cobra.Command, flag string) (names []string) {
	for _, cmd := range root.Commands() {
		flags := cmd.LocalNonPersistentFlags()
		f := flags.Lookup(flag)
		if f == nil && len(flag) == 1 {
			f = flags.ShorthandLookup(flag)
		}
		if f != nil && !f.Hidden {
			names = append(names, cmd.Name())
		}
	}
	return names
}

// valueError says what is wrong with the value of the flag f, which was given at where. cause is the error of
// the flag itself.
func valueError(where string, f *pflag.Flag, value string, cause error) error {
	if f.Value.Type() == "duration" {
		if lengthOfTime.MatchString(value) { // it is one, and overflows
			return fmt.Errorf("%s: %q is too long: at most 24h", where, value)
		}
		if err := suggest.Unit(value, "s"); err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
	}
	what, known := map[string]string{
		"int":      "a whole number",
		"uint64":   "a whole number from 0",
		"float64":  "a number",
		"bool":     "true or false",
		"duration": "a time such as 500ms, 3s or 2m",
	}[f.Value.Type()]
	if !known {
		return fmt.Errorf("%s: %w", where, cause)
	}
	return fmt.Errorf("%s: %q is not %s", where, value, what)
}

// lengthOfTime matches what time.ParseDuration reads, however long it is.
var lengthOfTime = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*(h|m|s|ms|us|µs|ns))+$`)

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
	return fmt.Errorf("%s takes flags only, and there is %q%s", cmd.CommandPath(), args[0], hint)
}

// atMostOne lets a command have one argument.
func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	return fmt.Errorf("%s takes one argument, and there are %d; see %s --help",
		cmd.CommandPath(), len(args), cmd.CommandPath())
}
