package check

import (
	"cmp"
	"fmt"
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// requests follows each client from request to entry to exit.
type requests struct {
	span // that is measured

	entries      uint64
	steady       uint64 // entries in the span
	due, issued  uint64 // arrivals due in the span, and those of them that were requested
	unregistered uint64 // entries that did not raise the register
	abandoned    uint64 // requests whose node crashed before they were granted
	open         map[client]request
	down         map[nodes.ID]int64 // since when a node is, that crashed and has not come up
	wrong        []string           // what no client does
}

// A span is the time from one mark to another.
type span struct{ from, to mark }

// has reports whether a time lies in the span, its end not included.
func (s span) has(at int64) bool {
	return s.from.seen && at >= s.from.at && s.to.seen && at < s.to.at
}

type client struct {
	node     nodes.ID
	instance uint16
}

type request struct {
	asked, entered history.Event
	inside         bool
}

func (r *requests) Add(e history.Event) {
	if r.open == nil {
		r.open, r.down = map[client]request{}, map[nodes.ID]int64{}
	}
	who := client{e.Node, e.Instance}
	was, busy := r.open[who]
	switch e.Kind {
	case history.Requested:
		r.arrival(e)
		r.blameIf(busy, e, "asks before its last request is over")
		r.open[who] = request{asked: e}
	case history.Entered:
		r.entries++
		if r.has(e.At) {
			r.steady++
		}
		if e.Count == 0 {
			r.unregistered++
		}
		r.blameIf(!busy || was.inside || was.asked.Entry != e.Entry, e, "enters without a request")
		r.open[who] = request{asked: was.asked, entered: e, inside: true}
	case history.Exited:
		r.blameIf(!was.inside || was.entered.Entry != e.Entry, e, "leaves without an entry")
		r.blameIf(was.inside && e.Value != was.entered.Value+1, e, "does not add one to the account")
		delete(r.open, who)
	case history.Unissued:
		if since, down := r.down[e.Node]; !down || e.Value < since { // a node that is down has no client
			r.arrival(e)
		}
	case history.Restarted:
		delete(r.down, e.Node)
	case history.Crashed:
		r.down[e.Node] = e.At
		for who, o := range r.open {
			if who.node == e.Node {
				delete(r.open, who)
				if !o.inside {
					r.abandoned++
				}
			}
		}
	}
}

// Close has nothing to do: what is open stays open.
func (r *requests) Close() {}

func (r *requests) blameIf(wrong bool, e history.Event, does string) {
	if wrong {
		r.wrong = append(r.wrong, fmt.Sprintf("%s %s (entry %d, at %s)", name(e.Node), does, e.Entry, us(e.At)))
	}
}

func (r *requests) arrival(e history.Event) {
	if !r.has(e.Value) {
		return
	}
	r.due++
	if e.Kind == history.Requested {
		r.issued++
	}
}

// unserved splits the open requests, the oldest first, into those that wait and those that are inside.
func (r *requests) unserved() (waiting, inside []request) {
	for _, o := range r.open {
		if o.inside {
			inside = append(inside, o)
		} else {
			waiting = append(waiting, o)
		}
	}
	older := func(a, b request) int {
		return cmp.Or(cmp.Compare(a.asked.At, b.asked.At), cmp.Compare(a.asked.Node, b.asked.Node),
			cmp.Compare(a.asked.Instance, b.asked.Instance))
	}
	slices.SortFunc(waiting, older)
	slices.SortFunc(inside, older)
	return waiting, inside
}
