package check

import (
	"fmt"
	"strconv"
	"strings"

	"turnstile/internal/english"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
)

// cost: an entry takes as many messages as published.
func cost(e *evidence) Finding {
	if which := e.unpublished(); which != "" {
		return notJudged("nothing is published for a run %s", which)
	}
	if e.Lacks.Counts {
		return notJudged("not judged: the history has no counts")
	}
	if !e.balanced() {
		return inconclusive("not judged: the counts disagree")
	}
	perEntry, byKind, ok := e.sections.MessagesPerEntry(&e.sum, e.Circulates, true)
	switch {
	case e.Circulates && !e.seen(history.Stopped):
		return inconclusive("not judged: the run ended early")
	case !ok && e.Circulates:
		return inconclusive("not judged: fewer than two entries were measured")
	case !ok && e.rested():
		return inconclusive("not judged: there was no entry")
	case !ok || !e.Circulates && !e.rested():
		return e.unjudged("messages per entry are not known")
	}
	says := fmt.Sprintf("%s messages per entry", sixDigits(perEntry))
	if resent := e.sum.Resent; resent > 0 && !e.Circulates { // retries are not part of the algorithm
		perEntry -= float64(resent) / float64(e.sum.Entries)
		says += fmt.Sprintf(", and %s without what was sent again", sixDigits(perEntry))
	}
	published := e.published()
	wasted := e.entryCost != nil && e.exclusive() && e.sent()-e.sum.Resent > e.due ||
		e.CostKnown && perEntry > published.Max && !published.Has(perEntry)
	switch {
	case wasted && e.late():
		return notJudged("%s; the published figure, %v, assumes that no timer runs out early", says, published)
	case e.entryCost != nil && e.exclusive() && e.sent()-e.sum.Resent != e.due:
		return violated("%s: %d messages were sent, but these entries in this order take %d", says, e.sent(),
			e.due).with(e.perKind(byKind))
	case !e.CostKnown:
		return notJudged("%s; nothing is published for this load", says)
	case e.Circulates && e.sections.Entries < uint64(e.Config.N): // the token passes nodes that never requested
		return notJudged("%s; nothing is published for fewer entries than nodes", says)
	case !published.Has(perEntry):
		return violated("%s, but %v are published", says, published).with(e.perKind(byKind))
	case e.entryCost != nil && e.exclusive():
		return valid("%s, as published: %v, and exactly as many as these entries in this order take", says,
			published)
	}
	return valid("%s, as published: %v", says, published)
}

// published returns the published number of messages per entry, plus the renewals of the run's holds. A
// process that waits for a processor renews late, and so less often.
func (e *evidence) published() algorithm.Range {
	if e.sections.Entries == 0 {
		return e.Cost
	}
	least, entries := e.renewals.Min, float64(e.sections.Entries)
	if e.late() {
		least = 0
	}
	return algorithm.Between(e.Cost.Min+least/entries, e.Cost.Max+e.renewals.Max/entries)
}

// perKind lists the messages per entry by their kinds.
func (r *records) perKind(perEntry []float64) string {
	var kinds []string
	for kind, n := range perEntry {
		if n > 0 && !r.sections.Heartbeat(kind) {
			kinds = append(kinds, fmt.Sprintf("%s %s", sixDigits(n), r.kind(kind)))
		}
	}
	return strings.Join(kinds, ", ")
}

// exclusive reports whether the entries have an order: the run has one resource, with one client inside at a
// time.
func (e *evidence) exclusive() bool {
	resources, violations := 0, uint64(0)
	for r := range e.resources() {
		resources, violations = resources+1, violations+r.Violations+r.UncertainOverlaps
	}
	return resources == 1 && violations == 0
}

// sent returns how many messages the run took, without heartbeats.
func (r *records) sent() (total uint64) {
	for kind, k := range r.sum.Kinds {
		if !r.sections.Heartbeat(kind) {
			total += k.Sent
		}
	}
	return total
}

func sixDigits(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// identities: the message counts obey the identities of the algorithm, under any load.
func identities(e *evidence) Finding {
	which := e.unpublished()
	switch {
	case len(e.Identities) == 0:
		return notJudged("no identity of message counts is known")
	case which != "":
		return notJudged("no identity is known for a run %s", which)
	case e.Lacks.Counts:
		return notJudged("not judged: the history has no counts")
	case !e.balanced():
		return inconclusive("not judged: the counts disagree")
	case !e.rested():
		return e.unjudged("message counts are incomplete")
	case e.sum.Resent > 0:
		return notJudged("%s sent again, since an answer took long",
			english.Count(e.sum.Resent, "message was", "messages were"))
	}
	t := algorithm.Tally{Entries: e.sections.Entries, Sent: map[string]uint64{}}
	var counts []string
	for kind := range e.kinds() {
		if e.sections.Heartbeat(kind) {
			continue
		}
		name := e.kind(kind)
		sent := uint64(0)
		if kind < len(e.sum.Kinds) {
			sent = e.sum.Kinds[kind].Sent
		}
		t.Sent[name] += sent
		counts = append(counts, fmt.Sprintf("%d %s", sent, name))
	}
	for _, i := range e.Identities {
		if !i.Holds(e.Config, t) && e.late() {
			return notJudged("%s does not hold, nor need it where a timer runs out early: %s", i.Says,
				strings.Join(counts, ", "))
		}
		if !i.Holds(e.Config, t) {
			return violated("%s does not hold: %s in %s", i.Says, strings.Join(counts, ", "),
				english.Count(t.Entries, "entry", "entries"))
		}
	}
	return valid("every identity of message counts holds: %s", strings.Join(counts, ", "))
}
