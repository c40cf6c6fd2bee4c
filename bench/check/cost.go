package check

import (
	"fmt"
	"strconv"
	"strings"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// MessagesPerEntry returns how many messages one entry took, and how many of each kind by its index:
// all messages of a run that came to rest, divided by its entries; or, if messages circulate though
// nobody asks, those from the first to the last entry between the marks Measuring and Stopped,
// divided by the entries after the first. It is not ok if the history does not say.
func MessagesPerEntry(h *history.History, circulates bool) (perEntry float64, byKind []float64, ok bool) {
	var sent [history.MaxKinds]uint64
	var entries uint64
	if circulates {
		lap := lap{span: measured(h)}
		h.Run(&lap)
		sent, entries = lap.sent, max(lap.entries, 1)-1
	} else if _, rested := h.Mark(history.Rested); rested {
		for _, l := range h.Logs {
			sum := l.Sum()
			entries += sum.Entries
			for kind, k := range sum.Kinds {
				sent[kind] += k.Sent
			}
		}
	}
	if entries == 0 {
		return 0, nil, false
	}
	total := uint64(0)
	for _, n := range sent {
		total += n
		byKind = append(byKind, float64(n)/float64(entries))
	}
	return float64(total) / float64(entries), byKind, true
}

// A lap counts the messages from the first steady entry to the last.
type lap struct {
	span
	entries uint64
	sent    [history.MaxKinds]uint64 // up to the last entry
	since   [history.MaxKinds]uint64 // after it
}

func (l *lap) Add(e history.Event) {
	switch {
	case e.Kind == history.Entered && l.has(e.At):
		if l.entries++; l.entries > 1 {
			for kind, n := range l.since {
				l.sent[kind] += n
			}
		}
		l.since = [history.MaxKinds]uint64{}
	case e.Kind == history.Sent && e.Count < history.MaxKinds:
		l.since[e.Count]++
	}
}

// Close leaves out what was sent after the last entry.
func (l *lap) Close() {}

// cost: an entry takes as many messages as was published.
func cost(e *evidence) Finding {
	if e.faulty() {
		return valid("nothing is published for a run with faults")
	}
	perEntry, byKind, ok := MessagesPerEntry(e.h, e.Circulates)
	switch {
	case !ok && e.Circulates:
		return inconclusive("not judged: fewer than two entries were measured")
	case !ok && e.rested():
		return inconclusive("not judged: there was no entry")
	case !ok || !e.Circulates && !e.rested():
		return e.unjudged("messages per entry are not known")
	}
	says := fmt.Sprintf("%s messages per entry", short(perEntry))
	switch {
	case !e.CostKnown:
		return valid("%s; nothing is published for this load", says)
	case e.Circulates && e.requests.entries < uint64(e.Config.N): // it passes nodes that never asked
		return valid("%s; nothing is published for fewer entries than nodes", says)
	case !e.Cost.Has(perEntry):
		var kinds []string
		for kind, n := range byKind {
			if n > 0 {
				kinds = append(kinds, fmt.Sprintf("%s %s", short(n), e.kind(kind)))
			}
		}
		return violated("%s, but %v are published", says, e.Cost).with(strings.Join(kinds, ", "))
	}
	return valid("%s, as published: %v", says, e.Cost)
}

func short(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// identities: the message counts obey what is known of them, whatever the load.
func identities(e *evidence) Finding {
	switch {
	case len(e.Identities) == 0:
		return valid("no identity of message counts is known")
	case e.faulty():
		return valid("no identity is known for a run with faults")
	case !e.rested():
		return e.unjudged("message counts are not whole")
	}
	t := nodes.Tally{Entries: e.requests.entries, Sent: map[string]uint64{}}
	var counts []string
	var sum history.InstanceTotals
	for _, l := range e.h.Logs {
		for i := range l.Instances {
			sum.Add(&l.Instances[i])
		}
	}
	for kind, name := range e.Kinds {
		sent := uint64(0)
		if kind < len(sum.Kinds) {
			sent = sum.Kinds[kind].Sent
		}
		t.Sent[name] += sent
		counts = append(counts, fmt.Sprintf("%d %s", sent, name))
	}
	for _, i := range e.Identities {
		if !i.Holds(e.Config, t) {
			return violated("%s does not hold: %s in %s", i.Says, strings.Join(counts, ", "),
				plural(t.Entries, "entry", "entries"))
		}
	}
	return valid("every identity of message counts holds: %s", strings.Join(counts, ", "))
}
