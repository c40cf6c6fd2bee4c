package check

import (
	"fmt"
	"math"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// records holds what nodes have counted, and what they have recorded of messages.
type records struct {
	*model
	recorded     [][][]uint64 // messages, by instance, node and kind
	heard        map[stream][]hearing
	logs         []*history.NodeLog
	sum          history.InstanceTotals // of all logs
	books        Finding                // of accounting
	audit        audit
	disconnected []string // nodes that lost their connections though no fault took them away
}

// kinds returns how many kinds of messages are known.
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

// A stream is what one incarnation of a node sent on a link or, with multicast set, in its multicasts, as one
// incarnation of a node heard it.
type stream struct {
	from, to nodes.ID
	hearer   uint32 // incarnation of the receiver
	multi    bool
}

// A hearing is the part of a stream that one process has heard.
type hearing struct {
	sender      uint32 // incarnation
	first, last uint64 // numbers of messages
}

// hear takes an event by which a process hears another stream than it would if nobody had died.
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

// hearings returns what the process of a log has heard of a node, given the number of the last message.
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
	if latest.last < latest.first { // it died as it took the first one in
		latest.last = latest.first - 1
	}
	return all
}

// died reports whether the process of a log was killed. Where there are no streams, as in a simulation, the
// log is of all incarnations, and exact.
func (r *records) died(l *history.NodeLog) bool {
	for i := range r.sections.Deaths {
		if d := &r.sections.Deaths[i]; d.Node == l.Node && d.Incarnation == l.Incarnation {
			return len(l.SentTo) > 0
		}
	}
	return false
}

// upSince returns when an incarnation of a node was up.
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

// downSince reports whether a node was down at a moment after a time, after the given incarnation or a later
// one.
func (r *records) downSince(id nodes.ID, incarnation uint32, at int64) bool {
	for i := range r.sections.Deaths {
		if d := &r.sections.Deaths[i]; d.Node == id && d.Incarnation >= incarnation && d.Back > at {
			return true
		}
	}
	return false
}

// auditLives compares the ends of all streams of a run in which nodes have died. A death explains what is
// missing at the end of a stream of the dead, and what went to the dead until the next incarnation heard it.
func (r *records) auditLives(a *audit) {
	of := map[nodes.ID][]*history.NodeLog{} // by incarnation
	for _, l := range r.logs {
		if len(l.SentTo) > 0 {
			of[l.Node] = append(of[l.Node], l)
			a.toDeaths -= int64(l.Totals.Strays) // they are at the end of a stream that is over
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

// ends returns how many nodes the streams of a log are to and from. Where there is a second network, the
// streams on that come behind those on the first.
func (r *records) ends(l *history.NodeLog) int {
	if r.Codec != nil {
		if networks := r.Codec.Networks(); len(l.SentTo) >= networks*r.Config.N {
			return max(1, len(l.SentTo)/networks)
		}
	}
	return max(1, len(l.SentTo))
}

// auditStream compares a stream of the process of a log on a network with what the processes of its receiver
// heard of it.
func (r *records) auditStream(a *audit, from *history.NodeLog, to []*history.NodeLog, network int, multi bool,
	sent uint64) {
	if len(to) == 0 {
		return // it left no log, which is on record
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
				if from.Totals.Disconnects+l.Totals.Disconnects > 0 { // nothing tells it from what went with a connection
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
	if up := min(sent, floor) + 1; up > next { // lost with a connection
		a.withBroker += up - next
		next = up
	}
	if tail := sent + 1 - min(sent+1, next); tail > 0 {
		next = sent + 1
		missing(tail, r.died(from) || r.downSince(to[0].Node, hearer, began))
	}
}

// received returns how many messages the process of a log has taken in, each time that they came.
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

// held returns how many messages the process of a log has taken in, and neither handled nor dropped.
func (r *records) held(l *history.NodeLog) int64 {
	sum := l.Sum()
	held := r.received(l) + int64(sum.Copied) - int64(sum.Dropped)
	for _, k := range sum.Kinds {
		held -= int64(k.Delivered)
	}
	return held
}

// unsent returns how many messages the process of a log has numbered, and not counted as sent.
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
