package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"turnstile/bench/option"
	"turnstile/internal/english"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/catalog"
	"turnstile/nodes/row"
)

type spec = row.Row

const listExample = `  orchestrator list
  orchestrator list maekawa -n 25
  orchestrator list --columns wait_us_p99
  orchestrator list --json`

func (a *app) listCommand() *cobra.Command {
	var c nodes.Config
	var asJSON, markdown, columns bool
	cmd := &cobra.Command{
		Use:               "list [NAME]",
		Short:             "List the algorithms, failure detectors and services, or describe one",
		Example:           listExample,
		Args:              atMostOne,
		ValidArgsFunction: completeDescribed,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := settingsOf(cmd)
			if err == nil {
				err = s.either(cmd, "json", "markdown")
			}
			if err != nil {
				return err
			}
			if columns {
				return a.listColumns(args, asJSON, markdown)
			}
			return a.list(s, c, args, asJSON, markdown)
		},
	}
	cmd.Flags().IntVarP(&c.N, "nodes", "n", 8, "for how many nodes to print the cost")
	addOption(cmd.Flags(), option.Find("units"), &c.Units)
	addAlgorithmOptions(cmd.Flags(), &c, catalog.All())
	completeOptions(cmd)
	cmd.Flags().BoolVar(&columns, "columns", false, "list the columns of result files, or those of a name")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON instead")
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print a table for a Markdown document instead")
	forOneCall(cmd, "columns")
	return cmd
}

func (a *app) list(s settings, c nodes.Config, names []string, asJSON, markdown bool) error {
	rows, named := catalog.All(), byFlag+1
	if len(names) > 0 {
		if row := detectorNamed(names[0]); row != nil {
			return a.listDetector(row, asJSON)
		}
		if s := ownService(names[0]); s != nil {
			return a.listService(s, asJSON)
		}
		row, err := findAlgorithm(names[0])
		if err != nil {
			return err
		}
		rows, named = []*spec{row}, byFlag
	}
	for _, row := range rows {
		if err := row.Check(); err != nil {
			return err
		}
		if _, err := s.checkOptions(row, c, named); err != nil {
			return err
		}
	}
	switch {
	case asJSON:
		list := []entry{}
		for _, row := range rows {
			list = append(list, entryOf(row, c))
		}
		if len(names) > 0 {
			return terminal.PrintJSON(a.stdout, list[0])
		}
		return terminal.PrintJSON(a.stdout, list)
	case markdown:
		writeMarkdown(a.stdout, "| `--algo` | aliases | family | messages per entry | safety rests on | source |",
			rowsOf("entries"), func(row *spec) []any { return []any{row.CostOf(c).Formula} })
		writeMarkdown(a.stdout, "\n| `--scheme` | aliases | family | elects | one leader rests on | source |",
			rowsOf("elections"), electsWhom)
	case len(names) > 0:
		described[check.ProblemOf(rows[0]).Columns](a.stdout, rows[0], c)
		writeStory(a.stdout, rows[0], c)
	default:
		costs := func(row *spec) []any {
			cost := row.CostOf(row.Explicit(c))
			return []any{cost.Formula, cost.Any}
		}
		err := errors.Join(
			writeList(a.stdout, rowsOf("entries"), costs, "NAME", "FAMILY", "MESSAGES PER ENTRY",
				fmt.Sprintf("N=%d", c.N)),
			writeList(a.stdout, rowsOf("elections"), electsWhom, "SCHEME", "FAMILY", "ELECTS"),
			writeDetectors(a.stdout),
			writeOwnServices(a.stdout))
		fmt.Fprintln(a.stdout, "list NAME has the aliases, options, costs, model and source of one.")
		return err
	}
	return nil
}

// rowsOf returns the algorithms of problems that have such columns.
func rowsOf(columns string) []*spec {
	return rowsWith(func(row *spec) bool { return check.ProblemOf(row).Columns == columns })
}

// described are what describes one algorithm, by the name that its problem has for columns.
var described = map[string]func(io.Writer, *spec, nodes.Config){
	"entries": writeSpec, "elections": writeElector,
}

// writeList prints a line per algorithm, with what is said of it.
func writeList(w io.Writer, rows []*spec, says func(*spec) []any, head ...string) error {
	t := terminal.Table{Head: head}
	for _, row := range rows {
		t.Add(append([]any{row.Name, row.Family}, says(row)...)...)
	}
	return errors.Join(t.Print(w), writeBroken(w, rows), blankLine(w))
}

// blankLine ends what a list says of a kind.
func blankLine(w io.Writer) error {
	_, err := fmt.Fprintln(w)
	return err
}

// writeBroken names the rows that are known to be broken, and what check finds that.
func writeBroken(w io.Writer, rows []*spec) error {
	var broken []string
	for _, row := range rows {
		if row.Flaw != nil {
			broken = append(broken, fmt.Sprintf("%s (%s)", row.Name, row.Broken()))
		}
	}
	if len(broken) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "known broken: %s\n", strings.Join(broken, ",\n    "))
	return err
}

// writeInfo writes what every row says of itself, and returns what writes a line more, unless it is empty.
func writeInfo(w io.Writer, row *spec) (line func(name, text string)) {
	line = func(name, text string) {
		if text != "" {
			writeField(w, name, text)
		}
	}
	line("name", row.Name)
	line("aliases", strings.Join(row.Aliases, ", "))
	line("family", row.Family)
	line("summary", row.Summary)
	line("source", row.Source)
	if row.Flaw != nil {
		line("known broken", row.Broken().String()+": it is here for the checks to catch")
	}
	return line
}

// writeSpec describes one algorithm.
func writeSpec(w io.Writer, one *spec, c nodes.Config) {
	c = one.Explicit(c)
	line, cost := writeInfo(w, one), one.CostOf(c)
	line("safety", "rests on "+one.SafeIn(c).String())
	if one.Fenced {
		line("with --fenced", "safety rests on "+one.Effective.String())
	}
	if m := one.Exclusion().Minority; m != nil {
		what := "a client that reaches no majority enters no more"
		if m.Keeps {
			what += ", but in an epoch that had begun before"
		}
		line("in a minority", fmt.Sprintf("%s, %v after its failure detector knows at most", what, m.Within(c)))
	}
	line("progress", "rests on "+(one.SafeIn(c)|one.LiveIn(c)).String())
	writeBesides(one, c, line)
	if one.Detects != "" {
		line("listens to", "the failure detector "+one.Detects+", unless --detector names another")
	}
	if one.Follows {
		line("with --elect", "it follows the leader of a scheme of election, such as bully")
	}
	line("fairness", bypassOf(one, c))
	line("units", unitsOf(one))
	writeParts(line, one, c)
	if one.Circulates {
		line("remark", "messages circulate even if nobody requests")
	}
	writePitfalls(one, line)
	if one.Broadcasts(c) {
		line("broadcasts", strings.Join(broadcasts(one, c), ", ")+": with --multicast one publish each")
	}
	fmt.Fprintf(w, "\npublished messages per entry: %s\n", cost.Formula)
	with := []string{english.Count(c.N, "node", "nodes")}
	for _, o := range one.Options {
		if value := c.Value(o); value != "" {
			with = append(with, o.Name+" "+value)
		}
	}
	for _, s := range one.Exclusion().Symbols {
		with = append(with, fmt.Sprintf("%s = %d (%s)", s.Name, s.Value(c), s.Says))
	}
	fmt.Fprintf(w, "with %s:\n", strings.Join(with, ", "))
	for _, f := range []struct {
		name  string
		value row.Range
	}{
		{"sequential", cost.Sequential}, {"one", cost.One}, {"saturated", cost.Saturated}, {"any load", cost.Any},
	} {
		writeWrapped(w, fmt.Sprintf("  %-12s ", f.name), fmt.Sprint(f.value, meansOf(one, c, f.name, f.value)))
	}
	hops := "hops"
	if cost.Delay == row.Exactly(1) {
		hops = "hop"
	}
	fmt.Fprintf(w, "published synchronization delay: %s %s\n", cost.Delay, hops)
	identities := one.Exclusion().IdentitiesIn(c)
	if len(identities) > 0 {
		fmt.Fprintln(w, "\nheld to, after a run without faults:")
	}
	for _, i := range identities {
		fmt.Fprintf(w, "  %s\n", i.Says)
	}
}

// writeParts writes what an algorithm is made of.
func writeParts(line func(name, text string), row *spec, c nodes.Config) {
	line("messages", strings.Join(row.CodecIn(c).Names(), ", "))
	line("timers", timersOf(row))
	for _, o := range row.Options {
		line("option", "--"+o.Name+": "+o.String())
	}
	if servers := row.ServerCount(c); servers > 0 {
		line("servers", fmt.Sprintf("%d, beside the %d nodes", servers, c.N))
	}
}

// meansOf says what an entry takes on average under a load that allows a range.
func meansOf(one *spec, c nodes.Config, load string, limits row.Range) (text string) {
	if limits.Exact() {
		return ""
	}
	for _, mean := range one.Means(load, c) {
		text += fmt.Sprintf(", on average %s", strconv.FormatFloat(mean.Value(c).Min, 'f', 2, 64))
		if mean.Hold > 0 {
			text += fmt.Sprintf(" if the hold is %d times the latency", mean.Hold/row.Hop)
		}
		text += fmt.Sprintf(" (%s)", mean.Source)
	}
	return text
}

// broadcasts names the messages of an algorithm that go to all peers at once.
func broadcasts(row *spec, c nodes.Config) (names []string) {
	for kind, codec := 0, row.CodecIn(c); kind < codec.Kinds(); kind++ {
		if codec.Kind(kind).Broadcast {
			names = append(names, codec.Name(kind))
		}
	}
	return names
}

// timersOf names the timers of an algorithm.
func timersOf(row *spec) string {
	var names []string
	for _, t := range row.Timers {
		name := t.Name
		if t.PerPeer {
			name += " (per peer)"
		}
		if t.Server {
			name += " (of servers)"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// bypassOf says how often a request may be passed over.
func bypassOf(row *spec, c nodes.Config) string {
	bypass, promised := row.Exclusion().Promised(c)
	switch {
	case row.Exclusion().Chance:
		return "who enters next is a matter of chance: how often a request is passed over is not bounded"
	case !promised:
		return "how often a request is passed over is not bounded"
	}
	while := ""
	if row.Exclusion().Fair != 0 {
		while = ", as long as nothing goes wrong"
	}
	return fmt.Sprintf("once a request is known, at most %s of others come first%s; with %s",
		english.Count(bypass, "entry", "entries"), while, english.Count(c.N, "node", "nodes"))
}

// writeMarkdown prints a table of the README, with what is said of each algorithm.
func writeMarkdown(w io.Writer, head string, rows []*spec, says func(*spec) []any) {
	fmt.Fprintf(w, "%s\n|---|---|---|---|---|---|\n", head)
	cell := strings.NewReplacer("|", `\|`).Replace
	for _, row := range rows {
		source := row.Source
		if row.Flaw != nil {
			source += "; known broken: " + row.Broken().String()
		}
		fmt.Fprintf(w, "| `%s` | %s | %s | %s | %s | %s |\n", row.Name, cell(strings.Join(row.Aliases, ", ")),
			row.Family, cell(fmt.Sprint(says(row)...)), row.Safe, cell(source))
	}
}

// An entry is one algorithm as list --json prints it.
type entry struct {
	Name       string            `json:"name"`
	Aliases    []string          `json:"aliases"`
	Family     string            `json:"family"`
	Source     string            `json:"source"`
	Summary    string            `json:"summary"`
	Broken     string            `json:"broken,omitempty"`
	Safe       []string          `json:"safety_rests_on"`
	Live       []string          `json:"progress_rests_on"`
	Units      unitLimits        `json:"units"`
	Fenced     bool              `json:"hands_out_fences"`
	Follows    bool              `json:"follows_a_leader"`
	Effective  []string          `json:"fenced_safety_rests_on"`
	Detector   string            `json:"failure_detector"`
	Messages   []string          `json:"messages"`
	Options    []setting         `json:"options"`
	Servers    int               `json:"servers"`
	Circulates bool              `json:"circulates"`
	Broadcasts bool              `json:"broadcasts"`
	Nodes      int               `json:"nodes"`
	Formula    string            `json:"formula"`
	Symbols    map[string]int    `json:"symbols"`
	Cost       map[string]limits `json:"cost"`
	Delay      limits            `json:"delay_hops"`
	Bypass     *int              `json:"bypass"` // null: no promise
	Identities []string          `json:"identities"`
}

// A setting is an option of an algorithm, as list --json prints it.
type setting struct {
	Name    string   `json:"name"`
	Usage   string   `json:"usage"`
	Values  []string `json:"values"` // null: any that it does not refuse
	Default string   `json:"default"`
}

func entryOf(row *spec, c nodes.Config) entry {
	c = row.Explicit(c)
	cost := row.CostOf(c)
	e := entry{
		Name: row.Name, Aliases: append([]string{}, row.Aliases...), Family: row.Family, Source: row.Source,
		Summary: row.Summary, Broken: row.Broken().Check, Safe: needs(row.SafeIn(c)),
		Live:   needs(row.SafeIn(c) | row.LiveIn(c)),
		Units:  unitLimitsOf(row.Units),
		Fenced: row.Fenced, Follows: row.Follows, Effective: needs(row.Effective), Detector: row.Detects,
		Messages: row.CodecIn(c).Names(), Servers: row.ServerCount(c), Circulates: row.Circulates,
		Nodes: c.N, Formula: cost.Formula,
		Cost: map[string]limits{"sequential": limitsOf(cost.Sequential), "one": limitsOf(cost.One),
			"saturated": limitsOf(cost.Saturated), "any": limitsOf(cost.Any)},
		Delay: limitsOf(cost.Delay), Identities: []string{}, Options: []setting{}, Symbols: map[string]int{},
		Broadcasts: row.Broadcasts(c),
	}
	for _, s := range row.Exclusion().Symbols {
		e.Symbols[s.Name] = s.Value(c)
	}
	if bypass, promised := row.Exclusion().Promised(c); promised {
		e.Bypass = &bypass
	}
	for _, o := range row.Options {
		e.Options = append(e.Options, setting{o.Name, o.Usage, o.Values, o.Default})
	}
	for _, i := range row.Exclusion().IdentitiesIn(c) {
		e.Identities = append(e.Identities, i.Says)
	}
	return e
}

func needs(n nodes.Assumption) []string {
	if n == 0 {
		return []string{}
	}
	return strings.Split(n.String(), ", ")
}
