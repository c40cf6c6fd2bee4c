package check

import (
	"fmt"
	"iter"
	"math"
	"time"

	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
)

// evidence is all that checks read about a run: broken assumptions, counters, leaders, entries in a minority,
// and how often requests were passed over.
type evidence struct {
	*model
	records
	elected
	minority minorityEntries
	gaps     gaps
	fair     *fairFold
	ranked   *rankFold // nil: the algorithm does not serve the client with fewest requests first

	abandoned uint64                               // sections whose node crashed before they were entered
	gaveUp    uint64                               // sections that their clients gave up
	waiting   []openRequest                        // requests that wait at the end, the oldest first
	inside    []section.Section                    // sections that never ended, the oldest first
	entryCost algorithm.EntryCost                  // how many messages an entry takes; nil: unknown
	observed  [history.Secluded + 1]*history.Event // the first event of each kind observed in a schedule
	breach    *history.Event                       // how a foreign program broke the protocol, or nil
	due       uint64                               // messages that all entries take together, by entryCost
	renewals  algorithm.Range                      // messages of renewals, on top of the published cost
}

// An openRequest is a request that waits when the history ends. It is small, since every client may wait.
type openRequest struct {
	asked    int64
	node     nodes.ID
	entry    uint32
	instance uint16
}

// saw reports whether something was observed in a schedule.
func (e *evidence) saw(what int) bool { return e.observed[what] != nil }

// faulty reports whether faults may have changed which messages were sent or arrived. An algorithm with
// timeouts also sends more because of a pause or a delay.
func (e *evidence) faulty() bool {
	s := e.sections
	return e.sum.Dropped+e.sum.Copied > 0 ||
		e.brokenBy(s.End, nodes.NoLoss|nodes.NoDuplication|nodes.NoCrash) != 0 ||
		e.Timed && len(s.Faults)+len(s.Pauses)+len(s.Wrongs) > 0
}

// unpublished returns why no published count of messages holds for the run, or "".
func (e *evidence) unpublished() string {
	switch {
	case e.faulty():
		return "with faults"
	case e.NeverHolds != 0:
		return "whose timeouts are too short for its delays"
	}
	return ""
}

// late reports whether timers may have expired though nothing was wrong, since a process waited for a
// processor. No published count of messages allows for that.
func (m *model) late() bool { return m.Timed && m.Real }

// rested reports whether the run came to rest by itself, so its totals are complete.
func (m *model) rested() bool {
	return m.seen(history.Rested) && !m.seen(history.Stalled) && !m.seen(history.Interrupted)
}

// seen reports whether the history has a mark.
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

// fewOf returns the first few lines, and a line with the number of the others.
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

// finding makes a check. A violation becomes inconclusive if the evidence is not sound: the witnesses of
// exclusion disagree, the transport broke an assumption without a fault, processes waited for processors so
// long that delays had no bound, or, in runs about leaders, counters and events disagree.
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

// doubt returns why a violation is in doubt, or "". Safety rests on Safe only, and all other promises on Live
// as well. With terms, leadersCheck rests on Live too, since leaders of different terms are safe.
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
	case needs&inTime != 0 && !f.OutsideModel && !c.own:
		return e.lateProcesses(f)
	}
	return ""
}

// jumped says why no violation can be found from times.
const jumped = "the clock of a host jumped, or was not measured: times of its nodes cannot be compared"

// inTime are the assumptions that a process breaks by waiting for a processor.
const inTime = nodes.NoPause | nodes.PerfectDetector | nodes.EventualDetector | nodes.Timing

// lateProcesses says how late processes were, if that may explain a violation: they were late for as long as
// it lasted (see Finding.Lasts). If the length is not known, they were later than the timeouts of the
// algorithm allow for at any time after the run began, when all processes had started. Else it returns "".
func (e *evidence) lateProcesses(f *Finding) string {
	if !e.Measured {
		return ""
	}
	if at := f.Lasts; at != nil {
		late := e.slack(at.From, at.To, 1, at.Of...)
		if at.Length > int64(late) {
			return ""
		}
		return fmt.Sprintf("meanwhile processes were late by %v: they waited for processors; take fewer nodes, or "+
			"a machine with less to do", late.Round(time.Millisecond))
	}
	longest := e.sections.Longest(e.sections.Marks[history.Began].At, math.MaxInt64)
	if e.covered(longest) {
		return ""
	}
	return fmt.Sprintf("a process was late by %v, more than the timeouts allow for: it waited for processors; "+
		"take fewer nodes, or a machine with less to do", longest.Round(time.Millisecond))
}

// breaks returns the assumptions on links that the transport broke. Messages beyond those sent count as
// repeats.
func (a *audit) breaks() (broken nodes.Assumption) {
	if a.lost > 0 {
		broken |= nodes.NoLoss
	}
	if a.repeats > 0 || !a.clean() && a.lost == 0 {
		broken |= nodes.NoDuplication | nodes.FIFO
	}
	return broken
}
