package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"turnstile/bench/compare"
	"turnstile/internal/english"
	"turnstile/internal/figure"
	"turnstile/internal/format"
	"turnstile/option"
	"turnstile/results"
)

// boards ranks the algorithms of each setting and size.
func (m *maker) boards() {
	var blocks []block
	for _, s := range m.calm(entries) {
		for _, n := range s.sizes() {
			if t := s.board(n); t != nil {
				blocks = append(blocks, block{Table: t})
			}
		}
	}
	if len(blocks) > 0 {
		blocks = append([]block{{Text: "Neighbours have the same rank unless a test by Mann and Whitney, " +
			"corrected by Holm for all neighbours of a table, tells them apart (p below 0.05). Medians, with their " +
			"intervals. The longest wait is that of all trials. Overtaken: how many later requests entered before " +
			"one, on average and at most. Jain: 1 if all clients enter equally often, 1/N if only one enters."}},
			blocks...)
	}
	m.add("Leaderboards", "no two algorithms ran under the same load at the same size, without faults", blocks)
}

// board ranks the algorithms of a size; nil: fewer than two algorithms have valid trials.
func (s *setting) board(n int) *table {
	var groups []*compare.Group
	for _, e := range s.all {
		if e.nodes == n && e.Valid > 0 {
			groups = append(groups, e.Group)
		}
	}
	if len(groups) < 2 {
		return nil
	}
	t := &table{Caption: s.titled(english.Count(n, "node", "nodes")) + s.made(n), Words: 2,
		Head: []string{"Rank", "Algorithm", "Entries/s", "Wait p50", "Wait p99", "Rank by it", "Longest wait",
			"Overtaken", "Jain", "Messages per entry", "Heartbeats per entry", "Trials", "p", "Remark"}}
	bytes := func(g *compare.Group) figure.Figure { // known only for services behind proxies
		median, _, _, _ := g.Median(results.ServerBytesPerEntry)
		return median
	}
	counted := slices.ContainsFunc(groups, func(g *compare.Group) bool { return bytes(g).Known() })
	if counted {
		t.Head = append(t.Head, "Bytes per entry")
	}
	waits := map[*compare.Group]compare.Place{}
	for _, p := range compare.Rank(results.WaitUSP99, groups) {
		waits[p.Group] = p
	}
	for _, p := range compare.Rank(results.EntriesPerS, groups) {
		wait := waits[p.Group]
		messages, _, _, _ := p.Group.Median(results.MessagesPerEntry)
		heartbeats, _, _, _ := p.Group.Median(results.HeartbeatsPerEntry)
		typical, _, _, _ := p.Group.Median(results.WaitUSP50)
		jain, _, _, _ := p.Group.Median(results.JainIndex)
		trials := strconv.Itoa(p.Valid)
		if p.CPUBound > 0 {
			trials += fmt.Sprintf(", %d CPU-bound", p.CPUBound)
		}
		row := []string{rank(p), p.Name, interval(p, format.Rate), format.Micros(typical),
			interval(wait, format.Micros), rank(wait), format.Micros(p.Group.Most(results.WaitUSMax)),
			overtaken(p.Group), format.Hundredths(jain), format.Hundredths(messages), format.Hundredths(heartbeats),
			trials, format.Probability(p.P), remark(p, wait)}
		if counted {
			row = append(row, format.Hundredths(bytes(p.Group)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// made describes the trials of a size: how long clients hold, how many trials each algorithm has, and the
// dates of the trials.
func (s *setting) made(n int) string {
	var holds, days []string
	var counts []int
	for _, e := range s.all {
		if e.nodes != n || e.Valid == 0 {
			continue
		}
		counts = append(counts, e.Valid)
		for i := range e.trials {
			t := &e.trials[i]
			if holds = append(holds, t.Text(option.HoldColumn)); !t.Started.IsZero() {
				days = append(days, t.Started.Format("2006-01-02"))
			}
		}
	}
	says := fmt.Sprintf("; hold %s; trials of each: %d", strings.Join(uniqueOf(holds), ", "), slices.Min(counts))
	if most := slices.Max(counts); most > slices.Min(counts) {
		says += fmt.Sprintf(" to %d", most)
	}
	switch days = uniqueOf(days); len(days) {
	case 0:
		return says
	case 1:
		return says + "; made " + days[0]
	default:
		return says + "; made " + days[0] + " to " + days[len(days)-1]
	}
}

// uniqueOf returns words, each once, sorted.
func uniqueOf(words []string) []string { return slices.Compact(slices.Sorted(slices.Values(words))) }

// overtaken prints how many later requests entered before a request of the group, on average and at most.
func overtaken(g *compare.Group) string {
	mean, _, _, _ := g.Median(results.OvertakenMean)
	most := g.Most(results.OvertakenMax)
	switch text := "at most " + format.Plain(most, 0); {
	case !most.Known():
		return format.Missing
	case mean.Known():
		return format.Hundredths(mean) + ", " + text
	default:
		return text
	}
}

// rank prints a rank.
func rank(p compare.Place) string {
	if p.Rank == 0 {
		return "-"
	}
	return strconv.Itoa(p.Rank)
}

// interval prints a median with its interval, without line breaks between numbers and units.
func interval(p compare.Place, text func(figure.Figure) string) string {
	whole := func(f figure.Figure) string { return strings.ReplaceAll(text(f), " ", "\u00a0") }
	if !p.Low.Known() {
		return text(p.Median)
	}
	return fmt.Sprintf("%s (%s to %s)", whole(p.Median), whole(p.Low), whole(p.High))
}

// remark explains why a rank is missing, or equal to the rank above.
func remark(throughput, wait compare.Place) string {
	words := ""
	if throughput.Reason != "" && throughput.Reason != compare.NoDifference {
		words = throughput.Reason
	}
	if wait.Rank == 0 && wait.Reason != "" && wait.Reason != words {
		words = strings.TrimPrefix(words+"; wait "+wait.Reason, "; ")
	}
	return words
}
