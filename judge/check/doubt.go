package check

import (
	"fmt"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

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
