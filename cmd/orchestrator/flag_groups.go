package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"turnstile/nodes/catalog"
	"turnstile/nodes/row"
)

// The groups in which help lists the flags of a run, beside those of package option.
const (
	faultGroup  = "Faults"
	outputFlags = "Output"
	optionFlags = "Options" // of algorithms
)

// helpWidth is how many columns the help of flags takes.
const helpWidth = 100

// groupKey is the annotation of a flag that holds its group.
const groupKey = "turnstile_group"

// group puts all flags that belong to no group yet into this one.
func group(f *pflag.FlagSet, name string) {
	f.VisitAll(func(flag *pflag.Flag) {
		if flag.Annotations[groupKey] == nil {
			f.SetAnnotation(flag.Name, groupKey, []string{name}) // fails only without such a flag
		}
	})
}

// knowGroups makes groupedFlags known to the templates of all commands.
var knowGroups = sync.OnceFunc(func() { cobra.AddTemplateFunc("groupedFlags", groupedFlags) })

// groupHelp has the help of all commands list flags by their groups.
func groupHelp(root *cobra.Command) {
	knowGroups()
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(),
		"{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}", "{{groupedFlags .}}", 1))
}

// groupedFlags returns the usages of the flags of a command: those of no group first, and then each group
// under its name. Of the options of algorithms it lists those of the algorithm that the command line names.
func groupedFlags(cmd *cobra.Command) string {
	var names []string
	groups := map[string]*pflag.FlagSet{}
	named, hidden := rowNamed(cmd), 0
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		name := ""
		if g := f.Annotations[groupKey]; g != nil {
			name = g[0]
		}
		if name == optionFlags && (named == nil || named.Option(f.Name) == nil) {
			hidden++
			return
		}
		if groups[name] == nil {
			groups[name] = pflag.NewFlagSet("", pflag.ContinueOnError)
			groups[name].SortFlags = cmd.Flags().SortFlags
			names = append(names, name)
		}
		groups[name].AddFlag(f)
	})
	slices.SortStableFunc(names, func(a, b string) int { return min(len(a), 1) - min(len(b), 1) })
	var b strings.Builder
	for i, name := range names {
		switch {
		case name == optionFlags:
			fmt.Fprintf(&b, "\nOptions of %s:\n", named.Name)
		case name != "":
			fmt.Fprintf(&b, "%s%s:\n", strings.Repeat("\n", min(i, 1)), name)
		}
		b.WriteString(strings.TrimRight(groups[name].FlagUsagesWrapped(helpWidth), " \n") + "\n")
	}
	if hidden > 0 && named == nil {
		fmt.Fprintf(&b, "\nAlgorithms have %d options of their own: name one before --help, or see list NAME.",
			hidden)
	}
	return strings.TrimRight(b.String(), "\n")
}

// rowNamed returns the row that the command line names, or nil.
func rowNamed(cmd *cobra.Command) *row.Row {
	for _, flag := range []string{"algo", "scheme"} {
		if f := cmd.Flags().Lookup(flag); f != nil && f.Changed {
			if row, err := catalog.Find(f.Value.String()); err == nil {
				return row
			}
		}
	}
	return nil
}
