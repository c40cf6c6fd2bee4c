package commands

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"turnstile/bench/compare"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/nodes/workload"
	"turnstile/results"
)

// plainUsages removes the backquotes of --help from the usages of all flags, since completion would show
// them. It also lets flags be given twice, since completion reads them twice.
func plainUsages(cmd *cobra.Command) {
	plain := func(f *pflag.Flag) {
		f.Usage = strings.ReplaceAll(f.Usage, "`", "")
		if o, is := f.Value.(*once); is {
			f.Value = o.Value
		}
	}
	cmd.LocalFlags().VisitAll(plain)
	for _, sub := range cmd.Commands() {
		plainUsages(sub)
	}
}

// completeFlags makes shells complete the values of the flags of runs, with the algorithms of a table.
func (k known) completeFlags(cmd *cobra.Command, table []*spec) {
	for flag, values := range map[string][]string{
		"load":       {"saturated", "closed", "open", "one", "sequential"},
		"arrivals":   {"poisson", "even"},
		"initiators": {"all", "none", "lowest", "highest", "random:1"},
		"work":       workload.Works,
		"receive":    {"agent", "interrupt", "handler", "poll:5ms"},
		"take":       {"1", "2", "1..3", "all", "writers:0.2"},
		"service":    ownNames(),
	} {
		if cmd.Flags().Lookup(flag) != nil {
			completeWith(cmd, flag, values)
		}
	}
	cmd.RegisterFlagCompletionFunc("algo",
		func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return completeAlgorithms(table, args)
		})
	cmd.RegisterFlagCompletionFunc("detector", k.completeDetector)
	cmd.RegisterFlagCompletionFunc("elect", k.completeScheme)
	completeWith(cmd, "require", compare.RequiredColumns())
	k.completeOptions(cmd)
	completeFaults(cmd)
}

// completeFaults makes shells complete the plan, and the flags whose value is the target of a fault.
func completeFaults(cmd *cobra.Command) {
	cmd.RegisterFlagCompletionFunc("plan", completePlan)
	var words []string
	for _, w := range effect.TargetWords {
		words = append(words, cobra.CompletionWithDesc(w.Word, w.Says))
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if v, is := f.Value.(*textFlag); is {
			if _, is := v.textValue.(*effect.Target); is {
				completeWith(cmd, f.Name, words)
			}
		}
	})
}

// completeWith makes shells complete a flag with one of the values.
func completeWith(cmd *cobra.Command, flag string, values []string) {
	cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// completeOptions makes shells complete the options of algorithms.
func (k known) completeOptions(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if isOption(f) {
			cmd.RegisterFlagCompletionFunc(f.Name, k.completeOption(f.Name))
		}
	})
}

// completeOption completes the value of an option of the algorithm that the command line names.
func (k known) completeOption(option string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		name, err := cmd.Flags().GetString("algo")
		if err != nil && len(args) > 0 { // list has no --algo: its argument names the algorithm
			name = args[0]
		}
		var values []string
		if algo, err := k.Find(name); err == nil && algo.Option(option) != nil {
			values = algo.Option(option).Values
		}
		return values, cobra.ShellCompDirectiveNoFileComp
	}
}

func (k known) completeAlgorithm(_ *cobra.Command, args []string, _ string) ([]string,
	cobra.ShellCompDirective) {
	return completeAlgorithms(k.Algorithms(), args)
}

func (k known) completeScheme(_ *cobra.Command, args []string, _ string) ([]string,
	cobra.ShellCompDirective) {
	return completeAlgorithms(k.Electors(), args)
}

// completeDescribed completes the argument of list: an algorithm, a failure detector or a service.
func (k known) completeDescribed(_ *cobra.Command, args []string, _ string) ([]string,
	cobra.ShellCompDirective) {
	names, how := completeAlgorithms(slices.Concat(k.Algorithms(), k.Detectors()), args)
	for _, s := range ownServices {
		if len(args) == 0 {
			names = append(names, cobra.CompletionWithDesc(s.Name, s.Summary))
		}
	}
	return names, how
}

// completeAlgorithms completes the name of an algorithm of a table.
func completeAlgorithms(table []*spec, args []string) (names []string, how cobra.ShellCompDirective) {
	if len(args) == 0 {
		for _, algo := range table {
			names = append(names, cobra.CompletionWithDesc(algo.Name, algo.Summary))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completePlan completes the name of a built-in plan, or of a file.
func completePlan(*cobra.Command, []string, string) (names []string, how cobra.ShellCompDirective) {
	for _, p := range chaos.Plans() {
		names = append(names, cobra.CompletionWithDesc(p.Name, p.About))
	}
	return names, cobra.ShellCompDirectiveDefault
}

func completeRun(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	root, _ := cmd.Flags().GetString("results")
	refs := []string{results.LatestLink}
	for _, f := range results.Runs(root) {
		refs = append(refs, f.Ref())
	}
	return refs, cobra.ShellCompDirectiveDefault // the argument may also be a path
}

// completeRunOrSet completes the names of runs, as completeRun does, and the names of sets.
func completeRunOrSet(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	refs, how := completeRun(cmd, args, begun)
	for _, ref := range refs {
		if set, _, found := strings.Cut(ref, "/"); found && !slices.Contains(refs, set) {
			refs = append(refs, set)
		}
	}
	return refs, how
}
