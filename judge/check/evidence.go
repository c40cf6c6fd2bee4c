package check

import (
	"fmt"
	"iter"
	"time"

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

// finding makes a check. It takes a violation back where the evidence is not sound: the witnesses of
// exclusion disagree, the transport has changed what the algorithm rests on though no fault did, processes
// waited for processors so long that no delay had a bound, or, of runs about leaders, counters and events
// disagree.
func (e *evidence) finding(c *check) Finding {
	f := c.judge(e)
	f.Check = c.name
	if f.Outcome == Violated {
		if but := e.doubt(c, &f); but != "" {
			f.Outcome, f.Says, f.Doubted = Inconclusive, f.Says+", but "+but, true
		}
	}
	return f
}

// doubt says why a violation is in doubt; empty: it is not. Safety rests on less than all other promises do,
// but that no two lead for long in terms of their own is no safety.
func (e *evidence) doubt(c *check, f *Finding) string {
	needs, unsound := e.Safe, e.Problem.unsound(e)
	if c.about != aboutSafety || c.live && e.Leads.Terms {
		needs |= e.Live
	}
	switch {
	case unsound != "":
		return unsound
	case c.timed && e.sections.Jumped():
		return jumped
	case needs&e.audit.breaks() != 0:
		return e.audit.text()
	case needs&inTime != 0 && !f.OutsideModel:
		return e.lateTimers()
	}
	return ""
}

// jumped says why times convict nobody.
const jumped = "the clock of a host jumped, or was not measured: nobody knows what times of its nodes mean"

// inTime are the assumptions that do not hold where processes wait for processors.
const inTime = nodes.NoPause | nodes.PerfectDetector | nodes.EventualDetector | nodes.Timing

// fewLate is how late most timers of processes may run out: half of the shortest timeout that a row has by
// default.
const fewLate = 50 * time.Millisecond

// lateTimers says how late timers of processes ran out, if that shows that the processes waited for
// processors: one timer in a hundred was late, or one by more than processes and recorded pauses explain.
func (e *evidence) lateTimers() string {
	if !e.Real {
		return ""
	}
	longest := e.Slack
	for _, p := range e.sections.Pauses {
		longest = max(longest, e.Slack+time.Duration(p.To-p.From))
	}
	late := history.LatenessIn(e.logs)
	how := "a timer ran out %v late"
	ns, _ := late.Quantile(1)
	if ns <= int64(longest) {
		how = "one timer in a hundred ran out %v late or later"
		if ns, _ = late.Quantile(0.99); ns <= int64(fewLate) {
			return ""
		}
	}
	return fmt.Sprintf(how+": processes waited for processors; take fewer nodes, or a machine with less to do",
		time.Duration(ns).Round(time.Millisecond))
}

// breaks returns what of the assumptions on links the transport broke. Messages that nobody has sent are
// repeats of others, as far as can be told.
func (a *audit) breaks() (broken nodes.Assumption) {
	if a.lost > 0 {
		broken |= nodes.NoLoss
	}
	if a.repeats > 0 || !a.clean() && a.lost == 0 {
		broken |= nodes.NoDuplication | nodes.FIFO
	}
	return broken
}
