package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"turnstile/bench/service"
	"turnstile/internal/english"
	"turnstile/internal/suggest"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/replay"
	"turnstile/option"
	"turnstile/results"
)

const listExample = `  orchestrator list
  orchestrator list maekawa -n 25
  orchestrator list columns wait_us_p99
  orchestrator list --json`

// A listCall is one call of list.
type listCall struct {
	known
	nodes.Config
	json, markdown bool
	settings       settings
}

func listCommand(k known) Command {
	c := &listCall{known: k}
	return Command{
		Name:     "list [NAME]",
		Short:    "List the algorithms, failure detectors and services, or describe one",
		Example:  listExample,
		Options:  c.addTo,
		Args:     atMostOne,
		Complete: k.completeDescribed,
		Instead:  "markdown",
		Check:    c.settings.keep,
		Run:      c.run,
		Below:    []Command{columnsCommand(k)},
	}
}

func (c *listCall) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVarP(&c.N, "nodes", "n", 8, "for how many nodes to print the cost")
	addOption(f, option.Find("units"), &c.Units)
	addAlgorithmOptions(f, &c.Config, c.Algorithms())
	c.completeOptions(cmd)
	f.BoolVar(&c.json, "json", false, "print JSON instead")
	f.BoolVar(&c.markdown, "markdown", false, "print a table for a Markdown document instead")
}

// run lists all algorithms, or describes the named one.
func (c *listCall) run(ctx context.Context, a *app) error {
	w, names := a.stdout, a.args
	algos, named := c.Algorithms(), byFlag+1 // without a name, no option has to fit all algorithms
	if len(names) > 0 {
		if algo := c.detectorNamed(names[0]); algo != nil {
			return listDetector(w, algo, c.json)
		}
		if s := ownService(names[0]); s != nil {
			return listService(w, s.Entry(), c.json)
		}
		if _, err := c.Find(names[0]); err != nil {
			if e := otherService(ctx, names[0]); e != nil {
				return listService(w, e, c.json)
			}
		}
		algo, err := c.findAlgorithm(names[0])
		if err != nil {
			return err
		}
		algos, named = []*spec{algo}, byFlag
	}
	c.settings["algo"] = source{rank: named}
	for _, algo := range algos {
		if err := c.Check(algo); err != nil {
			return err
		}
		if _, err := c.settings.checkOptions(c.known, algo, c.Config); err != nil {
			return err
		}
	}
	switch {
	case c.json:
		list := []entry{}
		for _, algo := range algos {
			list = append(list, entryOf(algo, c.Config))
		}
		if len(names) > 0 {
			return terminal.PrintJSON(w, list[0])
		}
		return terminal.PrintJSON(w, list)
	case c.markdown:
		writeMarkdown(w, "| `--algo` | aliases | family | messages per entry | safety assumes | source |",
			c.algorithmsOf(false), func(algo *spec) []any { return []any{algo.CostOf(c.Config).Formula} })
		writeMarkdown(w, "\n| `--scheme` | aliases | family | elects | one leader assumes | source |",
			c.algorithmsOf(true), electsWhom)
	case len(names) > 0:
		kindOf(algos[0]).describe(w, algos[0], c.Config)
		writeStory(w, algos[0], c.Config)
	default:
		costs := func(algo *spec) []any {
			cost := algo.CostOf(algo.Explicit(c.Config))
			return []any{cmp.Or(cost.Formula, "not published"), cost.Any}
		}
		err := errors.Join(
			writeList(w, c.algorithmsOf(false), costs, "NAME", "FAMILY", "MESSAGES PER ENTRY",
				fmt.Sprintf("N=%d", c.N)),
			writeList(w, c.algorithmsOf(true), electsWhom, "SCHEME", "FAMILY", "ELECTS"),
			c.writeDetectors(w),
			writeOwnServices(w))
		fmt.Fprintln(w, "list NAME has the aliases, options, costs, model and source of one.")
		return err
	}
	return nil
}

// algorithmsOf returns the algorithms whose runs are about leaders, or all others.
func (k known) algorithmsOf(leads bool) []*spec {
	return k.with(func(algo *spec) bool { return check.ProblemOf(algo).Leads == leads })
}

// writeList prints a line per algorithm: its name, its family, and the cells that the function says returns.
func writeList(w io.Writer, algos []*spec, says func(*spec) []any, head ...string) error {
	t := terminal.Table{Head: head}
	for _, algo := range algos {
		t.Add(append([]any{algo.Name, algo.Family}, says(algo)...)...)
	}
	return errors.Join(t.Print(w), writeBroken(w, algos), blankLine(w))
}

// blankLine ends the part of a list about one kind.
func blankLine(w io.Writer) error {
	_, err := fmt.Fprintln(w)
	return err
}

// writeBroken names the algorithms that are known to be broken, each with the check that finds it.
func writeBroken(w io.Writer, algos []*spec) error {
	var broken []string
	for _, algo := range algos {
		if algo.Flaw != nil {
			broken = append(broken, fmt.Sprintf("%s (%s)", algo.Name, algo.Broken()))
		}
	}
	if len(broken) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "known broken: %s\n", strings.Join(broken, ",\n    "))
	return err
}

// writeInfo writes the fields that every algorithm has. It returns a function that writes a further field,
// unless the text of that field is empty.
func writeInfo(w io.Writer, algo *spec) (line func(name, text string)) {
	line = func(name, text string) {
		if text != "" {
			writeField(w, name, text)
		}
	}
	line("name", algo.Name)
	line("aliases", strings.Join(algo.Aliases, ", "))
	line("family", algo.Family)
	line("summary", algo.Summary)
	line("source", algo.Source)
	if algo.Flaw != nil {
		line("known broken", algo.Broken().String()+": it is here for the checks to catch")
	}
	return line
}

// writeSpec describes one algorithm.
func writeSpec(w io.Writer, one *spec, c nodes.Config) {
	c = one.Explicit(c)
	line := writeInfo(w, one)
	line("safety", "rests on "+one.SafeIn(c).String())
	if one.Fenced {
		line("with --fenced", "safety rests on "+one.Effective.String())
	}
	if m := one.Exclusion().Minority; m != nil {
		what := "a client that reaches no majority stops entering"
		if m.Keeps {
			what += ", except in an older epoch,"
		}
		line("in a minority", fmt.Sprintf("%s within %v of its failure detector's suspicion", what, m.Within(c)))
	}
	line("progress", "rests on "+(one.SafeIn(c)|one.LiveIn(c)).String())
	writeBesides(one, c, line)
	if one.Detects != "" {
		line("listens to", "the failure detector "+one.Detects+", unless --detector names another")
	}
	if one.Follows {
		line("with --elect", "it follows the leader that a scheme such as bully elects")
	}
	line("fairness", bypassOf(one, c))
	line("units", unitsOf(one))
	writeParts(line, one, c)
	if one.Circulates {
		line("remark", "messages circulate even if nobody requests")
	}
	writePitfalls(one, line)
	if one.Broadcasts(c) {
		line("broadcasts", strings.Join(broadcasts(one, c), ", ")+": one publish each with --multicast")
	}
	writeCost(w, one, c)
	identities := one.Exclusion().IdentitiesIn(c)
	if len(identities) > 0 {
		fmt.Fprintln(w, "\nidentities that hold after a run without faults:")
	}
	for _, i := range identities {
		fmt.Fprintf(w, "  %s\n", i.Says)
	}
}

// writeCost writes the published message cost and synchronization delay of an algorithm.
func writeCost(w io.Writer, one *spec, c nodes.Config) {
	cost := one.CostOf(c)
	if one.Exclusion().Cost == nil {
		fmt.Fprintf(w, "\nno cost is published\n")
		return
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
		value algorithm.Range
	}{
		{"sequential", cost.Sequential}, {"one", cost.One}, {"saturated", cost.Saturated}, {"any load", cost.Any},
	} {
		writeWrapped(w, fmt.Sprintf("  %-12s ", f.name), fmt.Sprint(f.value, meansOf(one, c, f.name, f.value)))
	}
	hops := "hops"
	if cost.Delay == algorithm.Exactly(1) {
		hops = "hop"
	}
	fmt.Fprintf(w, "published synchronization delay: %s %s\n", cost.Delay, hops)
}

// writeParts writes the messages, timers, options and servers of an algorithm.
func writeParts(line func(name, text string), algo *spec, c nodes.Config) {
	line("messages", strings.Join(algo.CodecIn(c).Names(), ", "))
	line("timers", timersOf(algo))
	for _, o := range algo.Options {
		line("option", "--"+o.Name+": "+o.String())
	}
	if servers := algo.ServerCount(c); servers > 0 {
		line("servers", fmt.Sprintf("%d, beside the %d nodes", servers, c.N))
	}
}

// meansOf describes the mean messages per entry under a load whose published cost is a range.
func meansOf(one *spec, c nodes.Config, load string, limits algorithm.Range) (text string) {
	if limits.Exact() {
		return ""
	}
	for _, mean := range one.Means(load, c) {
		text += fmt.Sprintf(", on average %s", strconv.FormatFloat(mean.Value(c).Min, 'f', 2, 64))
		if mean.Hold > 0 {
			text += fmt.Sprintf(" if the hold is %d times the latency", mean.Hold/algorithm.Hop)
		}
		text += fmt.Sprintf(" (%s)", mean.Source)
	}
	return text
}

// broadcasts names the messages of an algorithm that go to all peers at once.
func broadcasts(algo *spec, c nodes.Config) (names []string) {
	for kind, codec := 0, algo.CodecIn(c); kind < codec.Kinds(); kind++ {
		if codec.Kind(kind).Broadcast {
			names = append(names, codec.Name(kind))
		}
	}
	return names
}

// timersOf lists the timers of an algorithm.
func timersOf(algo *spec) string {
	var names []string
	for _, t := range algo.Timers {
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

// bypassOf describes how often a request may be passed over.
func bypassOf(algo *spec, c nodes.Config) string {
	bypass, promised := algo.Exclusion().Promised(c)
	switch {
	case algo.Exclusion().Chance:
		return "chance decides which client enters next: how often a request is passed over is not bounded"
	case !promised:
		return "how often a request is passed over is not bounded"
	}
	while := ""
	if algo.Exclusion().Fair != 0 {
		while = ", as long as nothing goes wrong"
	}
	return fmt.Sprintf("once a request is known, at most %s by others come first%s; with %s",
		english.Count(bypass, "entry", "entries"), while, english.Count(c.N, "node", "nodes"))
}

// writeMarkdown prints a table for a Markdown document. The function says returns the fourth cell of a line.
func writeMarkdown(w io.Writer, head string, algos []*spec, says func(*spec) []any) {
	fmt.Fprintf(w, "%s\n|---|---|---|---|---|---|\n", head)
	cell := strings.NewReplacer("|", `\|`).Replace
	for _, algo := range algos {
		source := algo.Source
		if algo.Flaw != nil {
			source += "; known broken: " + algo.Broken().String()
		}
		fmt.Fprintf(w, "| `%s` | %s | %s | %s | %s | %s |\n", algo.Name, cell(strings.Join(algo.Aliases, ", ")),
			algo.Family, cell(fmt.Sprint(says(algo)...)), algo.Safe, cell(source))
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
	Bypass     *int              `json:"bypass"` // null: the algorithm promises no bound
	Identities []string          `json:"identities"`
}

// A setting is an option of an algorithm, as list --json prints it.
type setting struct {
	Name    string   `json:"name"`
	Usage   string   `json:"usage"`
	Values  []string `json:"values"` // allowed values; null: the algorithm itself checks the value
	Default string   `json:"default"`
}

func entryOf(algo *spec, c nodes.Config) entry {
	c = algo.Explicit(c)
	cost := algo.CostOf(c)
	e := entry{
		Name: algo.Name, Aliases: append([]string{}, algo.Aliases...), Family: algo.Family, Source: algo.Source,
		Summary: algo.Summary, Broken: algo.Broken().Check, Safe: needs(algo.SafeIn(c)),
		Live:   needs(algo.SafeIn(c) | algo.LiveIn(c)),
		Units:  unitLimitsOf(algo.Units),
		Fenced: algo.Fenced, Follows: algo.Follows, Effective: needs(algo.Effective), Detector: algo.Detects,
		Messages: algo.CodecIn(c).Names(), Servers: algo.ServerCount(c), Circulates: algo.Circulates,
		Nodes: c.N, Formula: cost.Formula,
		Cost: map[string]limits{"sequential": limitsOf(cost.Sequential), "one": limitsOf(cost.One),
			"saturated": limitsOf(cost.Saturated), "any": limitsOf(cost.Any)},
		Delay: limitsOf(cost.Delay), Identities: []string{}, Options: []setting{}, Symbols: map[string]int{},
		Broadcasts: algo.Broadcasts(c),
	}
	for _, s := range algo.Exclusion().Symbols {
		e.Symbols[s.Name] = s.Value(c)
	}
	if bypass, promised := algo.Exclusion().Promised(c); promised {
		e.Bypass = &bypass
	}
	for _, o := range algo.Options {
		e.Options = append(e.Options, setting{o.Name, o.Usage, o.Values, o.Default})
	}
	for _, i := range algo.Exclusion().IdentitiesIn(c) {
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

// A columnsCall is one call of list columns.
type columnsCall struct {
	known
	json bool
}

func columnsCommand(k known) Command {
	c := &columnsCall{known: k}
	return Command{
		Name:  "columns [NAME]",
		Short: "List the columns of result files or of the file NAME, or describe the column NAME",
		Example: `  orchestrator list columns wait_us_p99
  orchestrator list columns faults.csv --json`,
		Options: func(cmd *cobra.Command) { addJSON(cmd.Flags(), &c.json) },
		Args:    atMostOne,
		Run:     c.run,
	}
}

// A columnEntry is one column as list columns prints it.
type columnEntry struct {
	File  string `json:"file"`
	Name  string `json:"column"`
	Unit  string `json:"unit"`
	Is    string `json:"is"`
	Empty string `json:"empty"` // the meaning of an empty cell; empty: no cell of the column is empty
}

// columnEntries returns the columns called name, and those of the table called name; "": those of all tables.
func (k known) columnEntries(name string) (all []columnEntry, err error) {
	var known []string
	for _, file := range results.Tables() {
		known = append(known, file)
		for _, d := range results.Descriptions(file) {
			if known = append(known, d.Name); name == "" || name == d.Name || name == file {
				all = append(all, columnEntry{file, d.Name, d.Unit, d.Is, d.Empty})
			}
		}
	}
	for _, algo := range k.Algorithms() {
		for _, o := range algo.Options {
			column := results.OptionColumnOf(algo.Name, o.Name)
			if known = append(known, column); name == column {
				all = append(all, columnEntry{results.RowsFile, column, "as in the flag",
					fmt.Sprintf("option --%s of %s: %s", o.Name, algo.Name, o.Usage), "a run of another algorithm"})
			}
		}
	}
	if len(all) == 0 {
		hint := suggest.List{Names: known, By: "list columns"}.Hint(name)
		return nil, fmt.Errorf("there is no table or column %q%s", name, hint)
	}
	return all, nil
}

// run prints the columns of result files with their units and meanings.
func (c *columnsCall) run(_ context.Context, a *app) error {
	w := a.stdout
	all, err := c.columnEntries(strings.Join(a.args, ""))
	switch {
	case err != nil:
		return err
	case c.json:
		return terminal.PrintJSON(w, all)
	}
	var t terminal.Table
	file := ""
	for _, one := range all {
		if one.File != file {
			file = one.File
			t.Add(file)
		}
		says := strings.ReplaceAll(one.Is, "`", "")
		if one.Empty != "" {
			says += "; empty: " + one.Empty
		}
		t.Add("  "+one.Name, one.Unit, says)
	}
	return t.Print(w)
}

// unitsOf describes how many units of a resource an algorithm serves; empty: it serves one.
func unitsOf(one *spec) string {
	upTo := func(most int) string {
		if most >= nodes.AnyUnits {
			return "any number"
		}
		return fmt.Sprintf("up to %d", most)
	}
	u := one.Units
	if u.Most <= 1 {
		return ""
	}
	text := fmt.Sprintf("it serves %s (--units; default %d, but always fewer than the clients); a request "+
		"takes ", upTo(u.Most), max(1, u.Usual))
	if u.Take <= 1 {
		return text + "one"
	}
	return text + upTo(u.Take) + " (--take)"
}

// unitLimits is how many units of a resource an algorithm serves; null: any number.
type unitLimits struct {
	Most  *int `json:"most"`
	Take  *int `json:"take"` // how many units one request may take
	Usual int  `json:"usual"`
}

func unitLimitsOf(u nodes.Units) unitLimits {
	limit := func(most int) *int {
		if most >= nodes.AnyUnits {
			return nil
		}
		return new(max(1, most))
	}
	return unitLimits{limit(u.Most), limit(u.Take), max(1, u.Usual)}
}

// limits is a range; without Max it has no upper limit.
type limits struct {
	Min float64  `json:"min"`
	Max *float64 `json:"max"`
}

func limitsOf(r algorithm.Range) limits {
	if math.IsInf(r.Max, 1) {
		return limits{Min: r.Min}
	}
	return limits{r.Min, &r.Max}
}

// writeBesides writes the assumptions that an algorithm rests on only with some values of its options.
func writeBesides(one *spec, c nodes.Config, line func(name, text string)) {
	for _, o := range one.Options {
		var values []string
		var needs nodes.Assumption
		for _, value := range o.Values {
			with := c.With(o.Name, value)
			if more := (one.SafeIn(with) | one.LiveIn(with)) &^ (one.SafeIn(c) | one.LiveIn(c)); more != 0 {
				values, needs = append(values, value), needs|more
			}
		}
		if values != nil {
			line("with --"+o.Name, strings.Join(values, ", ")+": progress rests on "+needs.String()+" as well")
		}
	}
}

// electsWhom describes which node a scheme elects.
func electsWhom(algo *spec) []any {
	winner := [...]string{"anybody", "the highest", "the lowest"}[algo.Elector.Wins]
	if algo.Elector.Terms {
		winner += ", for a term"
	}
	return []any{winner}
}

// writeElector describes one scheme of election.
func writeElector(w io.Writer, algo *spec, c nodes.Config) {
	line := writeInfo(w, algo)
	line("elects", fmt.Sprint(electsWhom(algo)...))
	line("one leader", "rests on "+algo.Safe.String())
	line("in the end", "all agree on a node that is up; this rests on "+algo.Live.String())
	line("elected", "when "+algo.Elector.Follow.String())
	for _, someLinks := range []bool{false, true} {
		for _, p := range algo.Elector.PartitionsIn(c, someLinks) {
			says := fmt.Sprintf("%v cut: %v, since %s", p.Cuts, p.Does, p.Why)
			if p.Mend != "" {
				says += "; --" + p.Mend + " prevents that"
			}
			line("partition", says)
		}
	}
	if algo.Elector.Overlap != nil {
		line("take-over", fmt.Sprintf("two nodes may lead for %v while one takes over from the other",
			algo.Elector.Overlap(c)))
	}
	if lapse := algo.Elector.LapseOf(c); lapse > 0 {
		line("majority", fmt.Sprintf("a leader that cannot reach a majority knows within %v", lapse))
	}
	if leads := algo.Elector; leads.Mistakes != nil {
		const late = time.Second
		line("stability", fmt.Sprintf("a node suspects a live leader at most %d times, if no message takes longer "+
			"than %v", leads.Mistakes(c, late), late))
	}
	if algo.Elector.LeaderAlone {
		line("senders", "the leader alone, once all agree on it")
	}
	if algo.Elector.Costs != nil {
		cost := algo.Elector.Costs(c)
		line("cost", fmt.Sprintf("with %d nodes: %d messages if all nodes begin at once, and at most %d in any "+
			"election", c.N, cost.AtOnce, cost.Most))
	}
	if algo.Codec().Networks() > 1 {
		line("networks", "two, each with a broker of its own: faults name them first and second")
	}
	if grace := algo.GraceOf(c); grace > 0 {
		line("grace", fmt.Sprintf("%v after a fault is healed", grace.Round(time.Millisecond)))
	}
	if algo.Detects != "" {
		line("listens to", "the failure detector "+algo.Detects+", unless --detector names another")
	}
	writeParts(line, algo, c)
	writePitfalls(algo, line)
}

// storySizes are the numbers of nodes that writeStory tries, in this order.
var storySizes = []int{3, 4, 2, 5}

// mostSteps is how many steps writeStory prints.
const mostSteps = 24

// writeStory prints the first steps of an algorithm in a small cluster, and the state of each node before any
// message arrives.
func writeStory(w io.Writer, of *spec, c nodes.Config) {
	for _, n := range storySizes {
		small := of.Explicit(nodes.Config{N: n, Options: c.Options})
		if of.Validate(small) != nil {
			continue
		}
		first, says := firstSteps(of, n)
		begun, err := replay.Play(&replay.Schedule{Spec: of, Config: small, Steps: first})
		if err != nil {
			continue
		}
		whole, err := replay.Play(&replay.Schedule{Spec: of, Config: small,
			Steps: append(first, replay.Step{What: replay.StepRest})})
		if err != nil {
			continue
		}
		fmt.Fprintf(w, "\nfirst steps of %d nodes: %s:\n", n, says)
		for i, line := range whole.Story {
			if i == mostSteps {
				fmt.Fprintf(w, "      and %s more\n", english.Count(len(whole.Story)-i, "step", "steps"))
				break
			}
			writeWrapped(w, fmt.Sprintf("%4d  ", i+1), line)
		}
		fmt.Fprintln(w, "\nstate, before any of these messages arrives:")
		for id := range begun.Status.States {
			writeWrapped(w, fmt.Sprintf("  %-9s ", begun.Status.Name(id)), begun.Status.State(id))
		}
		return
	}
}

// firstSteps returns the first inputs of a small cluster, as steps and in words.
func firstSteps(of *spec, n int) (steps []replay.Step, says string) {
	return kindOf(of).story.first(nodes.ID(n - 1))
}

// fieldIndent is how far the text of a field is indented.
const fieldIndent = 15

// writeField writes the name of a field and its text.
func writeField(w io.Writer, name, text string) {
	writeWrapped(w, fmt.Sprintf("%-*s", fieldIndent, name), text)
}

// writeWrapped writes a text behind a label, in as many lines as that takes.
func writeWrapped(w io.Writer, label, text string) {
	for i, part := range english.Wrap(text, terminal.Columns(w)-len(label)) {
		if i > 0 {
			label = strings.Repeat(" ", len(label))
		}
		fmt.Fprintf(w, "%s%s\n", label, part)
	}
}

// writePitfalls writes each failure that the algorithm expects under plans of faults, with the reason and the
// plans, and then the meaning of the letters in the reasons.
func writePitfalls(of *spec, line func(name, text string)) {
	kind := kindOf(of).story
	words := []struct {
		outcome algorithm.Outcome
		says    string
	}{{algorithm.Starves, kind.starves}, {algorithm.Blocks, kind.blocks}, {algorithm.Breaks, kind.breaks}}
	var order []string
	plans := map[string][]string{}
	for _, cell := range of.Faults {
		var may []string
		for _, word := range words {
			if cell.May&word.outcome != 0 {
				may = append(may, word.says)
			}
		}
		if len(may) == 0 {
			continue
		}
		key := strings.Join(may, " or ") + ": " + cell.Why
		if plans[key] == nil {
			order = append(order, key)
		}
		plans[key] = append(plans[key], cell.Fault)
	}
	for _, key := range order {
		line("pitfall", fmt.Sprintf("%s (plans %s)", key, strings.Join(plans[key], ", ")))
	}
	if len(order) > 0 {
		line("letters", kindOf(of).matrix.legend)
	}
}

// writeDetectors prints a line per failure detector.
func (k known) writeDetectors(w io.Writer) error {
	t := terminal.Table{Head: []string{"DETECTOR", "SUSPECTS"}}
	for _, algo := range k.Detectors() {
		t.Add(algo.Name, algo.Summary)
	}
	return errors.Join(t.Print(w), blankLine(w))
}

// detectorNamed returns the failure detector of that name; nil: unknown name.
func (k known) detectorNamed(name string) *spec {
	algo, err := algorithm.Find("detector", k.Detectors(), name)
	if err != nil {
		return nil
	}
	return algo
}

// writeDetector describes one failure detector.
func writeDetector(w io.Writer, algo *spec) {
	line := func(name, text string) { writeField(w, name, text) }
	line("name", algo.Name)
	line("aliases", strings.Join(algo.Aliases, ", "))
	line("is", "a failure detector, which --detector adds to an algorithm")
	line("summary", algo.Summary)
	line("source", algo.Source)
	for _, o := range algo.Options {
		line("option", o.Name+": "+o.String())
	}
	if algo.Told != nil {
		line("runs", "in simulations alone")
		return
	}
	line("messages", strings.Join(algo.Codec().Names(), ", "))
	line("accuracy", "rests on "+(algo.Safe|algo.Live).String())
	const count = 5
	line("tells", fmt.Sprintf("all of %d nodes of a crash within %v plus the latency", count,
		algo.Detector.Tells(algo.Explicit(nodes.Config{N: count}), 0, 1)))
}

// A detectorEntry is one failure detector as list --json prints it.
type detectorEntry struct {
	Name      string    `json:"name"`
	Aliases   []string  `json:"aliases"`
	Source    string    `json:"source"`
	Summary   string    `json:"summary"`
	Live      []string  `json:"accuracy_rests_on"`
	Messages  []string  `json:"messages"`
	Options   []setting `json:"options"`
	Simulated bool      `json:"simulated_only"`
}

func detectorEntryOf(algo *spec) detectorEntry {
	e := detectorEntry{Name: algo.Name, Aliases: algo.Aliases, Source: algo.Source, Summary: algo.Summary,
		Live: needs(algo.Safe | algo.Live), Messages: algo.Codec().Names(), Simulated: algo.Told != nil}
	for _, o := range algo.Options {
		e.Options = append(e.Options, setting{o.Name, o.Usage, o.Values, o.Default})
	}
	return e
}

// listDetector describes one failure detector, for people or programs.
func listDetector(w io.Writer, algo *spec, asJSON bool) error {
	if asJSON {
		return terminal.PrintJSON(w, detectorEntryOf(algo))
	}
	writeDetector(w, algo)
	return nil
}

// completeDetector completes the name of a failure detector.
func (k known) completeDetector(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	names, how := completeAlgorithms(k.Detectors(), nil)
	off := cobra.CompletionWithDesc(option.NoDetector, "no detector, even if the algorithm uses one")
	return append(names, off), how
}

// writeOwnServices lists the services that this program has itself, and how to list the others.
func writeOwnServices(w io.Writer) error {
	t := terminal.Table{Head: []string{"SERVICE", "WHAT IT IS"}}
	for _, s := range ownServices {
		t.Add(s.Name, s.Summary)
	}
	t.Add("(others)", "bin/services list, after make services")
	return errors.Join(t.Print(w), blankLine(w))
}

// otherService asks the program that has a service for its entry; nil: no program has it.
func otherService(ctx context.Context, name string) *service.Entry {
	program, err := serviceProgram(name)
	if err != nil {
		return nil
	}
	e, err := (&service.Program{Command: program, Name: name}).Entry(ctx)
	if err != nil {
		return nil
	}
	return e
}

// listService describes a service.
func listService(w io.Writer, s *service.Entry, asJSON bool) error {
	if asJSON {
		return terminal.PrintJSON(w, s)
	}
	line := func(name, text string) { writeField(w, name, text) }
	line("name", s.Name)
	line("is", "a service, which bench --service "+s.Name+" runs")
	line("summary", s.Summary)
	line("promises", s.Promise)
	line("source", s.Source)
	for _, option := range s.Options {
		line("option", "--with "+option)
	}
	if len(s.Common) > 0 {
		line("own client", "by --client CMD; the options "+english.List(s.Common)+" are for its servers, or the "+
			"time to live")
	}
	for _, setting := range s.Settings {
		line("setting", setting)
	}
	return nil
}
