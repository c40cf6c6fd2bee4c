package check

import (
	"fmt"
	"slices"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// restsOnSafety are the checks of what must hold as long as what the algorithm's safety rests on does. All
// others are of its progress too.
var restsOnSafety = []string{"exclusion", "register", "account", "terms", "leaders"}

// doubt takes back what findings convict of where the evidence is not sound: the witnesses of exclusion
// disagree, the transport has changed what the algorithm rests on though no fault did, processes waited for
// processors so long that no delay had a bound, or, of runs about leaders, whose declarations have no second
// witness, counters and events disagree.
func (e *Fold) doubt(findings []Finding) {
	for i := range findings {
		f := &findings[i]
		if f.Outcome != Violated {
			continue
		}
		if but := e.but(f, findings); but != "" {
			f.Outcome, f.Says = Inconclusive, f.Says+", but "+but
		}
	}
}

// but says why a conviction is in doubt; empty: it is not.
func (e *Fold) but(f *Finding, findings []Finding) string {
	needs := e.Safe
	if !slices.Contains(restsOnSafety, f.Check) {
		needs |= e.Live
	}
	switch {
	case e.Kind == MutualExclusion && !witnessesAgree(findings):
		return "the witnesses disagree"
	case e.Kind == Election && !e.balanced():
		return "the counts disagree"
	case needs&e.audit.breaks() != 0:
		return e.audit.says()
	case needs&inTime != 0 && !f.OutsideModel:
		return e.sluggish()
	}
	return ""
}

// inTime are the assumptions that do not hold where processes wait for processors.
const inTime = nodes.NoPause | nodes.PerfectDetector | nodes.EventualDetector | nodes.Timing

// fewLate is how late most timers of processes may run out: half of the shortest timeout that a row has by
// default.
const fewLate = 50 * time.Millisecond

// sluggish says how late timers of processes ran out, if that tells that these waited for processors, rather
// than stood still as the record says: one in a hundred was late, or one by more than processes are allowed.
func (e *Fold) sluggish() string {
	if !e.Real {
		return ""
	}
	longest := e.Slack
	for _, p := range e.sections.Pauses {
		longest = max(longest, e.Slack+time.Duration(p.To-p.From))
	}
	late := history.LatenessIn(e.logs)
	if ns, _ := late.Quantile(1); ns > int64(longest) {
		return fmt.Sprintf("a timer ran out %v late: processes waited for processors; take "+
			"fewer nodes, or a machine with less to do",
			time.Duration(ns).Round(time.Millisecond))
	}
	if ns, _ := late.Quantile(0.99); ns > int64(fewLate) {
		return fmt.Sprintf("one timer in a hundred ran out %v late or later: processes waited for processors; "+
			"take fewer nodes, or a machine with less to do",
			time.Duration(ns).Round(time.Millisecond))
	}
	return ""
}

// witnessesAgree reports whether the witnesses of exclusion do.
func witnessesAgree(findings []Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool {
		return f.Check == "agreement" && f.Outcome == Valid
	})
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
