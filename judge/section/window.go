package section

import (
	"math"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A Window is the time [From, To) of a run. Its zero value is empty.
type Window struct{ From, To int64 }

// A Wrong is a time during which failure detectors suspected nodes that were up.
type Wrong struct {
	Window
	By, Of nodes.ID // the first of these suspicions: By suspected Of
}

// unseen is a window that has not begun: it contains no time.
var unseen = Window{math.MaxInt64, math.MaxInt64}

// Known reports whether the window is not empty.
func (w Window) Known() bool { return w.To > w.From }

// Has reports whether a time is in the window. While the end of the window is not known, To is the latest
// possible time. The answer stays right, since events are read in the order of time.
func (w Window) Has(at int64) bool { return w.From <= at && at < w.To }

// Touches reports whether the time [from, to], both included, overlaps the window. Like Has, it is right
// while a history is read.
func (w Window) Touches(from, to int64) bool { return w.From <= to && from < w.To }

// Length returns how long the window is, in nanoseconds.
func (w Window) Length() int64 { return max(0, w.To-w.From) }

// Overlap returns how much of [from, to) lies in the window.
func (w Window) Overlap(from, to int64) int64 { return max(0, min(to, w.To)-max(from, w.From)) }

// A Mark says when the history first has a mark. If Seen is false, the history never has the mark.
type Mark struct {
	At    int64
	Value int64 // its meaning depends on the mark, such as history.Stalled
	Seen  bool
}

// A Pause is a time in which a process stood still. It ends with the history if the process did not go on.
type Pause struct {
	Process  uint32 // which process: see history.Paused
	From, To int64
}

// pause takes the beginning or the end of a pause.
func (f *Fold) pause(e *history.Event) {
	if e.Kind == history.Paused {
		f.Pauses = append(f.Pauses, Pause{e.Count, e.At, math.MaxInt64})
		return
	}
	f.proceed(e.Count, e)
}

// proceed ends the pause of a process, if it stands still.
func (f *Fold) proceed(process uint32, e *history.Event) {
	for i := range f.Pauses {
		if p := &f.Pauses[i]; p.Process == process && p.To == math.MaxInt64 {
			p.To = e.At
			f.turn(e)
		}
	}
}

// A Fault is a fault that took place, from its beginning until its heal or the end of the history.
type Fault struct {
	Number   uint32 // its number in the run, from 1
	From, To int64
	Healed   bool
	Breaks   nodes.Assumption
	Victim   nodes.ID // the node that it hit, if the run chose the node; otherwise None
	Nodes    uint64   // how many nodes it hit when it began
	Servers  []int    // the servers of a service that it hit when it began
	Hits     uint64   // messages that it hit, known once it is healed
	HitAt    int64    // when it hit the first of them; 0: unknown
	Until    int64    // when that is over: see port.FaultEvent.Until; 0: unknown
	Before   uint64   // entries from the beginning of the window to the beginning of the fault
	Entries  uint64   // entries while it lasted
	After    uint64   // entries after it was healed
}

// fault takes the beginning or the end of a fault.
func (f *Fold) fault(e *history.Event) {
	if e.Kind == history.FaultBegan {
		f.Faults = append(f.Faults, Fault{Number: e.Count, From: e.At, To: math.MaxInt64,
			Breaks: nodes.Assumption(e.Value), Victim: nodes.ID(e.Entry) - 1, Nodes: e.Fence,
			Servers: e.ServersHit(), Before: f.EntriesInWindow})
		return
	}
	for i := range f.Faults {
		if fault := &f.Faults[i]; fault.Number == e.Count {
			fault.To, fault.Healed, fault.Hits = e.At, true, uint64(e.Value)
			fault.HitAt, fault.Until = e.FirstHit(), int64(e.Fence)
		}
	}
}

// throughFaults counts an entry for the faults that are in force, and for the healed ones. An entry that
// triggered a fault does not count for that fault.
func (f *Fold) throughFaults(at int64) {
	for i := range f.Faults {
		switch fault := &f.Faults[i]; {
		case fault.Healed:
			fault.After++
		case at > fault.From:
			fault.Entries++
		}
	}
}

// mark takes a mark. The window begins after the warm-up, and ends when issuing stops or the run ends early.
func (f *Fold) mark(e *history.Event) {
	if int(e.Count) >= len(f.Marks) || f.Marks[e.Count].Seen {
		return
	}
	f.Marks[e.Count] = Mark{e.At, e.Value, true}
	switch e.Count {
	case history.Measuring:
		f.Window.From = e.At
	case history.Stopped, history.Interrupted, history.Stalled:
		f.Window.To = min(f.Window.To, e.At)
	}
}
