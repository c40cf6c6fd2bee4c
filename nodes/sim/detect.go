package sim

import (
	"time"

	"turnstile/nodes"
	"turnstile/nodes/row"
)

// detectors are the failure detectors of a run. They never come to rest, so their events are counted apart: a
// run is over, or has stalled, when no other event is left, and every detector is right about every node.
type detectors struct {
	instances []bool // by instance: it is a detector; nil: the run has no detectors
	oracle    int32  // the instance that the world tells; -1: none
	delay     int64  // how long after a crash or a restart it is told

	silenced bool   // detectors handle no more messages and timers
	idling   int    // planned messages and timers of detectors
	alone    uint64 // steps since an event of another instance was planned

	down      []bool      // by node
	suspected []nodes.Set // by node: the nodes that it suspects
	wrong     int         // number of wrong opinions: of a node up but suspected, or down but not
}

func newDetectors(stack *row.Stack) detectors {
	d := detectors{instances: stack.Detectors(), oracle: -1}
	if d.instances == nil {
		return d
	}
	for i, in := range stack.Instances() {
		if told := in.Told; told != nil {
			d.oracle, d.delay = int32(i), int64(max(told(in.Config), time.Nanosecond))
		}
	}
	d.down, d.suspected = make([]bool, stack.Total()), make([]nodes.Set, stack.Total())
	return d
}

// detects reports whether an instance is a failure detector.
func (d *detectors) detects(instance int32) bool { return d.instances != nil && d.instances[instance] }

// idle reports whether only events of detectors are left, and all detectors are right, so nothing new can
// happen. Some are never right, since messages take longer than their timeouts; they get as many steps as the
// patience allows. If no request is open, idle instead silences the detectors, so their messages on the way
// can arrive.
func (w *world) idle() bool {
	if w.instances == nil || w.silenced {
		return false
	}
	if w.queue.size != w.idling {
		w.alone = 0
		return false
	}
	total := uint64(len(w.processes))
	if w.alone++; w.wrong > 0 && w.alone < w.Patience+4000*total*total {
		return false
	}
	w.silenced = w.open == 0
	return !w.silenced
}

// suspect records that the detector of a node suspects or trusts another.
func (w *world) suspect(by, of nodes.ID, instance int32, suspects bool) {
	w.lab.Suspect(by, of, instance, suspects)
	if w.instances == nil || of < 0 || int(of) >= len(w.down) {
		return // a test's own detector
	}
	changed := false
	if suspects {
		changed = w.suspected[by].Add(of)
	} else {
		changed = w.suspected[by].Remove(of)
	}
	switch {
	case !changed:
	case suspects == w.down[of]:
		w.wrong--
	default:
		w.wrong++
	}
}

// nodeDown updates the detectors for a node that goes down, and nodeUp for one that comes up again, at first
// without suspicions.
func (w *world) nodeDown(id nodes.ID) {
	if w.instances == nil {
		return
	}
	w.wrong -= w.wrongOf(id)
	w.down[id] = true
	w.nodeChanged(id)
}

func (w *world) nodeUp(id nodes.ID) {
	if w.instances == nil {
		return
	}
	w.down[id] = false
	w.suspected[id].Clear()
	w.wrong += w.wrongOf(id)
	w.nodeChanged(id)
	for of, down := range w.down {
		if down {
			w.tellLater(id, nodes.ID(of))
		}
	}
}

// wrongOf returns about how many others the detector of a node is wrong.
func (w *world) wrongOf(id nodes.ID) (n int) {
	for of, down := range w.down {
		if nodes.ID(of) != id && down != w.suspected[id].Has(nodes.ID(of)) {
			n++
		}
	}
	return n
}

// nodeChanged updates wrong for the other nodes after a node went down or up, and plans to tell them if the
// detector is an oracle.
func (w *world) nodeChanged(id nodes.ID) {
	for by := range w.processes {
		switch by := nodes.ID(by); {
		case by == id || w.down[by]:
			continue
		case w.suspected[by].Has(id) == w.down[id]:
			w.wrong--
		default:
			w.wrong++
		}
		w.tellLater(nodes.ID(by), id)
	}
}

// tellLater plans to tell a node about another, if the detector is an oracle.
func (w *world) tellLater(by, of nodes.ID) {
	if w.oracle >= 0 {
		w.plan(w.now+w.delay, toTell, by).input.From = of
	}
}

// tellOracle tells all machines of a node whether another is up, unless the node knows.
func (w *world) tellOracle(p *nodes.Process, of nodes.ID) {
	down := w.down[of]
	if down == w.suspected[p.ID()].Has(of) {
		return
	}
	w.suspect(p.ID(), of, w.oracle, down)
	in := nodes.Input{Kind: nodes.Trust, From: of}
	if down {
		in.Kind = nodes.Suspect
	}
	w.feed(p, &in)
}
