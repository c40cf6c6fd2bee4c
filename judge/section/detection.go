package section

import (
	"maps"
	"math"
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A Detection measures how well failure detectors report which nodes are down.
//
// The time of detection is from the crash of a node until another node that stayed up suspects it; 0 if that
// node suspected it already. If the node restarts before it is suspected, the crash does not count at all.
type Detection struct {
	Suspicions uint64 // of all nodes, in the whole run
	Wrong      uint64 // suspicions of nodes that were up
	WrongStill uint64 // of these, suspicions of nodes that stood still: see Fold.stoodStill

	Detected   uint64 // crashes that were detected, counted for each node that detected them
	Undetected uint64 // crashes that were not detected when the history ended, counted likewise
	Sum, Most  int64  // sum and maximum of detection times, in ns; undetected crashes count with their age

	Crashes []Known // what became of each crash

	suspected map[nodes.ID]nodes.Set // by node: the nodes that it suspects
	wrong     map[suspicion]bool     // current suspicions of nodes that are up
	crashes   map[nodes.ID]*crash    // the crashes of the nodes that are down
}

// A Known is a crash, and the nodes that knew of it until the node restarted or the history ended.
type Known struct {
	Node      nodes.ID
	At, Until int64
	By        nodes.Set // the nodes that have suspected it, or were down since
	Last      int64     // when the last of them came to suspect it, if that was after the crash
	Who       nodes.ID  // that last node
}

// A suspicion is one node's suspicion of another.
type suspicion struct{ by, of nodes.ID }

// A crash is the crash of a node that may still be detected.
type crash struct {
	at     int64
	knows  nodes.Set // the nodes that have detected it, or were down since
	last   int64     // when a node detected it last
	lastBy nodes.ID
}

// over adds a crash that can no longer be detected to Crashes.
func (d *Detection) over(of nodes.ID, c *crash, until int64) {
	d.Crashes = append(d.Crashes, Known{of, c.at, until, c.knows.Clone(), c.last, c.lastBy})
}

func newDetection() Detection {
	return Detection{suspected: map[nodes.ID]nodes.Set{}, wrong: map[suspicion]bool{},
		crashes: map[nodes.ID]*crash{}}
}

// suspect takes the beginning or the end of a suspicion. down means that the suspected node is down.
func (d *Detection) suspect(e *history.Event, down bool) {
	of, suspected := nodes.ID(e.Count), d.suspected[e.Node]
	if e.Kind == history.Trusted {
		suspected.Remove(of)
		d.suspected[e.Node] = suspected
		delete(d.wrong, suspicion{e.Node, of})
		return
	}
	d.Suspicions++
	if !down {
		d.Wrong++
		d.wrong[suspicion{e.Node, of}] = true
	}
	if of < 0 || of >= maxSuspect {
		return // no such node: the history is garbled
	}
	suspected.Add(of)
	d.suspected[e.Node] = suspected
	if c := d.crashes[of]; c != nil && e.Node >= 0 && c.knows.Add(e.Node) {
		d.Detected++
		d.took(e.At - c.at)
		c.last, c.lastBy = e.At, e.Node
	}
}

// maxSuspect bounds the number of a node: a larger one in a garbled history would take too much memory.
const maxSuspect = 1 << 24

func (d *Detection) took(time int64) {
	d.Sum += time
	d.Most = max(d.Most, time)
}

// crash takes the crash of a node. The node detects no more. Nodes that suspect it have detected the crash.
func (d *Detection) crash(e *history.Event) {
	if e.Node < 0 || e.Node >= maxSuspect {
		return
	}
	delete(d.suspected, e.Node)
	for s := range d.wrong { // suspicions of the node become right, and its own suspicions end
		if s.by == e.Node || s.of == e.Node {
			delete(d.wrong, s)
		}
	}
	for _, c := range d.crashes {
		c.knows.Add(e.Node)
	}
	c := &crash{at: e.At}
	c.knows.Add(e.Node)
	d.crashes[e.Node] = c
	for by, suspected := range d.suspected {
		if suspected.Has(e.Node) && c.knows.Add(by) {
			d.Detected++
		}
	}
}

func (d *Detection) restart(e *history.Event) {
	if c := d.crashes[e.Node]; c != nil {
		d.over(e.Node, c, e.At)
		delete(d.crashes, e.Node)
	}
}

// close counts the undetected crashes, for each node that is up.
func (d *Detection) close(end int64, down map[nodes.ID]dead, logs []*history.NodeLog) {
	for _, of := range slices.Sorted(maps.Keys(d.crashes)) {
		c := d.crashes[of]
		d.over(of, c, end)
		for _, l := range logs {
			if _, isDown := down[l.Node]; l.Node < 0 || isDown || !c.knows.Add(l.Node) {
				continue
			}
			d.Undetected++
			d.took(end - c.at)
		}
	}
}

// suspect takes a suspicion of a failure detector, or its end.
func (f *Fold) suspect(e *history.Event) {
	_, down := f.dead[nodes.ID(e.Count)]
	f.Detection.suspect(e, down)
	if e.Kind == history.Suspected && !down && f.stoodStill(e.Count, e.At) {
		f.Detection.WrongStill++
	}
	f.err(e)
}

// stoodStill reports whether a process stands still at a time, or went on shortly before: no longer ago than
// it had stood still. Until then others may miss what it did not send.
func (f *Fold) stoodStill(process uint32, at int64) bool {
	for _, p := range slices.Backward(f.Pauses) {
		if p.Process == process {
			return p.To == math.MaxInt64 || at-p.To <= p.To-p.From
		}
	}
	return false
}

// err notes when detectors begin to suspect nodes that are up, and when no such suspicion is left.
func (f *Fold) err(e *history.Event) {
	last := len(f.Wrongs) - 1
	goesOn := last >= 0 && f.Wrongs[last].To == math.MaxInt64
	switch wrong := len(f.Detection.wrong) > 0; {
	case wrong && !goesOn:
		f.Wrongs = append(f.Wrongs, Wrong{Window{e.At, math.MaxInt64}, e.Node, nodes.ID(e.Count)})
	case !wrong && goesOn:
		f.Wrongs[last].To = e.At
	default:
		return
	}
	f.turn(e)
}
