// Package text prints a run for people, as text with pictures, or as JSON. It reads a runs.Summary and writes
// to an io.Writer; it does not know the flags of commands.
package text

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"turnstile/bench"
	"turnstile/bench/runs"
	"turnstile/internal/english"
	"turnstile/internal/figure"
	"turnstile/internal/format"
	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/nodes/explore"
	"turnstile/option"
	"turnstile/results"
)

// A Report prints the results of a run for people.
type Report struct {
	w       io.Writer
	palette terminal.Palette
	width   int // of pictures, in characters
}

// New returns a report that writes to w. If w is a terminal, the report has colours and uses its width.
func New(w io.Writer) *Report {
	return &Report{w: w, palette: terminal.PaletteFor(w), width: terminal.Width(w)}
}

func (p *Report) printf(format string, args ...any) { fmt.Fprintf(p.w, format, args...) }

// line prints a line of text that begins with a name.
func (p *Report) line(name, format string, args ...any) {
	text := fmt.Sprintf("%-11s %s", name, fmt.Sprintf(format, args...))
	p.printf("%s\n", terminal.Fold(p.w, text, strings.Repeat(" ", 12)))
}

// say prints a paragraph.
func (p *Report) say(format string, args ...any) {
	p.printf("%s\n", terminal.Fold(p.w, fmt.Sprintf(format, args...), "    "))
}

// headline prints a text that begins with a word in a colour.
func (p *Report) headline(color, word, text string) {
	text = strings.TrimPrefix(terminal.Fold(p.w, word+text, "    "), word)
	p.printf("%s%s\n", p.palette.Paint(color, word), text)
}

// Header prints what is run and on which machine.
func (p *Report) Header(o *bench.Job, m results.Machine) {
	words := []string{"", english.Count(o.Config.N, "node", "nodes")}
	implied := option.Implied(bench.Implied(&o.Options, o.Spec))
	words = append(append(words, o.Config.Given()...), o.Says(&implied, !o.Simulated)...)
	if o.Entries > 0 {
		words = append(words, english.Count(o.Entries, "entry", "entries"))
	} else {
		warmup := format.Duration(o.Warmup)
		if o.WarmupLimit > 0 {
			warmup = "at least " + warmup
		}
		words = append(words, kindOf(o).lasts(format.Duration(o.Duration), warmup))
	}
	p.headline(terminal.Bold, o.Algorithm, strings.Join(words, ", "))
	machine := english.Count(m.Cores, "core", "cores")
	if m.CPU != "" {
		machine += " of " + m.CPU
	}
	if m.CPUQuota > 0 {
		machine += ", limited to " + quota(m) + " by its control group"
	}
	p.printf("seed %d; %s\n", o.Seed, machine)
	cores := m.Cores
	if o.Simulated {
		cores = 0
	}
	for _, remark := range o.Remarks(cores) {
		p.say("note: %s", remark)
	}
	p.printf("\n")
}

const trialFormat = "%5s  %-12s %12s %12s %12s %15s\n"

// A trialColumn is a figure in the line of a trial.
type trialColumn struct {
	name   string
	column results.Column
	print  func(figure.Figure) string
}

// Trial prints the line of a trial. For the trial with the number first, it also prints headers above.
func (p *Report) Trial(row *results.Row, first int) {
	columns := trialColumns(row)
	if row.Trial == first {
		p.printf(trialFormat, "trial", "verdict", columns[0].name, columns[1].name, columns[2].name,
			columns[3].name)
	}
	p.trialLine(fmt.Sprint(row.Trial), row.Verdict, columns, table{*row})
}

// trialLine prints a line with the medians of some trials.
func (p *Report) trialLine(name, verdict string, columns [4]trialColumn, t table) {
	var cells [4]string
	for i, c := range columns {
		cells[i] = c.print(t.of(c.column).median)
	}
	p.printf(trialFormat, name, verdict, cells[0], cells[1], cells[2], cells[3])
}

// Stored prints a stored run as it was printed when it was made.
func (p *Report) Stored(s *runs.Summary) {
	p.Header(s.Job, s.Record.Machine)
	if s.Record.Options.Trials > 1 {
		for i := range s.Rows {
			p.Trial(&s.Rows[i], s.Rows[0].Trial)
		}
	}
	p.Summary(s)
}

// Summary prints the results of a run, whether it was just made or is judged again.
func (p *Report) Summary(s *runs.Summary) {
	if t := table(s.Rows); len(t) > 1 {
		p.trialLine("", "median", trialColumns(&t[0]), t)
	}
	if s.Record.Options.Trials > 1 && len(s.Rows) > 0 {
		p.printf("\n")
	}
	p.verdict(s)
	p.figures(s)
	p.line("files", "%s", terminal.FromHere(s.Folder.Path))
}

// verdict prints the verdict, and the reasons of trials that are not valid.
func (p *Report) verdict(s *runs.Summary) {
	asked, made, outcome := s.Record.Options.Trials, len(s.Verdicts), s.Outcome()
	headline := func(text string) {
		if outcome == check.Valid {
			text = uncontended(s.Verdicts) + text
		}
		p.headline(colorOf(outcome), strings.ToUpper(outcome.String()), text)
	}
	switch {
	case made == 0 && s.Record.Unfinished():
		headline("  " + results.UnfinishedSays)
	case made == 0 && len(s.Record.Trials) == 0:
		headline("  the run ended before its first trial was over")
	case made == 0:
		headline("  nothing was judged")
	case asked <= 1:
		headline("  " + indent(s.Verdicts[0].Reason))
		p.early(s, 0)
		p.witness(s, 0)
	default:
		headline("  " + inTrials(s.Verdicts, outcome, asked, len(s.Unjudged)))
		for i, v := range s.Verdicts {
			if v.Outcome != check.Valid {
				p.say("  trial %d: %s: %s", s.Rows[i].Trial, Outcome(p.palette, v.Outcome), indent(v.Reason))
				p.early(s, i)
				p.witness(s, i)
			}
		}
	}
	p.passedOver(s)
	if restless := s.Restless(); restless != "" {
		p.say("  %s", restless)
	}
	if unled := s.Unled(); unled != "" {
		p.say("  %s", unled)
	}
	if led := s.TwoLed(); led != "" {
		p.printf("  %s\n", led)
	}
	p.missed(s)
	Unjudged(p.w, s)
	if recorded := len(s.Record.Trials); recorded > made && len(s.Unjudged) == 0 {
		p.say("  %s not judged; to judge what was recorded: %s",
			english.Count(recorded-made, "trial was", "trials were"), terminal.CallOn("verify", s.Folder.Path))
	}
	if algo := s.Spec; algo.Flaw != nil && outcome != check.Violated {
		p.say("  %s is known to be broken (%s), which this run did not show; this does: %s %s",
			algo.Name, algo.Flaw.Check, terminal.Invoked(), strings.Join(explore.FlawCommand(algo), " "))
	}
	p.printf("\n")
}

// passedOver prints which node was overtaken most often. It does so if this happened more often than under
// first come, first served, and if the algorithm promises no bound, or promises none under faults.
func (p *Report) passedOver(s *runs.Summary) {
	promise, mutex := "this algorithm promises no bound", s.Spec.Exclusion()
	bypass, promised := mutex.Promised(s.Record.Options.Config)
	switch {
	case promised && (mutex.Fair == 0 || len(s.Faults) == 0):
		return // the verdict reports it already
	case promised:
		promise = fmt.Sprintf("the algorithm promises at most %d, as long as nothing goes wrong", bypass)
	}
	var most check.PassedOver
	for i := range s.Verdicts {
		v := s.Verdicts[i].PassedOver
		if v != nil && v.Times > most.Times && s.Verdicts[i].About(check.AboutFairness).Outcome == check.Valid {
			most = *v
		}
	}
	if most.Times >= uint64(s.Record.Options.Config.N) {
		times := english.Count(most.Times, "time", "times")
		p.say("  node %d was passed over %s; %s", most.Node, times, promise)
	}
}

// missed says for how long nobody entered during faults of servers. It warns of faults that hit nothing,
// since the run shows nothing about them.
func (p *Report) missed(s *runs.Summary) {
	const most = 5
	for i := range s.Verdicts {
		v, in := &s.Verdicts[i], ""
		if len(s.Verdicts) > 1 && i < len(s.Rows) {
			in = fmt.Sprintf("trial %d: ", s.Rows[i].Trial)
		}
		for _, says := range v.Silences {
			if !strings.Contains(v.Reason, "nobody entered") {
				p.printf("  %s%s\n", in, says)
			}
		}
		for at, says := range v.Misses {
			switch {
			case says == v.Reason:
			case at == most:
				p.say("  warning: %s%d more faults hit nothing", in, len(v.Misses)-most)
				return
			default:
				p.say("  warning: %s%s", in, says)
			}
		}
	}
}

// early adds that a trial ended early, unless the reason of its verdict says so already.
func (p *Report) early(s *runs.Summary, trial int) {
	trouble := s.Record.Trials[s.Rows[trial].Trial-1].Trouble
	if !strings.Contains(s.Verdicts[trial].Reason, trouble) {
		p.say("  the trial ended early: %s", indent(trouble))
	}
}

// inTrials says in how many of its trials a run had its outcome.
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
	case such == 0: // the run is inconclusive because trials are missing
		return fmt.Sprintf("only %d of the %d trials that were asked for were made", made, asked)
	case unjudged > 0:
		return fmt.Sprintf("in %s; %d cannot be judged", trials(such, made+unjudged), unjudged)
	case made < asked:
		return fmt.Sprintf("in %s; %d were asked for", trials(such, made), asked)
	}
	return "in " + trials(such, made)
}

func indent(text string) string { return strings.ReplaceAll(text, "\n", "\n    ") }

// fewStalled is how many waits and states of a stall are printed.
const fewStalled = 20

// witness prints the evidence of a verdict that is not valid.
func (p *Report) witness(s *runs.Summary, trial int) {
	v := &s.Verdicts[trial]
	for _, f := range v.Findings {
		if f.Outcome == check.Valid || f.Outcome != check.Violated && f.Says != v.Reason {
			continue // many checks are inconclusive if the run ended early; verify shows them
		}
		if f.Says != v.Reason {
			p.say("  also %s: %s", f.Outcome, indent(f.Says))
		}
		for _, line := range f.Witness {
			p.printf("    %s\n", line)
		}
	}
	if v.Stall != nil {
		p.printf("\n%s", v.Stall.Short(fewStalled, s.Folder.File(results.VerdictFile)))
	}
}

// Unjudged lists the trials that cannot be judged.
func Unjudged(w io.Writer, s *runs.Summary) {
	for _, u := range s.Unjudged {
		fmt.Fprintf(w, "  trial %d cannot be judged: %v\n", u.Trial, u.Why)
	}
}

// Outcome returns an outcome in capital letters and in its colour.
func Outcome(p terminal.Palette, o check.Outcome) string {
	return p.Paint(colorOf(o), strings.ToUpper(o.String()))
}

func colorOf(o check.Outcome) string {
	color := map[check.Outcome]string{check.Valid: terminal.Green, check.Violated: terminal.Red}[o]
	return cmp.Or(color, terminal.Yellow)
}
