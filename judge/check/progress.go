package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"turnstile/internal/english"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// few is how many lines of one sort a witness has at most.
const few = 20

// progress: every request is served; while a fault lasts that breaks no assumption, requests are served in
// time.
func progress(e *evidence) Finding {
	f := allServed(e)
	if late := servedLate(e); f.Outcome != Violated && late.Outcome == Violated {
		f = late
	}
	if f.Outcome == Violated && !e.balanced() {
		f.Outcome, f.Says = Inconclusive, f.Says+", but the counts disagree"
	}
	if pauses := e.pauses(); pauses != "" {
		f.Says += "; " + pauses
	}
	return f
}

// pauses describes the processes that stood still, or returns "".
func (m *model) pauses() string {
	pauses := m.sections.Pauses
	if len(pauses) == 0 {
		return ""
	}
	longest := slices.MaxFunc(pauses, func(a, b section.Pause) int {
		return cmp.Compare(a.To-a.From, b.To-b.From)
	})
	says := fmt.Sprintf("%s stood still for %v", processName(longest.Process),
		time.Duration(longest.To-longest.From).Round(time.Millisecond))
	switch more := len(pauses) - 1; more {
	case 0:
		return says
	case 1:
		return says + ", and there was 1 shorter pause"
	default:
		return says + fmt.Sprintf(", and there were %d shorter pauses", more)
	}
}

// processName names a paused process for people.
func processName(process uint32) string {
	switch its := history.ProcessName(process); {
	case its == "":
		return name(nodes.ID(process))
	case strings.HasPrefix(its, "broker ") && process != history.SecondBroker: // one of several brokers
		return its
	default:
		return "the " + its
	}
}

// servedLate finds the longest time in which nobody entered although the algorithm promises entries while a
// fault lasts.
func servedLate(e *evidence) (f Finding) {
	var longest int64
	for i := range e.sections.Faults {
		of := &e.sections.Faults[i]
		if silent := e.overdue(of); silent > longest {
			g := e.gaps.in(e.gaps.requests, of)
			within, _ := e.within(of, g)
			longest, f = silent, violated("no progress: nobody entered for %v during %s, which breaks no assumption "+
				"of the algorithm; it may take %v", time.Duration(silent).Round(time.Millisecond),
				e.asked(of).Text, time.Duration(within).Round(time.Millisecond)).lasting(g.to-silent+within, g.to)
			f.Idle = true
		}
	}
	return f
}

func allServed(e *evidence) Finding {
	waiting, inside, waiters := e.waiting, e.inside, e.waiters()
	switch {
	case e.seen(history.Stalled) && len(waiting) == 0:
		return inconclusive("the run stalled, though no request waits")
	case e.seen(history.Stalled) && len(inside) > 0:
		// The client should leave, but its process has stopped. The algorithm is not the cause.
		return inconclusive("the run stalled while %s was inside, with %s", name(inside[0].Node),
			unserved(len(waiting))).with(waiters...)
	case e.seen(history.Stalled) && !e.audit.clean():
		// The transport lost messages. The algorithm may not be the cause.
		return inconclusive("the run stalled with %s, but %s", unserved(len(waiting)), e.audit.text()).
			with(waiters...)
	case e.seen(history.Stalled) && e.brokenIn(e.stalledIn(), e.Safe|e.Live) != 0:
		f := inconclusive("no progress, with %s", unserved(len(waiting)))
		if e.Replayed {
			f = inconclusive("nothing is left to happen, and %s", nodesDo(e.waitingAtEnd(), "waits", "wait"))
		} else if e.livelocked() {
			marks := e.sections.Marks
			f = inconclusive("no progress: %s, with %s %v after the run began", e.moves(), unserved(len(waiting)),
				time.Duration(marks[history.Stalled].At-marks[history.Began].At).Round(time.Millisecond))
		}
		return e.expect(f.with(waiters...), e.stalledIn(), e.Safe|e.Live)
	case e.seen(history.Stalled):
		return violated("no progress: %s, with %s", e.moves(), unserved(len(waiting))).with(waiters...)
	case e.seen(history.Interrupted):
		return inconclusive("the run ended early, %s", e.open()).with(waiters...)
	case !e.seen(history.Rested):
		return inconclusive("the run never came to rest, %s", e.open()).with(waiters...)
	case len(waiting) > 0:
		return violated("no progress: the run came to rest with %s", unserved(len(waiting))).with(waiters...)
	case len(inside) > 0:
		return inconclusive("the run came to rest though %s never left", name(inside[0].Node))
	}
	says := fmt.Sprintf("all of %s were served", english.Count(e.sections.Entries, "request", "requests"))
	if e.gaveUp > 0 {
		says += fmt.Sprintf(", and %s given up", english.Count(e.gaveUp, "more was", "more were"))
	}
	return valid("%s", says)
}

// livelocked reports whether messages were still handled when the run stalled.
func (m *model) livelocked() bool { return m.sections.Marks[history.Stalled].Value > 0 }

// moves describes what still happened in a run that stalled.
func (e *evidence) moves() string {
	if !e.livelocked() {
		return "nothing moves"
	}
	return fmt.Sprintf("%s since anybody entered", english.Count(
		uint64(e.sections.Marks[history.Stalled].Value), "message was handled", "messages were handled"))
}

// open describes the requests that are open at the end.
func (e *evidence) open() string {
	switch {
	case len(e.waiting) > 0:
		return "with " + unserved(len(e.waiting))
	case len(e.inside) > 0:
		return fmt.Sprintf("and %s never left", name(e.inside[0].Node))
	}
	return "though every request was served"
}

func unserved(n int) string { return english.Count(n, "request", "requests") + " unserved" }

// waiters lists the clients that wait, the longest wait first.
func (e *evidence) waiters() []string {
	end := e.sections.End
	if m := e.sections.Marks[history.Stalled]; m.Seen {
		end = m.At
	}
	var lines []string
	for _, s := range e.waiting[:min(few, len(e.waiting))] {
		age := time.Duration(end - s.asked).Round(time.Microsecond)
		lines = append(lines, fmt.Sprintf("%s has waited for its entry %d for %v", name(s.node), s.entry, age))
	}
	return fewOf(lines, len(e.waiting))
}
