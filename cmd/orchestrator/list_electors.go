package main

import (
	"fmt"
	"io"
	"time"

	"turnstile/nodes"
)

// namesOf returns the names of the rows of a table.
func namesOf(table []*spec) (names []string) {
	for _, row := range table {
		names = append(names, row.Name)
	}
	return names
}

// electsWhom says whom a scheme elects.
func electsWhom(row *spec) []any {
	whom := [...]string{"anybody", "the highest", "the lowest"}[row.Elector.Wins]
	if row.Elector.Terms {
		whom += ", for a term"
	}
	return []any{whom}
}

// writeElector describes one scheme of election.
func writeElector(w io.Writer, row *spec, c nodes.Config) {
	line := writeInfo(w, row)
	line("elects", fmt.Sprint(electsWhom(row)...))
	line("one leader", "rests on "+row.Safe.String())
	line("in the end", "all agree on one that is up; this rests on "+row.Live.String())
	line("elected", "when "+row.Elector.Follow.String())
	for _, someLinks := range []bool{false, true} {
		for _, p := range row.Elector.PartitionsIn(c, someLinks) {
			says := fmt.Sprintf("%v cut: %v, since %s", p.Cuts, p.Does, p.Why)
			if p.Mend != "" {
				says += "; --" + p.Mend + " mends that"
			}
			line("partition", says)
		}
	}
	if row.Elector.Overlap != nil {
		line("take-over", fmt.Sprintf("two may lead for %v while one takes over from the other",
			row.Elector.Overlap(c)))
	}
	if lapse := row.Elector.LapseOf(c); lapse > 0 {
		line("majority", fmt.Sprintf("a leader that cannot reach one knows within %v", lapse))
	}
	if leads := row.Elector; leads.Mistakes != nil {
		const late = time.Second
		line("stability", fmt.Sprintf("a node gives up a leader that is up at most %d times, if no message takes "+
			"longer than %v", leads.Mistakes(c, late), late))
	}
	if row.Elector.LeaderAlone {
		line("senders", "the leader alone, once all agree on it")
	}
	if row.Elector.Costs != nil {
		cost := row.Elector.Costs(c)
		line("cost", fmt.Sprintf("%d messages for an election that all begin at once, and %d at most, of %d nodes",
			cost.AtOnce, cost.Most, c.N))
	}
	if row.Codec().Networks() > 1 {
		line("networks", "two, each with a broker of its own: faults name them first and second")
	}
	if grace := row.GraceOf(c); grace > 0 {
		line("grace", fmt.Sprintf("%v after what went wrong is healed", grace.Round(time.Millisecond)))
	}
	if row.Detects != "" {
		line("listens to", "the failure detector "+row.Detects+", unless --detector names another")
	}
	writeParts(line, row, c)
	writePitfalls(row, line)
}
