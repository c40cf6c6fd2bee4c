package check

import (
	"fmt"
	"slices"
	"turnstile/bench/section"
	"turnstile/internal/english"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// accounting: counters and events agree, and every node has left a log.
func accounting(e *Fold) Finding {
	wrong := slices.Concat(e.Missing(), e.sections.Says)
	for _, l := range e.logs {
		wrong = append(wrong, e.compareTotals(l)...)
	}
	var sent, delivered uint64
	for kind, k := range e.sum.Kinds {
		sent += k.Sent
		delivered += k.Delivered
		if kind >= e.kinds() && k.Sent+k.Delivered > 0 {
			wrong = append(wrong, fmt.Sprintf("there are messages of a kind %d, which does not exist", kind))
		}
	}
	if dropped, copied := e.sum.Dropped, e.sum.Copied; e.rested() && sent+copied != delivered+dropped {
		wrong = append(wrong, fmt.Sprintf("%d messages were sent, %d dropped and %d added by faults, "+
			"and %d handled", sent, dropped, copied, delivered))
	}
	if len(wrong) > 0 {
		total := uint64(len(wrong)-len(e.sections.Says)) + e.sections.Irregular
		return inconclusive("the counts disagree: %s", wrong[0]).with(fewOf(wrong, int(total))...)
	}
	return valid("counters and events agree")
}

// balanced reports whether counts may be judged. Where counters, events and logs disagree, some are wrong.
func (e *Fold) balanced() bool { return e.books.Outcome == Valid }

// Missing says which nodes left no log, or more than one, once the fold is closed.
func (e *Fold) Missing() (wrong []string) {
	total := e.Config.N
	found := map[nodes.ID]int{}
	for _, l := range e.logs {
		total = max(total, len(l.SentTo))
		found[l.Node]++
	}
	for id := nodes.None; int(id) < total; id++ {
		if found[id] == 1 {
			continue
		}
		who := name(id)
		if id == nodes.None {
			who = "the orchestrator"
		}
		if found[id] == 0 {
			wrong = append(wrong, who+" left no log")
		} else {
			wrong = append(wrong, fmt.Sprintf("%s left %d logs", who, found[id]))
		}
	}
	return wrong
}

// compareTotals says where the counters of a node differ from its events.
func (e *Fold) compareTotals(l *history.NodeLog) (wrong []string) {
	compare := func(what string, events, counter uint64) {
		if events != counter {
			wrong = append(wrong, fmt.Sprintf("%s: %s by its events, and %d by its counter",
				name(l.Node), english.Count(events, what, what), counter))
		}
	}
	for i := range max(len(e.sections.Resources), len(l.Instances), len(e.recorded)) {
		counted := at(l.Instances, i)
		var c section.Client
		if r := at(e.sections.Resources, i); r != nil {
			c = at(r.Clients, int(l.Node))
		}
		compare("requested", uint64(c.Asked), counted.Requests)
		compare("entered", uint64(c.Entered), counted.Entries)
		compare("exited", uint64(c.Left), counted.Exits)
		if int(l.Node) >= e.Config.N && c.Asked+c.Entered > 0 {
			wrong = append(wrong, fmt.Sprintf("%s is a server, and has asked or entered", name(l.Node)))
		}
		if !e.Circulates || i > 0 && at(e.recorded, i) == nil { // another instance may not circulate
			continue
		}
		sent := at(at(e.recorded, i), int(l.Node))
		for kind := range max(len(sent), len(counted.Kinds)) {
			compare("sent of "+e.kind(kind), at(sent, kind), at(counted.Kinds, kind).Sent)
		}
	}
	return wrong
}

// at returns an element of s, or the zero value where there is none.
func at[T any](s []T, i int) (element T) {
	if i >= 0 && i < len(s) {
		element = s[i]
	}
	return element
}
