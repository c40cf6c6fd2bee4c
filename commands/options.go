package commands

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/foreign"
	"turnstile/option"
)

// addOption adds the flag of an option of runs. value is a pointer, as option.Option.Of returns it; the
// default of the flag is the value that it points to.
func addOption(f *pflag.FlagSet, o *option.Option, value any) {
	addValue(f, value, o.Name, o.Short, o.Usage)
	flag := f.Lookup(o.Name)
	if _, ours := value.(option.Value); ours && flag.Value.Type() != "distribution" {
		flag.DefValue = "" // the usage names the default, where there is one
	}
	if o.NoZero != "" {
		noZero(f, o.Name, o.NoZero)
	}
	if group(f, o.Group); o.Common {
		common(f, o.Name)
	}
}

// addValue adds a flag that sets a value, given a pointer to it.
func addValue(f *pflag.FlagSet, value any, name, short, usage string) {
	switch v := value.(type) {
	case pflag.Value:
		f.VarP(v, name, short, usage)
	case *string:
		f.StringVarP(v, name, short, *v, usage)
	case *bool:
		f.BoolVarP(v, name, short, *v, usage)
	case *int:
		f.IntVarP(v, name, short, *v, usage)
	case *uint64:
		f.Uint64VarP(v, name, short, *v, usage)
	case *float64:
		f.Float64VarP(v, name, short, *v, usage)
	case *time.Duration:
		f.DurationVarP(v, name, short, *v, usage)
	default:
		panic(fmt.Sprintf("a flag %s of type %T", name, v))
	}
}

// addAlgorithmOptions adds a flag for each option of the algorithms of a table.
func addAlgorithmOptions(f *pflag.FlagSet, c *nodes.Config, table []*spec) {
	for _, o := range algorithm.Options(table) {
		var owners []string
		for _, algo := range table {
			if algo.Option(o.Name) != nil {
				owners = append(owners, algo.Name)
			}
		}
		f.Func(o.Name, o.String()+"; of "+strings.Join(owners, ", "), func(value string) error {
			if value == "" {
				return errors.New("it has no value: write one, or leave it out")
			}
			*c = c.With(o.Name, value)
			return nil
		})
		f.SetAnnotation(o.Name, groupKey, []string{optionFlags})
	}
}

// checkOptions validates the configuration c of an algorithm. If the algorithm lacks an option, checkOptions
// drops the option if it is set in a lower place than the algorithm, as in a file for many runs.
func (s settings) checkOptions(k known, algo *spec, c nodes.Config) (nodes.Config, error) {
	c.Options = maps.Clone(c.Options)
	maps.DeleteFunc(c.Options, func(name, _ string) bool {
		return algo.Option(name) == nil && s.below(name, "algo")
	})
	if algo.Units.Most <= 1 && s.below("units", "algo") { // --units was set for other algorithms
		c.Units = 0
	}
	err := k.hinted(algo.Validate(c))
	var fence *nodes.FenceError
	if errors.As(err, &fence) && algo.Family == foreign.ServiceOption && algo.Option("fence") != nil {
		fence.Option = "--with fence=on"
	}
	return c, s.blame(err, append(slices.Collect(maps.Keys(c.Options)), "nodes", "units")...)
}

// hinted adds to an error about units or fence numbers the names of algorithms that could run.
func (k known) hinted(err error) error {
	var units *nodes.UnitsError
	if errors.As(err, &units) {
		units.Others = namesOf(k.with(func(one *spec) bool {
			most, take := max(1, one.Units.Most), max(1, one.Units.Take)
			return take >= units.Take && most >= max(2, units.Units)
		}))
	}
	var fence *nodes.FenceError
	if errors.As(err, &fence) {
		fence.Others = namesOf(k.with(func(one *spec) bool { return one.Fenced }))
	}
	return err
}

// The groups in which help lists the flags of a run, beside the groups of package option.
const (
	faultGroup  = "Faults"
	outputFlags = "Output"
	optionFlags = "Options" // options of algorithms
)

// helpWidth is how many columns the help of flags takes.
const helpWidth = 100

// groupKey is the annotation of a flag that holds its group.
const groupKey = "turnstile_group"

// group puts all flags that have no group yet into the group of that name.
func group(f *pflag.FlagSet, name string) {
	f.VisitAll(func(flag *pflag.Flag) {
		if flag.Annotations[groupKey] == nil {
			f.SetAnnotation(flag.Name, groupKey, []string{name}) // fails only if there is no such flag
		}
	})
}

// commonKey is the annotation of a flag that the short help lists.
const commonKey = "turnstile_common"

// common marks flags for the short help; --help-all lists all flags.
func common(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		f.SetAnnotation(name, commonKey, nil) // fails only if there is no such flag
	}
}

// isCommon reports whether the short help lists a flag.
func isCommon(f *pflag.Flag) bool {
	_, is := f.Annotations[commonKey]
	return is || f.Name == "help"
}

// helpAll is the flag that prints the long help of a command.
const helpAll = "help-all"

// addHelpAll adds --help-all to a command that has a longer help, or flags that the short help leaves out.
func addHelpAll(cmd *cobra.Command, more string) {
	f, marked := cmd.Flags(), more != ""
	f.VisitAll(func(flag *pflag.Flag) { marked = marked || isCommon(flag) })
	if marked {
		f.Bool(helpAll, false, "print all flags, and more about them")
		forOneCall(cmd, helpAll)
	}
}

// isShort reports whether the help of a command is the short one.
func isShort(cmd *cobra.Command) bool {
	f := cmd.Flags().Lookup(helpAll)
	return f != nil && !f.Changed
}

// knowGroups registers the functions that list flags with the help templates.
var knowGroups = sync.OnceFunc(func() {
	cobra.AddTemplateFuncs(template.FuncMap{"flagsOf": flagsOf, "isShort": isShort})
})

// groupHelp makes the help of all commands list flags by group or, in the short help, the common ones.
func groupHelp(root *cobra.Command) {
	knowGroups()
	root.SetUsageTemplate(strings.NewReplacer(
		"{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}", "{{flagsOf .}}",
		"{{if .HasAvailableInheritedFlags}}", "{{if and .HasAvailableInheritedFlags (not (isShort .))}}",
	).Replace(root.UsageTemplate()) + "{{if isShort .}}\n{{.CommandPath}} --help-all prints all flags.\n{{end}}")
}

// flagsOf returns the usages of the flags that the help of a command lists, short or long.
func flagsOf(cmd *cobra.Command) string {
	if !isShort(cmd) {
		return groupedFlags(cmd)
	}
	few := pflag.NewFlagSet("", pflag.ContinueOnError)
	few.SortFlags = false
	named := algorithmNamed(cmd)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if isCommon(f) || isOption(f) && named != nil && named.Option(f.Name) != nil {
			few.AddFlag(f)
		}
	})
	return strings.TrimRight(few.FlagUsagesWrapped(helpWidth), " \n")
}

// groupedFlags returns the usages of the flags of a command: first the flags without a group, then each group
// under its name. It lists only the algorithm options of the algorithm that the command line names.
func groupedFlags(cmd *cobra.Command) string {
	var names []string
	groups := map[string]*pflag.FlagSet{}
	named, hidden := algorithmNamed(cmd), 0
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
		fmt.Fprintf(&b, "\nAlgorithms have %d options of their own: name one before --help-all, or see list NAME.",
			hidden)
	}
	return strings.TrimRight(b.String(), "\n")
}

// algorithmNamed returns the algorithm that the command line names, or nil.
func algorithmNamed(cmd *cobra.Command) *algorithm.Algorithm {
	if f := cmd.Flags().Lookup("algo"); f != nil && f.Changed {
		value := f.Value
		if o, is := value.(*once); is {
			value = o.Value
		}
		if flag, is := value.(*algorithmFlag); is {
			if algo, err := flag.Find(flag.String()); err == nil {
				return algo
			}
		}
	}
	return nil
}

// isOption reports whether a flag is an option of an algorithm.
func isOption(f *pflag.Flag) bool {
	return slices.Contains(f.Annotations[groupKey], optionFlags)
}
