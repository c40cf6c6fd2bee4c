package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"turnstile/bench"
	"turnstile/bench/check"
	"turnstile/internal/english"
	"turnstile/nodes"
	"turnstile/nodes/catalog"
	"turnstile/nodes/workload"
	"turnstile/results"
)

// A report prints the results of a run for people.
type report struct {
	w       io.Writer
	palette palette
	width   int // of pictures, in columns
}

func newReport(w io.Writer) *report { return &report{w: w, palette: paletteFor(w), width: widthFor(w)} }

func (p *report) printf(format string, args ...any) { fmt.Fprintf(p.w, format, args...) }

// line prints a line that begins with a name.
func (p *report) line(name, format string, args ...any) {
	p.printf("%-11s %s\n", name, fmt.Sprintf(format, args...))
}

// header says what is run, and on which machine.
func (p *report) header(o bench.Options, m results.Machine, simulated bool) {
	words := []string{p.palette.paint(bold, o.Algorithm), english.Count(o.Config.N, "node", "nodes")}
	words = append(words, o.Config.Given()...)
	words = append(words, loadText(&o.Workload), "no injected latency")
	if !o.Regions.None() {
		words[len(words)-1] = o.Regions.String()
	}
	if !o.Latency.Zero() {
		words[len(words)-1] = "latency " + o.Latency.String()
	}
	if o.Multicast {
		words = append(words, "multicast")
	}
	if o.Config.Fenced {
		words = append(words, "fenced")
	}
	if o.Config.Elect != "" {
		words = append(words, "elect "+o.Config.Elect)
	}
	if o.Detector != "" {
		words = append(words, "detector "+o.Detector)
	}
	if o.Brokers > 1 {
		words = append(words, english.Count(o.Brokers, "broker", "brokers"))
	}
	if o.Proxies {
		words = append(words, "proxies")
	}
	words = append(words, o.FaultTexts()...)
	if o.Entries > 0 {
		words = append(words, english.Count(o.Entries, "entry", "entries"))
	} else {
		words = append(words, duration(o.Duration))
		if o.Workload.Load != workload.Campaign {
			words[len(words)-1] += fmt.Sprintf(" after %s of warm-up", duration(o.Warmup))
		}
		if o.WarmupLimit > 0 {
			words[len(words)-1] += " or more"
		}
	}
	p.printf("%s\n", strings.Join(words, ", "))
	machine := english.Count(m.Cores, "core", "cores")
	if m.CPU != "" {
		machine += " of " + m.CPU
	}
	if m.CPUQuota > 0 {
		machine += ", limited to " + quota(m) + " by its control group"
	}
	p.printf("seed %d; %s\n", o.Seed, machine)
	if row, err := catalog.Find(o.Algorithm); err == nil {
		cores := m.Cores
		if simulated {
			cores = 0
		}
		for _, remark := range o.Remarks(row, cores) {
			p.printf("note: %s\n", remark)
		}
	}
	p.printf("\n")
}

func loadText(w *workload.Workload) string {
	text := string(w.Load) + " load"
	switch w.Load {
	case workload.Campaign:
		text = fmt.Sprintf("initiators %s", cmp.Or(w.Initiators, workload.AllInitiate))
		if w.CampaignEvery > 0 {
			text += fmt.Sprintf(" every %v", w.CampaignEvery)
		}
		return text
	case workload.Closed:
		text += fmt.Sprintf(", think %v", w.Think)
	case workload.Open:
		text += fmt.Sprintf(", %v requests/s and node", w.Rate)
		if w.Evenly {
			text += " evenly"
		}
	}
	return text + ", hold " + w.Hold.String()
}

const trialFormat = "%5s  %-12s %12s %12s %12s %15s\n"

// A trialColumn is one of the figures in a line about a trial.
type trialColumn struct {
	name, column string
	print        func(results.Figure) string
}

// trialColumns returns the figures in a line about a trial: of a run about leaders, or of any other.
func trialColumns(row *results.Row) [4]trialColumn {
	if row.Load == string(workload.Campaign) {
		return [4]trialColumn{{"elections", "elections", whole}, {"elect p50", "elect_us_p50", micros},
			{"no leader", "leaderless_us", micros}, {"two leaders", "two_leaders_us", micros}}
	}
	return [4]trialColumn{{"entries/s", "entries_per_s", rate}, {"wait p50", "wait_us_p50", micros},
		{"wait p99", "wait_us_p99", micros}, {"messages/entry", "messages_per_entry", hundredths}}
}

// trial prints a line about one of several trials, below the headers if it is the first of them.
func (p *report) trial(row *results.Row, first int) {
	columns := trialColumns(row)
	if row.Trial == first {
		p.printf(trialFormat, "trial", "verdict", columns[0].name, columns[1].name, columns[2].name,
			columns[3].name)
	}
	p.trialLine(fmt.Sprint(row.Trial), row.Verdict, columns, table{*row})
}

// trialLine prints a line with the medians of some trials.
func (p *report) trialLine(name, verdict string, columns [4]trialColumn, t table) {
	var cells [4]string
	for i, c := range columns {
		cells[i] = c.print(t.of(c.column).median)
	}
	p.printf(trialFormat, name, verdict, cells[0], cells[1], cells[2], cells[3])
}

// stored prints a run that was made before as it was printed then.
func (p *report) stored(s *bench.Summary) {
	p.header(s.Record.Options, s.Record.Machine, s.Record.Simulated)
	if s.Record.Options.Trials > 1 {
		for i := range s.Rows {
			p.trial(&s.Rows[i], s.Rows[0].Trial)
		}
	}
	p.summary(s)
}

// summary prints the results of a run: the same of one trial and of several, when the run is made and when it
// is judged again.
func (p *report) summary(s *bench.Summary) {
	if t := table(s.Rows); len(t) > 1 {
		p.trialLine("", "median", trialColumns(&t[0]), t)
	}
	if s.Record.Options.Trials > 1 && len(s.Rows) > 0 {
		p.printf("\n")
	}
	p.verdict(s)
	p.figures(s)
	p.line("files", "%s", fromHere(s.Folder.Path))
}

// fromHere returns the path of what lies below the working directory as seen from there.
func fromHere(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if short, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(short) {
		return short
	}
	return path
}

// verdict prints the verdict, and of each trial that is not valid why.
func (p *report) verdict(s *bench.Summary) {
	asked, made, outcome := s.Record.Options.Trials, len(s.Verdicts), s.Outcome()
	word := p.palette.outcome(outcome)
	switch {
	case made == 0 && s.Record.Unfinished():
		p.printf("%s  %s: %s\n", word, bench.Unfinished, orchestratorGone)
	case made == 0 && len(s.Record.Trials) == 0:
		p.printf("%s  the run ended before its first trial was over\n", word)
	case made == 0:
		p.printf("%s  nothing was judged\n", word)
	case asked <= 1:
		p.printf("%s  %s\n", word, indent(s.Verdicts[0].Reason))
		p.early(s, 0)
		p.witness(s, 0)
	default:
		p.printf("%s  %s\n", word, inTrials(s.Verdicts, outcome, asked, len(s.Unjudged)))
		for i, v := range s.Verdicts {
			if v.Outcome != check.Valid {
				p.printf("  trial %d: %s: %s\n", s.Rows[i].Trial, p.palette.outcome(v.Outcome), indent(v.Reason))
				p.early(s, i)
				p.witness(s, i)
			}
		}
	}
	p.passedOver(s)
	if restless := s.Restless(); restless != "" {
		p.printf("  %s\n", restless)
	}
	p.missed(s)
	tellUnjudged(p.w, s)
	if recorded := len(s.Record.Trials); recorded > made && len(s.Unjudged) == 0 {
		p.printf("  %s not judged; to judge what was recorded: %s\n",
			english.Count(recorded-made, "trial was", "trials were"), callOn("verify", s.Folder.Path))
	}
	if row := s.Spec; row.Broken != "" && outcome != check.Violated {
		p.printf("  %s is known to be broken (%s), which this run did not show; this does: %s %s\n",
			row.Name, row.Broken, invoked(), strings.Join(howBroken(row), " "))
	}
	p.printf("\n")
}

// passedOver says who was passed over most often, if that is more often than first come, first served allows
// and the algorithm promises nothing, or nothing while something goes wrong.
func (p *report) passedOver(s *bench.Summary) {
	promise, row := "this algorithm promises no bound", s.Spec
	switch {
	case row.Bypass != nil && (row.Fair == 0 || len(s.Faults) == 0):
		return // the verdict says it
	case row.Bypass != nil:
		promise = fmt.Sprintf("at most %d are promised, as long as nothing goes wrong",
			row.Bypass(s.Record.Options.Config))
	}
	var most check.PassedOver
	for i := range s.Verdicts {
		v := s.Verdicts[i].PassedOver
		if v != nil && v.Times > most.Times && finding(&s.Verdicts[i], "fairness").Outcome == check.Valid {
			most = *v
		}
	}
	if most.Times >= uint64(s.Record.Options.Config.N) {
		times := english.Count(most.Times, "time", "times")
		p.printf("  node %d was passed over %s; %s\n", most.Node, times, promise)
	}
}

// missed warns of the faults that hit nothing, of which a run shows nothing.
func (p *report) missed(s *bench.Summary) {
	const most = 5
	for i := range s.Verdicts {
		v, in := &s.Verdicts[i], ""
		if len(s.Verdicts) > 1 && i < len(s.Rows) {
			in = fmt.Sprintf("trial %d: ", s.Rows[i].Trial)
		}
		for at, says := range v.Misses {
			switch {
			case says == v.Reason:
			case at == most:
				p.printf("  warning: %s%d more faults hit nothing\n", in, len(v.Misses)-most)
				return
			default:
				p.printf("  warning: %s%s\n", in, says)
			}
		}
	}
}

// howBroken returns the arguments with which this program shows how an algorithm fails that is known to.
func howBroken(row *spec) []string {
	args := []string{"explore", "--algo", row.Name, "-n", fmt.Sprint(row.BrokenAt.N)}
	for _, name := range slices.Sorted(maps.Keys(row.BrokenAt.Options)) {
		args = append(args, "--"+name, row.BrokenAt.Options[name])
	}
	for _, fault := range []struct {
		breaks nodes.Assumption
		flag   string
	}{{nodes.NoCrash, "--crashes"}, {nodes.NoLoss, "--losses"}, {nodes.NoDuplication, "--duplicates"},
		{nodes.PerfectDetector, "--suspicions"}} {
		if row.BrokenBy&fault.breaks != 0 {
			args = append(args, fault.flag, fmt.Sprint(max(1, row.BrokenTimes)))
		}
	}
	if row.Leads != nil {
		args = append(args, howBrokenElector(row)...)
	}
	return args
}

// howBrokenElector returns the further arguments for an elector. It is shown by one campaign: what is looked
// for comes after it, and the space stays small.
func howBrokenElector(row *spec) (args []string) {
	args = append(args, "--campaigns", "1")
	if row.BrokenBy&nodes.NoCrash != 0 && row.Leads.Terms {
		args = append(args, "--restarts") // what a term needs must outlive a crash
	}
	switch _, timed := row.Machine(row.BrokenAt, 0).(nodes.Timed); {
	case timed && row.Live&nodes.Timing != 0:
		args = append(args, "--timing", "40ms", "--tick", "20ms") // or late messages would excuse it
	case timed:
		args = append(args, "--timeouts", fmt.Sprint(row.BrokenAt.N))
	}
	return args
}

// orchestratorGone is why a run has no end on record.
const orchestratorGone = "the orchestrator ended before the run did, or is still running"

// early says of a trial that was judged by other evidence that it also ended early.
func (p *report) early(s *bench.Summary, trial int) {
	trouble := s.Record.Trials[s.Rows[trial].Trial-1].Trouble
	if !strings.Contains(s.Verdicts[trial].Reason, trouble) {
		p.printf("  the trial ended early: %s\n", indent(trouble))
	}
}

// inTrials says in which of several trials a run had its outcome.
func inTrials(verdicts []check.Verdict, outcome check.Outcome, asked, unjudged int) string {
	made, such := len(verdicts), 0
	for _, v := range verdicts {
		if v.Outcome == outcome {
			such++
		}
	}
	switch {
	case such == 0 && unjudged > 0:
		return fmt.Sprintf("only %d of %d trials can be judged", made, made+unjudged)
	case such == 0: // it is inconclusive because it lacks trials
		return fmt.Sprintf("only %d of the %d trials that were asked for were made", made, asked)
	case unjudged > 0:
		return fmt.Sprintf("in %s; %d cannot be judged", trials(such, made+unjudged), unjudged)
	case made < asked:
		return fmt.Sprintf("in %s; %d were asked for", trials(such, made), asked)
	}
	return "in " + trials(such, made)
}

func indent(text string) string { return strings.ReplaceAll(text, "\n", "\n    ") }

// witness prints what a verdict that is not valid rests on.
func (p *report) witness(s *bench.Summary, trial int) {
	v := &s.Verdicts[trial]
	for _, f := range v.Findings {
		if f.Outcome == check.Valid || f.Outcome != check.Violated && f.Says != v.Reason {
			continue // of a run that ended early many checks are inconclusive; verify shows them
		}
		if f.Says != v.Reason {
			p.printf("  also %s: %s\n", f.Outcome, indent(f.Says))
		}
		for _, line := range f.Witness {
			p.printf("    %s\n", line)
		}
	}
	if stall := s.Stalls[trial]; stall != "" {
		p.printf("\n%s", stall)
	}
}
