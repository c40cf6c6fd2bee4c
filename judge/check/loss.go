package check

import (
	"fmt"
	"time"

	"turnstile/internal/english"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// An audit compares what was sent with what arrived, stream by stream. A lost connection to the broker
// explains what is missing up to the floors of streams, as their ends tell it; a death, what went to the dead
// or died with them. If nothing explains a difference, the transport has lost or repeated messages, and the
// run says nothing about the algorithm.
type audit struct {
	balanced      bool // the ends of the streams were compared as well
	gaps, repeats uint64
	lost          uint64
	withBroker    uint64   // lost with connections to the broker
	toDeaths      int64    // messages that went to the dead or died with them
	lines         []string // the nodes and links where something is wrong
}

func (r *records) auditStreams(balance bool) audit {
	a := audit{balanced: balance}
	logs, n := r.logs, r.Config.N
	for _, l := range logs {
		gaps, repeats := l.Totals.Gaps, l.Totals.Repeats
		a.gaps, a.repeats, a.withBroker = a.gaps+gaps, a.repeats+repeats, a.withBroker+l.Totals.Explained
		if gaps+repeats > 0 {
			a.lines = append(a.lines, fmt.Sprintf("%s: %d missing from the numbering, %d repeated or out of order",
				name(l.Node), gaps, repeats))
		}
	}
	a.lost = a.gaps
	if !balance {
		return a
	}
	if len(r.sections.Deaths) > 0 {
		r.auditLives(&a)
		return a
	}
	for _, from := range logs {
		if len(from.SentTo) == 0 {
			continue // the orchestrator, or a simulated node, which has no streams
		}
		for _, to := range logs {
			i, j := int(from.Node), int(to.Node)
			if i < 0 || j < 0 || i == j || j >= len(from.SentTo) || i >= len(to.ReceivedFrom) {
				continue
			}
			a.compare(fmt.Sprintf("link %d -> %d", i, j), from.SentTo[j], to.ReceivedFrom[i],
				at(from.Floor, j))
			if all := r.ends(from); len(from.SentTo) > all {
				a.compare(fmt.Sprintf("link %d -> %d on the second network", i, j), at(from.SentTo, all+j),
					at(to.ReceivedFrom, all+i), at(from.Floor, all+j))
			}
			if j < n { // servers do not hear multicasts
				a.compare(fmt.Sprintf("multicasts %d -> %d", i, j), from.Totals.MultiSent, to.MultiFrom[i],
					from.Totals.MultiFloor)
			}
		}
	}
	return a
}

// compare compares the ends of a stream, of which those up to its floor may have been lost with a connection.
// Messages that are missing before its end are gaps.
func (a *audit) compare(stream string, sent, received, floor uint64) {
	explained := max(received, min(sent, floor)) - received
	a.withBroker += explained
	if sent == received+explained {
		return
	}
	if sent > received {
		a.lost += sent - received - explained
	}
	a.lines = append(a.lines, fmt.Sprintf("%s: %d sent, number %d was the last to come", stream, sent, received))
}

func (a *audit) clean() bool { return len(a.lines) == 0 }

func (a *audit) text() string {
	if a.lost+a.repeats == 0 {
		return "the numbering of messages is wrong: " + a.lines[0]
	}
	return fmt.Sprintf("%s on the way did not arrive, and %d came again: %s",
		english.Count(a.lost, "message", "messages"), a.repeats, a.lines[0])
}

// loss: what was sent has arrived, once.
func loss(e *evidence) Finding {
	switch {
	case !e.audit.clean():
		return inconclusive("%s", e.audit.text()).with(fewOf(e.audit.lines, len(e.audit.lines))...)
	case len(e.disconnected) > 0:
		return inconclusive("%s", e.disconnected[0]).with(fewOf(e.disconnected, len(e.disconnected))...)
	case !e.audit.balanced:
		return e.unjudged("messages may still have been on their way")
	}
	if lost := e.audit.withBroker; lost > 0 {
		return valid("%s lost with connections to the broker; every other came that no fault had lost",
			english.Count(lost, "message was", "messages were"))
	}
	if lost := e.audit.toDeaths; lost > 0 {
		return valid("every message came, but for %s that went to the dead or died with them, "+
			"and what faults had lost", english.Count(uint64(lost), "message", "messages"))
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

// disconnect takes an event by which a node has lost its connection to the broker. That explains what was
// lost only if a fault that loses messages had begun before.
func (r *records) disconnect(event *history.Event) {
	if r.brokenBy(event.At, nodes.NoLoss) == 0 {
		r.disconnected = append(r.disconnected, fmt.Sprintf("%s lost its connection to the broker at %v, and no "+
			"fault had taken it away", name(event.Node), time.Duration(event.At).Round(time.Millisecond)))
	}
}
