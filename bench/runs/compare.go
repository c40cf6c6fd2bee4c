package runs

import (
	"fmt"
	"slices"
	"strings"

	"turnstile/bench"
	"turnstile/internal/english"
	"turnstile/judge/check"
	"turnstile/nodes/workload"
	"turnstile/results"
)

// A Comparison says whether a repeated run has the same outcome as the first.
type Comparison struct {
	Differences []Difference `json:"differences"` // values that should be the same, but are not
	Unknown     []string     `json:"unknown"`     // what could not be compared, and why
	Compared    []string     `json:"compared"`    // the columns and other things compared
}

// A Difference is a value in which two runs should agree, but do not.
type Difference struct {
	Trial int    `json:"trial"`
	What  string `json:"what"`
	First string `json:"first"` // value in the first run
	Again string `json:"again"` // value in the second run
}

// Outcome returns Valid if the runs agree, Violated if they differ, and Inconclusive if some value could not
// be compared.
func (c *Comparison) Outcome() check.Outcome {
	switch {
	case len(c.Differences) > 0:
		return check.Violated
	case len(c.Unknown) > 0:
		return check.Inconclusive
	}
	return check.Valid
}

// Compare compares a run with a later run of the same record. Simulated runs must agree in every event and
// every figure; real ones in their verdicts, and in counts that do not depend on chance. A file of the first
// run that was changed after it was written is not compared.
func Compare(first, again *Summary) *Comparison {
	c := &Comparison{Differences: []Difference{}, Unknown: []string{}, Compared: []string{}}
	changed := map[string]bool{}
	for _, name := range first.Changed {
		if changed[name] = name == results.RowsFile || name == results.VerdictFile; changed[name] {
			c.Unknown = append(c.Unknown,
				name+" of the first run, which was changed after it was written: verify names what differs")
		}
	}
	simulated := first.Record.Simulated
	columns := exactColumns(first.Job)
	events := uint64(0)
	for trial := 1; trial <= first.Record.Options.Trials; trial++ {
		if simulated {
			events += c.histories(trial, first, again)
		}
		was, is := first.trial(trial), again.trial(trial)
		switch {
		case was < 0:
			c.unknown(trial, "the first run has no verdict of it")
			continue
		case is < 0:
			c.unknown(trial, "the second run has no verdict of it")
			continue
		case first.Record.Trials[was].Trouble != "":
			c.unknown(trial, "the first run ended early: "+first.Record.Trials[was].Trouble)
			continue
		case again.Record.Trials[is].Trouble != "":
			c.unknown(trial, "the second run ended early: "+again.Record.Trials[is].Trouble)
			continue
		}
		if !changed[results.VerdictFile] {
			c.differ(trial, "verdict", verdictOf(&first.Verdicts[was]), verdictOf(&again.Verdicts[is]))
		}
		if !changed[results.RowsFile] {
			c.rows(trial, &first.Rows[was], &again.Rows[is], func(column, was, is string) bool {
				return simulated || slices.Contains(columns, results.Column(column)) && was != "" && is != ""
			})
		}
	}
	c.Compared = []string{"the verdicts"}
	for _, column := range columns {
		c.Compared = append(c.Compared, string(column))
	}
	if simulated {
		c.Compared = []string{english.Count(events, "event", "events"), "the verdicts", "all figures"}
	}
	return c
}

// trial returns the index of a judged trial in Rows, or -1.
func (s *Summary) trial(number int) int {
	return slices.IndexFunc(s.Rows, func(r results.Row) bool { return r.Trial == number })
}

func (c *Comparison) unknown(trial int, why string) {
	c.Unknown = append(c.Unknown, fmt.Sprintf("trial %d: %s", trial, why))
}

// differ adds a difference, unless the values are equal.
func (c *Comparison) differ(trial int, what, first, again string) {
	if first != again {
		c.Differences = append(c.Differences, Difference{trial, what, first, again})
	}
}

// histories compares the histories of a trial event by event, and returns how many events agree.
func (c *Comparison) histories(trial int, first, again *Summary) uint64 {
	a, err := first.Folder.History(trial)
	if err != nil {
		c.unknown(trial, err.Error())
		return 0
	}
	defer a.Close()
	b, err := again.Folder.History(trial)
	if err != nil {
		c.unknown(trial, err.Error())
		return 0
	}
	defer b.Close()
	says, same, err := a.Difference(b)
	switch {
	case err != nil:
		c.unknown(trial, err.Error())
	case says != "":
		c.Differences = append(c.Differences, Difference{Trial: trial, What: "history: " + says})
	}
	return same
}

// verdictOf returns an outcome and, unless it is valid, the checks that found it.
func verdictOf(v *check.Verdict) string {
	var checks []string
	for _, f := range v.Findings {
		if f.Outcome == v.Outcome && v.Outcome != check.Valid {
			checks = append(checks, f.Check)
		}
	}
	return strings.Join(append([]string{v.Outcome.String()}, checks...), " ")
}

// rows compares the columns of a trial in which the two runs should agree.
func (c *Comparison) rows(trial int, first, again *results.Row, should func(column, was, is string) bool) {
	cells := map[string]string{}
	for column, cell := range results.Cells(*first) {
		cells[column] = fmt.Sprint(cell)
	}
	for column, cell := range results.Cells(*again) {
		switch column {
		case "run", "version", "verdict": // verdicts are compared elsewhere, with their checks
			continue
		}
		if was, is := cells[column], fmt.Sprint(cell); should(column, was, is) {
			c.differ(trial, column, was, is)
		}
	}
}

// exactColumns returns the columns in which two real runs with the same options have equal values:
//   - the number of entries, if the user gave it;
//   - the numbers of messages, if nodes request one at a time and the seed draws the node;
//   - the messages per entry, if the published cost is exact.
func exactColumns(j *bench.Job) (columns []results.Column) {
	load := j.Workload.Load
	laps := !j.Spec.Circulates || j.Entries == 0 || j.Entries >= uint64(j.Config.N) // condition as in check.cost
	alone := j.Alone()
	cost, renewals := j.PublishedCost()
	if j.Entries > 0 {
		columns = append(columns, results.Entries)
	}
	switch {
	case !renewals.Exact():
	case j.Entries > 0 && alone && !j.Spec.Circulates:
		columns = append(columns, results.Messages, results.Publishes, results.MessagesPerEntry)
	case cost.Exact() && load != workload.One && laps:
		columns = append(columns, results.MessagesPerEntry)
	}
	return columns
}
