package section

import (
	"cmp"
	"math"
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A Death ends an incarnation of a node. Its process ended between From, when it was killed, and At, when it
// was found dead. In a simulation both are the same.
type Death struct {
	Node        nodes.ID
	Incarnation uint32
	From, At    int64
	Back        int64 // when its next incarnation was up; math.MaxInt64: never
}

// Minorities returns when no more than half of n clients were up, in order.
func (f *Fold) Minorities(n int) (all []Window) {
	if 2*len(f.Deaths) < n {
		return nil
	}
	type change struct{ at, down int64 }
	var changes []change
	for _, d := range f.Deaths {
		if d.Node >= 0 && int(d.Node) < n {
			changes = append(changes, change{d.From, 1}, change{d.Back, -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.down, a.down))
	})
	up, few := int64(n), false
	for _, c := range changes {
		up -= c.down
		switch now := 2*up <= int64(n); {
		case now && !few:
			all = append(all, Window{c.at, math.MaxInt64})
		case few && !now:
			all[len(all)-1].To = c.at
		}
		few = 2*up <= int64(n)
	}
	return all
}

// Incarnation returns how often a node has restarted so far.
func (f *Fold) Incarnation(id nodes.ID) uint32 { return f.incarnations[id] }

// A dead node is down, or was killed and is about to be.
type dead struct {
	since int64 // when it was killed
	at    int64 // when it was down; math.MaxInt64: not yet
}

// crashed takes a Killed or Crashed event of a node. After Killed, the node may still act, until an unknown
// time. So a section that is inside ends with Killed, and a later one as soon as it enters.
func (f *Fold) crashed(e *history.Event) {
	d, known := f.dead[e.Node]
	f.breaks(nodes.NoCrash, e)
	if !known {
		d = dead{e.At, math.MaxInt64}
	}
	if e.Kind == history.Crashed && d.at == math.MaxInt64 {
		d.at = e.At
		f.Deaths = append(f.Deaths, Death{e.Node, f.incarnations[e.Node], d.since, e.At, math.MaxInt64})
		f.Detection.crash(e)
		f.err(e)
		f.proceed(uint32(e.Node), e) // a pause of the dead node is over
		f.turn(e)
	}
	f.dead[e.Node] = d
	for _, r := range f.Resources {
		if r == nil || e.Node < 0 {
			continue
		}
		c := r.client(e.Node)
		if s := c.open; s != nil && (s.State == inside || e.Kind == history.Crashed) {
			c.orphan(r, s.Units)
			f.cut(s, e.At, Crashed, Abandoned)
		} else if s != nil {
			c.orphan(r, s.Units)
		}
		if e.Kind == history.Crashed {
			if c.updated {
				c.updated = false
				r.undone++
			}
			r.takenOut += c.orphaned
			c.orphaned = 0
		}
	}
	if e.Kind == history.Crashed && e.Count > 0 {
		f.resource(e.Instance).unknown += e.Count
	}
}

// orphan notes that the register may still count so many units of a client whose process may have ended.
func (c *Client) orphan(r *Resource, units uint32) {
	if units > c.orphaned {
		r.orphaned += units - c.orphaned
		c.orphaned = units
	}
}

// restarted begins the next incarnation of a node.
func (f *Fold) restarted(e *history.Event) {
	delete(f.dead, e.Node)
	f.Detection.restart(e)
	f.incarnations[e.Node] = e.Count
	for i := len(f.Deaths) - 1; i >= 0; i-- {
		if d := &f.Deaths[i]; d.Node == e.Node {
			d.Back = e.At
			f.turn(e)
			return
		}
	}
}

// afterKill takes an event of a client whose node was killed. An entry is over at once. An event after the
// process has ended is irregular.
func (f *Fold) afterKill(e *history.Event, d dead, r *Resource, c *Client) {
	if e.At-f.clocks.all > d.at {
		f.irregular(e, "does something though it is down")
		delete(f.dead, e.Node)
		f.follow(e, r, c)
		return
	}
	switch e.Kind {
	case history.Requested:
		f.ask(e, r, c)
		c.orphan(r, c.open.Units)
		if d.at != math.MaxInt64 {
			f.cut(c.open, e.At, Crashed, Abandoned)
		}
	case history.Entered:
		f.enter(e, r, c)
		f.cut(c.open, e.At, Crashed, Abandoned)
	case history.GaveUp:
		f.cut(c.open, e.At, Crashed, GaveUp)
	default:
		c.Left++
		r.step(e)
		if e.Kind == history.Exited && !e.Refused() {
			r.updated(c, d.at != math.MaxInt64)
			r.wrote(e.Value, math.MinInt64)
		}
	}
}
