package sim

import (
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// detectors are the failure detectors of a run. They never stop sending, so their events are counted apart: a
// run is over, or has stalled, when no other event is left, and every detector is right about every node.
type detectors struct {
	instances []bool // by instance: whether it is a detector; nil: the run has no detectors
	oracle    int32  // the oracle: the detector that the simulator tells who is up; -1: the run has none
	delay     int64  // how long after a crash or a restart the oracle is told

	silenced bool   // detectors no longer handle messages and timers
	idling   int    // planned messages and timers of detectors
	alone    uint64 // steps since an event of another instance was last planned

	down      []bool      // by node: whether it is down
	suspected []nodes.Set // by node: the nodes that it suspects
	wrong     int         // number of wrong opinions: that a node up is down, or that a node down is up
}

func newDetectors(stack *algorithm.Stack) detectors {
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
// happen. Some detectors are never right, since messages take longer than their timeouts; idle waits for them
// as many steps as the patience allows. If no request is open, idle instead silences the detectors, so their
// messages on the way can arrive.
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
		return // in tests only: a machine of a test acts as failure detector
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

// nodeDown updates the detectors for a node that goes down. nodeUp does so for a node that comes up again,
// whose detector then suspects nobody.
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

// wrongOf returns the number of other nodes about which the detector of a node is wrong.
func (w *world) wrongOf(id nodes.ID) (n int) {
	for of, down := range w.down {
		if nodes.ID(of) != id && down != w.suspected[id].Has(nodes.ID(of)) {
			n++
		}
	}
	return n
}

// nodeChanged updates w.wrong for the other nodes after a node went down or up. If the detector is an oracle,
// it also plans to tell these nodes.
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
