package check

import (
	"fmt"
	"math"
	"time"

	"turnstile/internal/english"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// records holds the counters of nodes, and the messages that they recorded.
type records struct {
	*model
	recorded     [][][]uint64 // counts of recorded messages, by instance, node and kind
	heard        map[stream][]hearing
	logs         []*history.NodeLog
	sum          history.InstanceTotals // totals of all logs
	books        Finding                // the finding of accounting
	audit        audit
	disconnected []string // describes nodes that lost a connection without a fault
}

// kinds returns how many kinds of messages have names.
func (r *records) kinds() int {
	if r.Codec == nil {
		return 0
	}
	return r.Codec.Kinds()
}

// kind returns the name of a message kind.
func (r *records) kind(index int) string {
	if index < r.kinds() {
		return r.Codec.Name(index)
	}
	return fmt.Sprintf("message of kind %d", index)
}

// A stream is the messages of a node on a link, or its multicasts, as one incarnation of the receiver hears
// them.
type stream struct {
	from, to nodes.ID
	hearer   uint32 // incarnation of the receiver
	multi    bool
}

// A hearing is the part of a stream that comes from one incarnation of the sender.
type hearing struct {
	sender      uint32 // incarnation of the sender
	first, last uint64 // numbers of its first and its last message
}

// hear takes an event by which a process begins to hear the stream of another incarnation of a sender.
func (r *records) hear(event *history.Event) {
	if event.Kind != history.LinkBegan && event.Kind != history.MulticastBegan {
		return
	}
	s := stream{nodes.ID(event.Count), event.Node, r.sections.Incarnation(event.Node),
		event.Kind == history.MulticastBegan}
	all := r.heard[s]
	switch last := len(all) - 1; {
	case last >= 0:
		all[last].last = event.Fence
	case s.hearer == 0 && event.Fence > 0:
		all = append(all, hearing{0, 1, event.Fence})
	}
	if r.heard == nil {
		r.heard = map[stream][]hearing{}
	}
	r.heard[s] = append(all, hearing{event.Entry, uint64(event.Value), math.MaxUint64})
}

// hearings returns what the process of a log has heard from a node, given the number of the last message.
func (r *records) hearings(l *history.NodeLog, from nodes.ID, multi bool, last uint64) []hearing {
	all := r.heard[stream{from, l.Node, l.Incarnation, multi}]
	if len(all) == 0 {
		if last == 0 {
			return nil
		}
		return []hearing{{0, 1, last}}
	}
	latest := &all[len(all)-1]
	latest.last = last
	if latest.last < latest.first { // the process died while it received the first message
		latest.last = latest.first - 1
	}
	return all
}

// died reports whether the process of a log was killed. The result is false for a log without streams, as in
// a simulation: such a log covers all incarnations, and a death leaves no gap in its counts.
func (r *records) died(l *history.NodeLog) bool {
	for i := range r.sections.Deaths {
		if d := &r.sections.Deaths[i]; d.Node == l.Node && d.Incarnation == l.Incarnation {
			return len(l.SentTo) > 0
		}
	}
	return false
}

// upSince returns when an incarnation of a node came up.
func (r *records) upSince(id nodes.ID, incarnation uint32) int64 {
	if incarnation == 0 {
		return math.MinInt64
	}
	for i := range r.sections.Deaths {
		if d := &r.sections.Deaths[i]; d.Node == id && d.Incarnation+1 == incarnation {
			return d.Back
		}
	}
	return math.MaxInt64
}

// downSince reports whether a node was down at some moment after a time, from the given incarnation on.
func (r *records) downSince(id nodes.ID, incarnation uint32, at int64) bool {
	for i := range r.sections.Deaths {
		if d := &r.sections.Deaths[i]; d.Node == id && d.Incarnation >= incarnation && d.Back > at {
			return true
		}
	}
	return false
}

// auditLives compares the ends of all streams of a run in which nodes have died. A death explains messages
// that are missing at the end of a stream from the dead process, and messages to the dead node until its next
// incarnation heard a message.
func (r *records) auditLives(a *audit) {
	of := map[nodes.ID][]*history.NodeLog{} // the logs of each node, by incarnation
	for _, l := range r.logs {
		if len(l.SentTo) > 0 {
			of[l.Node] = append(of[l.Node], l)
			a.toDeaths -= int64(l.Totals.Strays) // strays came, but the streams of dead senders lack them
		}
	}
	for _, from := range r.logs {
		all := r.ends(from)
		for number := range from.SentTo {
			to := nodes.ID(number % all)
			if to == from.Node {
				continue
			}
			r.auditStream(a, from, of[to], number/all, false, from.SentTo[number])
			if number < r.Config.N { // servers do not hear multicasts
				r.auditStream(a, from, of[to], 0, true, from.Totals.MultiSent)
			}
		}
		if held := r.held(from); r.died(from) && held > 0 {
			a.toDeaths += held
		}
	}
}

// ends returns how many nodes the streams of a log are to and from. Streams on a second network come after
// the streams on the first.
func (r *records) ends(l *history.NodeLog) int {
	if r.Codec != nil {
		if networks := r.Codec.Networks(); len(l.SentTo) >= networks*r.Config.N {
			return max(1, len(l.SentTo)/networks)
		}
	}
	return max(1, len(l.SentTo))
}

// auditStream compares a stream from the process of one log with what the processes of its receiver heard.
func (r *records) auditStream(a *audit, from *history.NodeLog, to []*history.NodeLog, network int, multi bool,
	sent uint64) {
	if len(to) == 0 {
		return // the receiver left no log, which Missing reports
	}
	began, next, hearer := r.upSince(from.Node, from.Incarnation), uint64(1), uint32(0)
	missing := func(count uint64, explained bool) {
		if explained || count == 0 {
			a.toDeaths += int64(count)
			return
		}
		what := "link"
		if multi {
			what = "multicasts"
		}
		a.lost += count
		a.lines = append(a.lines, fmt.Sprintf("%s %d -> %d: %d sent, %d missing before number %d", what, from.Node,
			to[0].Node, sent, count, next))
	}
	for _, l := range to {
		number := int(from.Node) + network*r.ends(l)
		last := at(l.ReceivedFrom, number)
		if multi {
			last = at(l.MultiFrom, number)
		}
		for _, h := range r.hearings(l, nodes.ID(number), multi, last) {
			if h.sender != from.Incarnation {
				continue
			}
			if r.died(l) {
				h.last = min(h.last, sent)
			}
			if h.first < next || h.last > sent {
				a.repeats++
				a.lines = append(a.lines, fmt.Sprintf("link %d -> %d: %d sent, and numbers %d to %d came again or late",
					from.Node, l.Node, sent, h.first, h.last))
			}
			if gap := h.first - min(h.first, next); gap > 0 {
				next = h.first
				if from.Totals.Disconnects+l.Totals.Disconnects > 0 { // a lost connection may be the cause
					a.withBroker += gap
				} else {
					missing(gap, l.Incarnation > 0 && r.upSince(l.Node, l.Incarnation) > began)
				}
			}
			next, hearer = max(next, h.last+1), l.Incarnation
		}
	}
	floor := at(from.Floor, int(to[0].Node)+network*r.ends(from))
	if multi {
		floor = from.Totals.MultiFloor
	}
	if up := min(sent, floor) + 1; up > next { // messages lost with a connection
		a.withBroker += up - next
		next = up
	}
	if tail := sent + 1 - min(sent+1, next); tail > 0 {
		next = sent + 1
		missing(tail, r.died(from) || r.downSince(to[0].Node, hearer, began))
	}
}

// received returns how many messages the process of a log has received, repeats included.
func (r *records) received(l *history.NodeLog) (count int64) {
	for from := range nodes.ID(len(l.ReceivedFrom)) {
		for _, multi := range []bool{false, true} {
			last := l.ReceivedFrom[from]
			if multi {
				last = at(l.MultiFrom, int(from))
			}
			for _, h := range r.hearings(l, from, multi, last) {
				count += int64(h.last + 1 - h.first)
			}
		}
	}
	t := &l.Totals
	return count + int64(t.Repeats) + int64(t.Strays) - int64(t.Gaps) - int64(t.Explained)
}

// held returns how many messages the process of a log has received, and neither handled nor dropped.
func (r *records) held(l *history.NodeLog) int64 {
	sum := l.Sum()
	held := r.received(l) + int64(sum.Copied) - int64(sum.Dropped)
	for _, k := range sum.Kinds {
		held -= int64(k.Delivered)
	}
	return held
}

// unsent returns how many messages the process of a log has numbered but not counted as sent.
func (r *records) unsent(l *history.NodeLog) (count int64) {
	for _, n := range l.SentTo {
		count += int64(n)
	}
	count += int64(l.Totals.MultiSent) * int64(r.hearers(l.Node))
	for _, k := range l.Sum().Kinds {
		count -= int64(k.Sent)
	}
	return count
}

// hearers returns how many nodes hear a broadcast of a node.
func (r *records) hearers(id nodes.ID) int {
	if int(id) >= r.Config.N {
		return r.Config.N
	}
	return r.Config.N - 1
}

// An audit compares sent and received messages, stream by stream. A lost connection to the broker explains
// missing messages up to the floor that the sender recorded; a death explains messages to or from the dead
// process. If nothing explains a difference, the transport has lost or repeated messages, and the run shows
// nothing about the algorithm.
type audit struct {
	balanced      bool // the ends of the streams were compared as well
	gaps, repeats uint64
	lost          uint64
	withBroker    uint64   // messages lost with connections to the broker
	toDeaths      int64    // messages to dead processes, or that died with them
	lines         []string // describes the nodes and links where something is wrong
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
			continue // no streams: the log of the orchestrator, or of a simulated node
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

// compare compares the ends of a stream. Messages up to its floor may have been lost with a connection. The
// receiver has counted messages that are missing before the end as gaps.
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

// loss: every message has arrived, once.
func loss(e *evidence) Finding {
	switch {
	case e.Lacks.Counts:
		return notJudged("not judged: the history has no counts")
	case !e.audit.clean():
		return inconclusive("%s", e.audit.text()).with(fewOf(e.audit.lines, len(e.audit.lines))...)
	case len(e.disconnected) > 0:
		return inconclusive("%s", e.disconnected[0]).with(fewOf(e.disconnected, len(e.disconnected))...)
	case !e.audit.balanced:
		return e.unjudged("messages may still have been on their way")
	}
	if lost := e.audit.withBroker; lost > 0 {
		return valid("%s lost with connections to the broker; all others came, unless a fault dropped them",
			english.Count(lost, "message was", "messages were"))
	}
	if lost := e.audit.toDeaths; lost > 0 {
		return valid("every message came, except %s to or from nodes that died, "+
			"and messages that faults dropped", english.Count(uint64(lost), "message", "messages"))
	}
	if e.faulty() {
		return valid("every message came, unless a fault dropped it")
	}
	return valid("every message came, once and in order")
}

// unjudged returns the finding of a check that needs a run that came to rest.
func (e *evidence) unjudged(why string) Finding {
	return inconclusive("not judged, since the run did not come to rest: %s", why)
}

// disconnect takes an event by which a node lost its connection to the broker. That explains lost messages
// only if a fault that loses messages had begun before.
func (r *records) disconnect(event *history.Event) {
	if r.brokenBy(event.At, nodes.NoLoss) == 0 {
		r.disconnected = append(r.disconnected, fmt.Sprintf("%s lost its connection to the broker at %v, and no "+
			"fault had taken it away", name(event.Node), time.Duration(event.At).Round(time.Millisecond)))
	}
}
