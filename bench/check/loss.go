package check

import (
	"fmt"
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// An audit compares what was sent with what came, stream by stream. No fault explains a difference, so
// the transport lost or repeated messages, and the run says nothing of the algorithm.
type audit struct {
	balanced      bool // the ends of the streams were compared as well
	gaps, repeats uint64
	lost          uint64
	lines         []string // the nodes and links where something is wrong
}

func auditStreams(h *history.History, n int, balance bool) audit {
	a := audit{balanced: balance}
	for _, l := range h.Logs {
		gaps, repeats := l.Totals.Gaps, l.Totals.Repeats
		a.gaps, a.repeats = a.gaps+gaps, a.repeats+repeats
		if gaps+repeats > 0 {
			a.lines = append(a.lines, fmt.Sprintf("%s: %d missing from the numbering, %d repeated or out of order",
				name(l.Node), gaps, repeats))
		}
	}
	a.lost = a.gaps
	if !balance {
		return a
	}
	for _, from := range h.Logs {
		if len(from.SentTo) == 0 {
			continue // the orchestrator, or a simulated node, which no transport serves
		}
		for _, to := range h.Logs {
			i, j := int(from.Node), int(to.Node)
			if i < 0 || j < 0 || i == j || j >= len(from.SentTo) || i >= len(to.ReceivedFrom) {
				continue
			}
			a.compare(fmt.Sprintf("link %d -> %d", i, j), from.SentTo[j], to.ReceivedFrom[i])
			if j < n { // servers do not hear multicasts
				a.compare(fmt.Sprintf("multicasts %d -> %d", i, j), from.Totals.MultiSent, to.MultiFrom[i])
			}
		}
	}
	return a
}

// compare looks at the end of a stream. A message that is missing further up is a gap.
func (a *audit) compare(stream string, sent, received uint64) {
	if sent == received {
		return
	}
	if sent > received {
		a.lost += sent - received
	}
	a.lines = append(a.lines, fmt.Sprintf("%s: %d sent, number %d was the last to come", stream, sent, received))
}

func (a *audit) clean() bool { return len(a.lines) == 0 }

func (a *audit) says() string {
	return fmt.Sprintf("%s on the way did not arrive, and %d came again: %s",
		plural(a.lost, "message", "messages"), a.repeats, a.lines[0])
}

// loss: what was sent has come, once.
func loss(e *evidence) Finding {
	switch {
	case !e.audit.clean():
		return inconclusive("%s", e.audit.says()).with(fewOf(e.audit.lines, few)...)
	case !e.audit.balanced:
		return e.unjudged("messages may still have been on their way")
	}
	if e.faulty() {
		return valid("every message came that no fault had lost")
	}
	return valid("every message came, once and in order")
}

// unjudged is the finding of a check that needs a run at rest.
func (e *evidence) unjudged(why string) Finding {
	return inconclusive("not judged, since the run did not come to rest: %s", why)
}

// books: counters and events tell the same, and every node has left a log.
func books(e *evidence) Finding {
	wrong := slices.Concat(e.logs(), e.requests.wrong)
	sent, delivered, dropped, copied := uint64(0), uint64(0), uint64(0), uint64(0)
	for _, l := range e.h.Logs {
		wrong = append(wrong, e.compareBooks(l)...)
		sum := l.Sum()
		dropped, copied = dropped+sum.Dropped, copied+sum.Copied
		for kind, k := range sum.Kinds {
			sent += k.Sent
			delivered += k.Delivered
			if kind >= len(e.Kinds) && k.Sent+k.Delivered > 0 {
				wrong = append(wrong, fmt.Sprintf("%s counts messages of a kind %d, which does not exist",
					name(l.Node), kind))
			}
		}
	}
	if e.rested() && sent+copied != delivered+dropped {
		wrong = append(wrong, fmt.Sprintf("%d messages were sent, %d dropped and %d added by faults, "+
			"and %d handled", sent, dropped, copied, delivered))
	}
	if len(wrong) > 0 {
		return inconclusive("the books are wrong: %s", wrong[0]).with(fewOf(wrong, few)...)
	}
	return valid("counters and events agree")
}

// logs says which nodes left no log, or more than one.
func (e *evidence) logs() (wrong []string) {
	total := e.Config.N
	found := map[nodes.ID]int{}
	for _, l := range e.h.Logs {
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
func (e *evidence) compareBooks(l *history.NodeLog) (wrong []string) {
	var count [256]uint64 // by kind of event
	var sent [history.MaxKinds]uint64
	for _, event := range l.Events {
		count[event.Kind]++
		if event.Kind == history.Sent && event.Count < history.MaxKinds {
			sent[event.Count]++
		}
	}
	compare := func(what string, events, counter uint64) {
		if events != counter {
			wrong = append(wrong, fmt.Sprintf("%s: %s by its events, and %d by its counter",
				name(l.Node), plural(events, what, what), counter))
		}
	}
	sum := l.Sum()
	compare("requested", count[history.Requested], sum.Requests)
	compare("entered", count[history.Entered], sum.Entries)
	compare("exited", count[history.Exited], sum.Exits)
	if e.Circulates {
		for kind, n := range sent {
			compare("sent of "+e.kind(kind), n, sum.Kind(uint8(kind)).Sent)
		}
	}
	if int(l.Node) >= e.Config.N && count[history.Requested]+count[history.Entered] > 0 {
		wrong = append(wrong, fmt.Sprintf("%s is a server, and has asked or entered", name(l.Node)))
	}
	return wrong
}
