package sim

import (
	"time"

	"turnstile/nodes"
	"turnstile/nodes/row"
)

// detectors are the failure detectors of a run. They never come to rest, so what they do is told apart: a run
// is over, or has stalled, when nothing else is left to happen, and they have found out all that there is.
type detectors struct {
	instances []bool // which instances are detectors; nil: none is
	oracle    int32  // the instance that is told by the world; -1: none is
	delay     int64  // how long after a crash or a restart it is told

	hushed bool   // they do nothing more
	idling int    // messages and timers of theirs that are to come
	alone  uint64 // steps since something else was to come

	down      []bool      // by node
	suspected []nodes.Set // by node: whom it suspects
	untrue    int         // for each observer, the nodes that are up and suspected, or down and not suspected
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

// idle reports whether nothing is left to happen but what detectors do, and they know who is down: they would
// say nothing new. Some never know, since messages take longer than their timeouts; they get time for as many
// messages as the patience allows. If no request is open, the detectors are hushed, and what is on its way
// arrives.
func (w *world) idle() bool {
	if w.instances == nil || w.hushed {
		return false
	}
	if w.queue.size != w.idling {
		w.alone = 0
		return false
	}
	total := uint64(len(w.processes))
	if w.alone++; w.untrue > 0 && w.alone < w.Patience+4000*total*total {
		return false
	}
	w.hushed = w.open == 0
	return !w.hushed
}

// suspect records what the detector of a node says of another.
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
		w.untrue--
	default:
		w.untrue++
	}
}

// falls and begins follow a node that goes down, or comes up again with machines that suspect nobody.
func (w *world) falls(id nodes.ID) {
	if w.instances == nil {
		return
	}
	w.untrue -= w.untrueOf(id)
	w.down[id] = true
	w.turned(id)
}

func (w *world) begins(id nodes.ID) {
	if w.instances == nil {
		return
	}
	w.down[id] = false
	w.suspected[id].Clear()
	w.untrue += w.untrueOf(id)
	w.turned(id)
	for of, down := range w.down {
		if down {
			w.tellLater(id, nodes.ID(of))
		}
	}
}

// untrueOf returns of how many others the detector of a node does not know whether they are up.
func (w *world) untrueOf(id nodes.ID) (n int) {
	for of, down := range w.down {
		if nodes.ID(of) != id && down != w.suspected[id].Has(nodes.ID(of)) {
			n++
		}
	}
	return n
}

// turned counts what the detectors of the others do not know now that a node is down or up, and has them told
// if they are told.
func (w *world) turned(id nodes.ID) {
	for by := range w.processes {
		switch by := nodes.ID(by); {
		case by == id || w.down[by]:
			continue
		case w.suspected[by].Has(id) == w.down[id]:
			w.untrue--
		default:
			w.untrue++
		}
		w.tellLater(nodes.ID(by), id)
	}
}

// tellLater plans that a node is told of another, if its detector is one that is told.
func (w *world) tellLater(by, of nodes.ID) {
	if w.oracle >= 0 {
		w.plan(w.now+w.delay, toTell, by).input.From = of
	}
}

// told tells a node whether another is up, unless it knows. All its machines hear of it.
func (w *world) told(p *nodes.Process, of nodes.ID) {
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
