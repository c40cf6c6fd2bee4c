package main

import (
	"github.com/spf13/cobra"

	"turnstile/nodes/mutex"
	"turnstile/results"
)

// completeFlags makes shells complete the values of the flags of runs.
func completeFlags(cmd *cobra.Command) {
	for flag, values := range map[string][]string{
		"load":     {"saturated", "closed", "open", "one", "sequential"},
		"arrivals": {"poisson", "even"},
	} {
		completeWith(cmd, flag, values)
	}
	cmd.RegisterFlagCompletionFunc("algo", completeAlgorithm)
}

// completeWith makes shells complete a flag with one of the values.
func completeWith(cmd *cobra.Command, flag string, values []string) {
	cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

func completeAlgorithm(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if len(args) == 0 {
		for _, row := range mutex.Table {
			names = append(names, cobra.CompletionWithDesc(row.Name, row.Summary))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
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
	return refs, cobra.ShellCompDirectiveDefault // a path will do too
}
