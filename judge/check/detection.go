package check

import (
	"time"

	"turnstile/internal/english"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// detects reports whether the run has a failure detector, and crashes that it should report.
func detects(e *evidence) bool { return e.Tells != nil && len(e.sections.Crashes) > 0 }

// detection: every node that stays up suspects a crashed node within the time that the algorithm of the
// failure detector promises, under the detector's assumptions. It is not judged after a wrong suspicion,
// since a detector may learn from that to wait for longer.
func detection(e *evidence) Finding {
	if !e.Bounded {
		return notJudged("how soon crashes are detected is not judged, since messages may take any time")
	}
	judged := 0
	for i := range e.sections.Crashes {
		c := &e.sections.Crashes[i]
		last, took, known := e.slowest(c)
		bound := e.tellsWithin(c, took)
		if took <= bound {
			judged++
			continue
		}
		for _, w := range e.sections.Wrongs {
			if w.From <= c.Until {
				return notJudged("how soon crashes are detected is not judged after a wrong suspicion")
			}
		}
		says := "%s did not suspect %s, which had crashed %v before; its failure detector should within %v"
		if known {
			says = "%s suspected %s %v after it had crashed; its failure detector should within %v"
		}
		f := violated(says, name(last), name(c.Node), took.Round(time.Millisecond), bound)
		if f = e.outsideIf(f, span{c.At, c.At + int64(took), int64(e.Grace), nil}, e.TellsNeeds); !f.OutsideModel {
			return f
		}
	}
	if judged == 0 {
		return notJudged("assumptions of the detector were broken when nodes crashed")
	}
	return valid("%s detected in time", english.Count(judged, "crash was", "crashes were"))
}

// tellsWithin returns within what time all nodes should know of a crash that was known after the time took.
func (e *evidence) tellsWithin(c *section.Known, took time.Duration) time.Duration {
	down := 0
	for i := range e.sections.Deaths {
		if d := &e.sections.Deaths[i]; d.From <= c.Until && d.Back >= c.At {
			down++
		}
	}
	delay := e.Delay
	if e.Measured {
		delay += history.LateFrom
	}
	return e.Tells(delay, down) + e.slack(c.At, c.At+int64(took), rounds)
}

// slowest returns the node that was up all the while and learnt of a crash last or never, after what time,
// and whether it learnt of it.
func (e *evidence) slowest(c *section.Known) (last nodes.ID, took time.Duration, known bool) {
	if c.Last > c.At && e.upFrom(c.Who, c) {
		last, took, known = c.Who, time.Duration(c.Last-c.At), true
	}
	for id := range nodes.ID(e.Config.N + e.Servers) {
		if !c.By.Has(id) && e.upFrom(id, c) {
			return id, time.Duration(max(0, e.watched(c)-c.At)), false
		}
	}
	return last, took, known
}

// watched returns until when detectors should report a crash: they are told to rest once no request is issued
// any more and all are served.
func (e *evidence) watched(c *section.Known) int64 {
	if stopped := e.sections.Marks[history.Stopped]; stopped.Seen {
		return min(c.Until, max(stopped.At, e.gaps.last))
	}
	return c.Until
}

// upFrom reports whether a node was up from the crash c of another node until c.Until.
func (e *evidence) upFrom(id nodes.ID, c *section.Known) bool {
	for i := range e.sections.Deaths {
		if d := &e.sections.Deaths[i]; d.Node == id && d.From <= c.Until && d.Back >= c.At {
			return false
		}
	}
	return true
}
