package check

import (
	"fmt"
	"iter"

	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/row"
)

// evidence is what checks read of a run: what was broken when, what nodes counted, who led, who entered in a
// minority, and how often requests were passed over.
type evidence struct {
	*model
	records
	elected
	minority minorityEntries
	gaps     gaps
	fair     *fairFold
	ranked   *rankFold // nil: requests come in another order than by how many there were

	abandoned       uint64                               // sections whose node crashed before they were entered
	waiting, inside []section.Section                    // that never ended, the oldest first
	entryCost       row.EntryCost                        // nil: not known
	observed        [history.Secluded + 1]*history.Event // the first of each that was seen of a schedule
	breach          *history.Event                       // of a foreign program; nil: there was none
	due             uint64                               // messages that the entries take by it
	renewals        row.Range                            // messages of the holds beside the published cost
}

// saw reports whether something was observed of a schedule.
func (e *evidence) saw(what int) bool { return e.observed[what] != nil }

// faulty reports whether faults have changed which messages were sent and arrived. An algorithm that acts on
// silence sends more for a pause or a delay as well.
func (e *evidence) faulty() bool {
	s := e.sections
	return e.sum.Dropped+e.sum.Copied > 0 ||
		e.brokenBy(s.End, nodes.NoLoss|nodes.NoDuplication|nodes.NoCrash) != 0 ||
		e.Timed && len(s.Faults)+len(s.Pauses)+len(s.Wrongs) > 0
}

// unpublished says why no published count of messages holds for the run; empty: the published counts hold.
func (e *evidence) unpublished() string {
	switch {
	case e.faulty():
		return "with faults"
	case e.NeverHolds != 0:
		return "whose timeouts are too short for its delays"
	}
	return ""
}

// late reports whether timers may have run out though nothing was wrong, since a process waited for a
// processor. Nothing is published for what an algorithm sends then.
func (m *model) late() bool { return m.Timed && m.Real }

// rested reports whether the run came to rest by itself, so that its totals are whole.
func (m *model) rested() bool {
	return m.seen(history.Rested) && !m.seen(history.Stalled) && !m.seen(history.Interrupted)
}

// seen reports whether the run came to a mark.
func (m *model) seen(mark int) bool { return m.sections.Marks[mark].Seen }

// resources yields the resources that clients shared.
func (e *evidence) resources() iter.Seq[*section.Resource] {
	return func(yield func(*section.Resource) bool) {
		for _, r := range e.sections.Resources {
			if r != nil && !yield(r) {
				return
			}
		}
	}
}

// fewOf returns the first few of lines, and a line that says how many of all it left out.
func fewOf(lines []string, all int) []string {
	kept := lines[:min(few, len(lines)):min(few, len(lines))]
	if all > len(kept) {
		kept = append(kept, fmt.Sprintf("and %d more", all-len(kept)))
	}
	return kept
}

// name prints a node for people.
func name(id nodes.ID) string { return fmt.Sprintf("node %d", id) }

func us(ns int64) string { return fmt.Sprintf("%.1f us", float64(ns)/1e3) }
