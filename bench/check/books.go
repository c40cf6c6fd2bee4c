package check

import (
	"fmt"
	"slices"
	"turnstile/internal/english"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// books: counters and events tell the same, and every node has left a log.
func books(e *Fold) Finding {
	wrong := slices.Concat(e.missing(), e.sections.Says)
	for _, l := range e.logs {
		wrong = append(wrong, e.compareBooks(l)...)
	}
	var sent, delivered uint64
	for kind, k := range e.sum.Kinds {
		sent += k.Sent
		delivered += k.Delivered
		if kind >= len(e.Kinds) && k.Sent+k.Delivered > 0 {
			wrong = append(wrong, fmt.Sprintf("there are messages of a kind %d, which does not exist", kind))
		}
	}
	if dropped, copied := e.sum.Dropped, e.sum.Copied; e.rested() && sent+copied != delivered+dropped {
		wrong = append(wrong, fmt.Sprintf("%d messages were sent, %d dropped and %d added by faults, "+
			"and %d handled", sent, dropped, copied, delivered))
	}
	if len(wrong) > 0 {
		total := uint64(len(wrong)-len(e.sections.Says)) + e.sections.Irregular
		return inconclusive("the books are wrong: %s", wrong[0]).with(fewOf(wrong, int(total))...)
	}
	return valid("counters and events agree")
}

// missing says which nodes left no log, or more than one.
func (e *Fold) missing() (wrong []string) {
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
		wrong = append(wrong, fmt.Sprintf("%s left %d logs", who, found[id]))
	}
	return wrong
}

// compareBooks says where the counters of a node differ from its events.
func (e *Fold) compareBooks(l *history.NodeLog) (wrong []string) {
	compare := func(what string, events, counter uint64) {
		if events != counter {
			wrong = append(wrong, fmt.Sprintf("%s: %s by its events, and %d by its counter",
				name(l.Node), english.Count(events, what, what), counter))
		}
	}
	var acted uint64
	for i := range max(len(e.tallies), len(l.Instances)) {
		var t tally
		if i < len(e.tallies) && int(l.Node)+1 < len(e.tallies[i]) {
			t = e.tallies[i][l.Node+1]
		}
		var c history.InstanceTotals
		if i < len(l.Instances) {
			c = l.Instances[i]
		}
		acted += t.requested + t.entered
		compare("requested", t.requested, c.Requests)
		compare("entered", t.entered, c.Entries)
		compare("exited", t.left, c.Exits)
		if e.Circulates {
			for kind := range max(len(t.sent), len(c.Kinds)) {
				var sent uint64
				if kind < len(t.sent) {
					sent = t.sent[kind]
				}
				compare("sent of "+e.kind(kind), sent, c.Kind(uint8(kind)).Sent)
			}
		}
	}
	if int(l.Node) >= e.Config.N && acted > 0 {
		wrong = append(wrong, fmt.Sprintf("%s is a server, and has asked or entered", name(l.Node)))
	}
	return wrong
}
