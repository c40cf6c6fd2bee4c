package commands

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"turnstile/algorithms/catalog"
	"turnstile/bench/option"
	"turnstile/nodes"
	"turnstile/nodes/foreign"
	"turnstile/nodes/row"
)

// addOption adds the flag of an option of runs, which sets a value: a pointer, as option.Option.Of has it.
// Its default is what is there.
func addOption(f *pflag.FlagSet, o *option.Option, value any) {
	addValue(f, value, o.Name, o.Short, o.Usage)
	flag := f.Lookup(o.Name)
	if _, ours := value.(option.Value); ours && flag.Value.Type() != "distribution" {
		flag.DefValue = "" // which the usage says, if need be
	}
	if o.NoZero != "" {
		noZero(f, o.Name, o.NoZero)
	}
	group(f, o.Group)
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

// addAlgorithmOptions adds a flag for each option that an algorithm of a table has.
func addAlgorithmOptions(f *pflag.FlagSet, c *nodes.Config, table []*spec) {
	for _, o := range row.Options(table) {
		var rows []string
		for _, row := range table {
			if row.Option(o.Name) != nil {
				rows = append(rows, row.Name)
			}
		}
		f.Func(o.Name, o.String()+"; of "+strings.Join(rows, ", "), func(value string) error {
			if value == "" {
				return errors.New("it has no value: write one, or leave it out")
			}
			*c = c.With(o.Name, value)
			return nil
		})
		f.SetAnnotation(o.Name, groupKey, []string{optionFlags})
	}
}

// checkOptions validates the configuration c of an algorithm that was named at a level. Options that it does
// not have are dropped if they were given at a lower one, such as in a file for many runs.
func (s settings) checkOptions(row *spec, c nodes.Config, named rank) (nodes.Config, error) {
	c.Options = maps.Clone(c.Options)
	maps.DeleteFunc(c.Options, func(name, _ string) bool {
		return row.Option(name) == nil && s.rank(name) < named
	})
	if row.Units.Most <= 1 && s.rank("units") < named { // it is for other algorithms
		c.Units = 0
	}
	err := hinted(row.Validate(c))
	var fence *nodes.FenceError
	if errors.As(err, &fence) && row.Family == foreign.ServiceOption && row.Option("fence") != nil {
		fence.Option = "--with fence=on"
	}
	return c, s.blame(err, append(slices.Collect(maps.Keys(c.Options)), "nodes", "units")...)
}

// hinted adds to an error about units which algorithms serve so many, or give one request so many, and to one
// about fence numbers which hand them out.
func hinted(err error) error {
	var units *nodes.UnitsError
	if errors.As(err, &units) {
		units.Others = namesOf(rowsWith(func(one *spec) bool {
			most, take := max(1, one.Units.Most), max(1, one.Units.Take)
			return take >= units.Take && most >= max(2, units.Units)
		}))
	}
	var fence *nodes.FenceError
	if errors.As(err, &fence) {
		fence.Others = namesOf(rowsWith(func(one *spec) bool { return one.Fenced }))
	}
	return err
}

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
	if f := cmd.Flags().Lookup("algo"); f != nil && f.Changed {
		if row, err := catalog.Find(f.Value.String()); err == nil {
			return row
		}
	}
	return nil
}
