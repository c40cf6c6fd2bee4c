package runs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"turnstile/algorithms/catalog"
	"turnstile/internal/english"
	"turnstile/internal/figure"
	"turnstile/internal/input"
	"turnstile/judge/check"
	"turnstile/judge/measure"
	"turnstile/option"
	"turnstile/results"
)

// contradictions collects where the files of a run contradict each other.
type contradictions struct {
	*Summary
	columns []string // columns of runs.csv
	all     []results.Difference
}

// Contradictions compares the files of a stored run with their digests and with each other, and returns the
// differences: the figures of runs.csv, histograms, messages, the tables of sizes, resources and intervals,
// and verdicts. It reads no history, so it does not tell whether this version would write the same files.
func (s *Summary) Contradictions() ([]results.Difference, error) {
	c := &contradictions{Summary: s}
	for _, name := range s.Changed {
		c.add(name, 0, "it was changed after the run, or is missing")
	}
	if s.Record.Unfinished() {
		c.add(results.RunFile, 0, "the run is "+results.UnfinishedSays)
	}
	if len(s.Rows) == 0 {
		return c.all, nil
	}
	var err error
	if c.columns, err = s.Folder.Header(results.RowsFile); err != nil {
		return nil, err
	}
	latencies, err := s.Folder.ReadTrialLatencies()
	if err != nil {
		return nil, err
	}
	for i := range s.Rows {
		c.quantiles(i, latencies[s.Rows[i].Trial])
		c.counts(i, latencies[s.Rows[i].Trial])
		c.messages(i)
		c.groups(i)
		c.verdict(i)
	}
	text, err := input.ReadFile(s.Folder.File("verdict.txt"), input.TableLimit)
	for i := range s.Rows {
		line := s.verdictLine(i)
		if err == nil && !bytes.Contains(append([]byte("\n"), text...), []byte("\n"+line)) {
			c.add("verdict.txt", 0, fmt.Sprintf("it lacks the line that %s gives: %s", results.VerdictFile, line))
		}
	}
	profile := s.Folder.CompareProfile(s.Latencies[measure.WaitTag])
	return append(c.all, profile...), nil
}

// JoinedContradictions compares the joined tables of a run with each other, as Contradictions does, and its
// rows with its name. There are no histograms and no verdicts: an order of quantiles and of outcomes stands
// for them.
func JoinedContradictions(known catalog.Table, folder *results.Folder) (all []results.Difference, err error) {
	s := &Summary{Folder: folder}
	if s.Rows, err = folder.Rows(known.OptionNames()...); err == nil {
		err = s.readParts()
	}
	if errors.Is(err, fs.ErrNotExist) { // only a table of messages is read that may not be there
		return []results.Difference{{File: results.MessagesFile,
			What: "it is missing, or has no row of the run"}}, nil
	}
	c := &contradictions{Summary: s}
	if err == nil {
		c.columns, err = folder.Header(results.RowsFile)
	}
	if err != nil {
		return nil, err
	}
	for i := range s.Rows {
		c.named(i)
		c.ordered(i)
		c.counts(i, nil)
		c.messages(i)
		c.groups(i)
	}
	c.trials()
	return c.all, nil
}

// named compares the columns of a row with the name of its run, which has the algorithm and the nodes.
func (c *contradictions) named(i int) {
	row := &c.Rows[i]
	if name := "-" + row.Run + "-"; !strings.Contains(name, "-"+NameOf(row.Algorithm, row.Nodes)+"-") {
		c.add(results.RowsFile, row.Trial, fmt.Sprintf("the row is about %s with %s, and its run is called %s",
			row.Algorithm, english.Count(row.Nodes, "node", "nodes"), row.Run))
	}
}

// ordered adds a contradiction if a quantile is greater than a higher one, or a valid trial has violations
// that count: with fences, of entries that the resource accepted.
func (c *contradictions) ordered(i int) {
	row := &c.Rows[i]
	column := results.Violations
	if row.Cell(option.FencedColumn) == "true" {
		column = results.ViolationsFenced
	}
	if count, known := row.Figure(column).Value(); known && count > 0 && row.Verdict == check.Valid.String() {
		c.add(results.RowsFile, row.Trial, fmt.Sprintf("verdict is valid, and %s is %v", column, count))
	}
	if overlap, known := row.OverlapUS.Value(); known && overlap > 0 && row.Verdict == check.Valid.String() &&
		column == results.Violations {
		c.add(results.RowsFile, row.Trial, fmt.Sprintf("verdict is valid, and overlap_us is %v", overlap))
	}
	var outcome check.Outcome
	if outcome.UnmarshalText([]byte(row.Verdict)) != nil {
		c.add(results.RowsFile, row.Trial, fmt.Sprintf("verdict is %q, which is no verdict", row.Verdict))
	}
	below := map[string]results.Column{} // the last known quantile, by the tag of its histogram
	for _, column := range c.columns {
		tag, _, is := measure.QuantileIn(column)
		x, known := row.Figure(results.Column(column)).Value()
		if !is || !known {
			continue
		}
		if low, is := row.Figure(below[tag]).Value(); is && low > x {
			c.add(results.RowsFile, row.Trial, fmt.Sprintf("%s is %v, more than %s, %v", below[tag],
				row.Figure(below[tag]), column, row.Figure(results.Column(column))))
		}
		below[tag] = results.Column(column)
	}
}

// trials adds a contradiction for each other table that is about a trial which runs.csv lacks.
func (c *contradictions) trials() {
	has := map[int]bool{}
	for i := range c.Rows {
		if trial := c.Rows[i].Trial; has[trial] {
			c.add(results.RowsFile, trial, "there are two rows of the trial")
		} else {
			has[trial] = true
		}
	}
	lacks := func(file string, trial int) {
		if !has[trial] {
			c.add(file, trial, results.RowsFile+" lacks the trial")
			has[trial] = true // said once
		}
	}
	for i := range c.Messages {
		lacks(results.MessagesFile, c.Messages[i].Trial)
	}
	for i := range c.Faults {
		lacks(results.FaultsFile, c.Faults[i].Trial)
	}
	for i := range c.Beliefs {
		lacks(results.BeliefsFile, c.Beliefs[i].Trial)
	}
}

func (c *contradictions) add(file string, trial int, what string) {
	c.all = append(c.all, results.Difference{File: file, Trial: trial, What: what})
}

// has adds a contradiction if a file gives another figure for a trial than runs.csv.
func (c *contradictions) has(i int, column results.Column, by string, is figure.Figure) {
	was := c.Rows[i].Figure(column)
	if slices.Contains(c.columns, string(column)) && was.String() != is.String() {
		c.add(results.RowsFile, c.Rows[i].Trial, fmt.Sprintf("%s is %s, but %s gives %s", column,
			or(was, "empty"), by, or(is, "empty")))
	}
}

func or(f figure.Figure, none string) string {
	if !f.Known() {
		return none
	}
	return f.String()
}

// is adds a contradiction if other figures of the row, or another file, yield another value for a figure,
// apart from rounding. An unknown figure contradicts nothing.
func (c *contradictions) is(i int, column results.Column, by string, is float64) {
	was, known := c.Rows[i].Figure(column).Value()
	if known && math.Abs(was-is) > 1e-5*max(1, math.Abs(was)) {
		c.add(results.RowsFile, c.Rows[i].Trial, fmt.Sprintf("%s is %v, but %s gives %v", column,
			c.Rows[i].Figure(column), by, figure.Number(is)))
	}
}

// quantiles compares the quantiles in runs.csv with the histograms that they come from.
func (c *contradictions) quantiles(i int, latencies map[string]*measure.Histogram) {
	for _, column := range c.columns {
		if tag, q, is := measure.QuantileIn(column); is {
			of := measure.LatencyOf(latencies, tag)
			c.has(i, results.Column(column), results.LatencyLog, of.MicrosAt(q))
		}
	}
}

// counts compares figures of a row with each other, and with the number of holds in the histogram.
func (c *contradictions) counts(i int, latencies map[string]*measure.Histogram) {
	row := &c.Rows[i]
	value := func(column results.Column) (x float64, known bool) { return row.Figure(column).Value() }
	accepted, is := value(results.EntriesAccepted)
	refused, also := value(results.EntriesRefused)
	if is && also {
		c.is(i, results.Entries, "entries_accepted and entries_refused", accepted+refused)
	}
	inWindow, is := value(results.AcceptedInWindow)
	length, also := value(results.DurationS)
	if is && also && length > 0 {
		c.is(i, results.EntriesPerS, "accepted_in_window and duration_s", inWindow/length)
	}
	if holds := measure.LatencyOf(latencies, measure.HoldTag); row.Verdict == "valid" && holds.Count() > 0 {
		c.is(i, results.EntriesInWindow, "the holds in "+results.LatencyLog, float64(holds.Count()))
	}
}

// messages compares the messages of a trial with the sums over the kinds of messages.
func (c *contradictions) messages(i int) {
	row := &c.Rows[i]
	var sent, publishes, beats, perEntry float64
	some, ofEntries := false, false
	for _, m := range c.Messages {
		number := func(f figure.Figure) float64 { x, _ := f.Value(); return x }
		if m.Trial != row.Trial {
			continue
		}
		ofEntries = ofEntries || m.PerEntry.Known()
		perEntry += number(m.PerEntry)
		switch {
		case m.Phase != measure.WholeRun:
		case c.Job == nil: // joined tables do not say which kinds are heartbeats
			some = true
			sent, publishes = sent+number(m.Sent), publishes+number(m.Publishes)
		case c.Heartbeat(m.Kind):
			beats += number(m.Sent)
		default:
			some = true
			sent, publishes = sent+number(m.Sent), publishes+number(m.Publishes)
		}
	}
	if beats, known := row.Heartbeats.Value(); some && c.Job == nil && known {
		c.is(i, results.Messages, results.MessagesFile, sent-beats)
		if beats == 0 {
			c.is(i, results.Publishes, results.MessagesFile, publishes)
		}
	} else if messages, known := row.Messages.Value(); some && c.Job == nil && known && messages > sent {
		c.is(i, results.Messages, results.MessagesFile, sent)
	} else if some && c.Job != nil {
		c.is(i, results.Messages, results.MessagesFile, sent)
		c.is(i, results.Publishes, results.MessagesFile, publishes)
		c.is(i, results.Heartbeats, results.MessagesFile, beats)
	}
	if ofEntries {
		c.is(i, results.MessagesPerEntry, results.MessagesFile, perEntry)
	}
}

// groups compares the figures of a trial with the sums over its sizes of requests, its resources and its
// intervals.
func (c *contradictions) groups(i int) {
	trial := c.Rows[i].Trial
	number := func(f figure.Figure) float64 { x, _ := f.Value(); return x }
	for _, g := range []struct {
		file string
		of   []measure.OfGroup
	}{{results.SizesFile, c.sizesOf(trial)}, {results.ResourcesFile, c.resourcesOf(trial)}} {
		var entries, unfinished float64
		unissued := true // Unissued is known for every group
		for _, of := range g.of {
			entries += number(of.Entries)
			unfinished += number(of.Unserved) + number(of.Unissued)
			unissued = unissued && of.Unissued.Known()
		}
		if len(g.of) > 0 {
			c.is(i, results.EntriesInWindow, g.file, entries)
		}
		if len(g.of) > 0 && unissued {
			c.is(i, results.UnfinishedRequests, g.file, unfinished)
		}
	}
	c.timeline(i)
}

// timeline compares the entries of a trial with its intervals. The window ends within an interval: the
// intervals before have at most as many entries as the window, and with that interval at least as many.
func (c *contradictions) timeline(i int) {
	row := &c.Rows[i]
	length, known := row.DurationS.Value()
	entries, counted := row.EntriesInWindow.Value()
	least, most, some := 0.0, 0.0, false
	for _, in := range c.Timeline {
		from, _ := in.FromS.Value()
		to, _ := in.ToS.Value()
		n, _ := in.Entries.Value()
		if in.Trial != row.Trial {
			continue
		}
		if some = true; to <= length {
			least += n
		}
		if from <= length {
			most += n
		}
	}
	if some && known && counted && (entries < least || entries > most) {
		c.add(results.RowsFile, row.Trial, fmt.Sprintf("entries_in_window is %v, but %s gives %v to %v",
			entries, results.TimelineFile, least, most))
	}
}

func (c *contradictions) sizesOf(trial int) (all []measure.OfGroup) {
	for _, r := range c.Sizes {
		if r.Trial == trial {
			all = append(all, r.OfGroup)
		}
	}
	return all
}

func (c *contradictions) resourcesOf(trial int) (all []measure.OfGroup) {
	for _, r := range c.Summary.Resources {
		if r.Trial == trial {
			all = append(all, r.OfGroup)
		}
	}
	return all
}

// verdict compares the row of a trial with its verdict. The outcome was compared with run.yaml before.
func (c *contradictions) verdict(i int) {
	row, v := &c.Rows[i], &c.Verdicts[i]
	c.is(i, results.Entries, results.VerdictFile, float64(v.Entries))
	c.is(i, results.Violations, results.VerdictFile, float64(v.Violations))
	c.is(i, results.Lost, results.VerdictFile, float64(v.LostUnintended))
	c.is(i, results.OverlapUS, results.VerdictFile, float64(v.Overlap.Nanoseconds())/1e3)
	if row.Reason != strings.Join(strings.Fields(v.Reason), " ") && row.Reason != v.Reason {
		c.add(results.RowsFile, row.Trial, fmt.Sprintf("reason is %q, but %s gives %q", row.Reason,
			results.VerdictFile, v.Reason))
	}
	for _, f := range v.Findings {
		if f.Outcome > v.Outcome {
			c.add(results.VerdictFile, row.Trial, fmt.Sprintf("the outcome is %v, but the check %s found %v",
				v.Outcome, f.Check, f.Outcome))
		}
	}
}
