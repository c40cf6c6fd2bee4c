package measure

import (
	"math"
	"slices"

	"turnstile/internal/figure"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A FaultFold measures the effects of faults. It observes the fold of the sections, and takes memory for
// faults, not for events.
type FaultFold struct {
	sections    *section.Fold
	phases      phases
	since       *phase // the phase since the latest heal, or since the beginning of the window
	faults      []*fault
	healed      []*fault // faults whose phase After goes on
	begunQuiet  []*fault // faults since whose beginning no client has entered
	healedQuiet []*fault // faults since whose heal no client has entered
	shot        *shot    // the first kill whose fault has not begun yet; nil: none
	struck      nodes.ID // the victim of a fault that has begun, and whose kill is not known yet; None: none
	down        map[nodes.ID]bool
	over        bool // the window is over
	waiting     bool // a request was never served
	edges       []*counters
	edgesAt     int64                     // the time to which the counters in edges belong
	epoch       func(fence uint64) uint64 // epoch of a fence number; nil: the algorithm has no epochs
	latest      uint64                    // the highest epoch of an entry
	line        timeline
	last        int64 // time of the latest entry, heal or end of the window
}

// A fault is a fault that began, with the phases of the window around it; a phase may be nil.
type fault struct {
	number           uint32
	from, to         int64
	struck           int64    // when it took effect: a node may be dead before its fault has begun
	victim           nodes.ID // the node that the run determined, or None
	healed           bool
	phases           ByPhase[*phase]
	next, nextHealed int64 // times of the first entry after the beginning and after the heal, or none
	recovery         recovery
	unfinished       uint64
	old, new, epochs uint64 // highest epoch before this fault and before the next; number of new epochs between
	heard, silence   int64  // time of the fault or the latest accepted entry; longest time without such an entry
}

const none = math.MinInt64

// A shot is a SIGKILL of a node. Its fault begins once the process has ended, or before if the node kills
// itself.
type shot struct {
	node     nodes.ID
	at, next int64 // next is the first entry of another node since, or none
}

// NewFaults returns a fold of the same history as s. epoch returns the epoch in which a fence number was
// handed out; nil: the algorithm has no epochs.
func NewFaults(s *section.Fold, epoch func(fence uint64) uint64) *FaultFold {
	f := &FaultFold{sections: s, epoch: epoch, struck: nodes.None, down: map[nodes.ID]bool{}}
	s.Observe(&settling{to: f, open: map[clientOf]uint64{}})
	return f
}

// Asked implements section.Observer.
func (f *FaultFold) Asked(*section.Section) {}

// Entered implements section.Observer. s.Refused is already known: see settling.
func (f *FaultFold) Entered(s *section.Section) {
	at := s.Entered
	for _, p := range f.phases.open {
		if p.Has(at) {
			if p.entries++; s.Refused {
				p.refused++
			}
		}
	}
	f.wait(s.Due, at, true)
	if !s.Refused {
		f.endSilence(at)
		for _, x := range f.healed {
			x.recovery.enter(at)
		}
	}
	f.countEpoch(s.Fence)
	if f.shot != nil && f.shot.next == none && f.shot.node != s.Node {
		f.shot.next = at
	}
	f.begunQuiet = slices.DeleteFunc(f.begunQuiet, func(x *fault) bool {
		if s.Node == x.victim && at <= x.from { // this entry triggered the fault
			return false
		}
		x.next = at
		return true
	})
	for _, x := range f.healedQuiet {
		x.nextHealed = at
	}
	f.healedQuiet = f.healedQuiet[:0]
	if f.since != nil {
		f.line.enter(at, at-s.Due, s.Refused)
		f.last = at
	}
}

// endSilence ends a time without an accepted entry since the latest fault, at an accepted entry or when the
// next fault or the window's end comes. After the window, nothing counts: few requests are left to be served.
func (f *FaultFold) endSilence(at int64) {
	if last := len(f.faults) - 1; last >= 0 && !f.over {
		x := f.faults[last]
		x.silence, x.heard = max(x.silence, at-x.heard), max(x.heard, at)
	}
}

// countEpoch takes the fence number of an entry, and counts its epoch for the latest fault if it is new.
func (f *FaultFold) countEpoch(fence uint64) {
	if f.epoch == nil || f.epoch(fence) <= f.latest {
		return
	}
	f.latest = f.epoch(fence)
	if last := len(f.faults) - 1; last >= 0 {
		f.faults[last].new = f.latest
		f.faults[last].epochs++
	}
}

// wait adds a wait to all phases that it overlaps.
func (f *FaultFold) wait(from, to int64, ended bool) {
	f.phases.eachOverlapping(from, to, func(p *phase) { p.waits.add(to-from, ended) })
}

// Ended implements section.Observer.
func (f *FaultFold) Ended(s *section.Section) {
	if !s.Served() {
		f.wait(s.Due, s.Ended, false)
	}
	f.waiting = f.waiting || s.State == section.Unserved
	if s.State == section.Exited || s.State == section.Revoked || s.State == section.Unissued ||
		s.State == section.GaveUp {
		return
	}
	for _, x := range f.faults {
		if x.healed && s.Asked < x.to { // the request was open at the heal
			x.unfinished++
		}
	}
}

// Overlapped implements section.OverlapObserver.
func (f *FaultFold) Overlapped(_ *section.Resource, when section.Window) {
	f.phases.eachOverlapping(when.From, when.To, func(p *phase) { p.overlap += p.Overlap(when.From, when.To) })
}

// Add implements history.Fold.
func (f *FaultFold) Add(e history.Event) {
	switch e.Kind {
	case history.Killed:
		switch {
		case f.down[e.Node]: // the node recorded its death, and so did the run
		case f.struck == e.Node: // its fault has begun already
			f.struck = nodes.None
		case f.shot == nil:
			f.shot = &shot{node: e.Node, at: e.At, next: none}
		}
		f.down[e.Node] = true
	case history.Restarted:
		delete(f.down, e.Node)
		if f.shot != nil && f.shot.node == e.Node {
			f.shot = nil
		}
	case history.FaultBegan:
		f.begin(&e)
	case history.FaultHealed:
		f.heal(&e)
	case history.Marked:
		f.mark(&e)
	case history.Counted:
		for _, edge := range f.edges {
			if f.edgesAt == e.At {
				*edge = counters{true, uint64(e.Value), e.Fence}
			}
		}
		f.edges = f.edges[:0]
	}
}

// edge registers counters for a time. The Counted event of that time fills them in.
func (f *FaultFold) edge(at int64, of ...*counters) {
	if f.edgesAt != at {
		f.edges, f.edgesAt = f.edges[:0], at
	}
	f.edges = append(f.edges, of...)
}

// measuring reports whether the window has begun and is not over.
func (f *FaultFold) measuring() bool { return f.since != nil && !f.over }

func (f *FaultFold) begin(e *history.Event) {
	x := &fault{number: e.Count, from: e.At, struck: e.At, victim: nodes.ID(e.Entry) - 1, next: none,
		nextHealed: none, old: f.latest, new: f.latest, heard: e.At}
	if nodes.Assumption(e.Value)&nodes.NoCrash != 0 {
		if f.struck = x.victim; f.shot != nil {
			x.struck, x.next, f.shot, f.struck = f.shot.at, f.shot.next, nil, nodes.None
		}
	}
	f.edge(e.At)
	f.endAfter(e.At)
	f.endSilence(e.At)
	if f.measuring() {
		before := *f.since
		before.waits, before.To = f.since.waits.clone(), e.At
		x.phases[Before] = &before
		f.phases.close(x.phases[Before])
		f.edge(e.At, &x.phases[Before].last)
	}
	if f.since == nil || f.measuring() {
		x.phases[During] = f.open(e.At)
	}
	if f.faults = append(f.faults, x); x.next == none {
		f.begunQuiet = append(f.begunQuiet, x)
	}
}

// endAfter ends the phase After of all healed faults.
func (f *FaultFold) endAfter(at int64) {
	for _, x := range f.healed {
		f.end(x.phases[After], at)
		x.recovery.end(at)
	}
	f.healed = f.healed[:0]
}

// open begins a phase, which counts nothing before the window.
func (f *FaultFold) open(at int64) *phase {
	if f.since == nil {
		at = math.MaxInt64
	}
	p := f.phases.begin(at)
	f.edge(f.edgesAt, &p.first)
	return p
}

// end ends a phase, if it goes on.
func (f *FaultFold) end(p *phase, at int64) {
	if p != nil && p.To == math.MaxInt64 {
		f.phases.end(p, at)
		f.edge(at, &p.last)
	}
}

func (f *FaultFold) heal(e *history.Event) {
	f.edge(e.At)
	for _, x := range slices.Backward(f.faults) {
		if x.number != e.Count || x.healed {
			continue
		}
		x.to, x.healed = e.At, true
		f.end(x.phases[During], e.At)
		if f.measuring() {
			f.phases.drop(f.since)
			f.since = f.open(e.At)
			x.phases[After] = f.open(e.At)
			x.recovery = recoveryFrom(e.At, x.phases[Before])
			f.healed = append(f.healed, x)
		}
		if f.since != nil {
			f.last = max(f.last, e.At)
		}
		f.healedQuiet = append(f.healedQuiet, x)
		return
	}
}

func (f *FaultFold) mark(e *history.Event) {
	switch {
	case e.Count == history.Measuring && f.since == nil:
		f.edge(e.At)
		f.line.from, f.last = e.At, e.At
		f.since = f.phases.begin(e.At)
		f.edge(e.At, &f.since.first)
		for _, p := range f.phases.open {
			if p.From == math.MaxInt64 {
				p.From = e.At
				f.edge(e.At, &p.first)
			}
		}
	case f.since != nil && f.sections.Window.To == e.At:
		f.edge(e.At)
		f.endWindow()
	}
}

// endWindow ends all phases with the window.
func (f *FaultFold) endWindow() {
	at := f.sections.Window.To
	f.last = max(f.last, at)
	f.endSilence(at)
	f.over = true
	f.endAfter(at)
	for _, p := range slices.Clone(f.phases.open) {
		f.end(p, at)
	}
}

// Close implements history.Fold.
func (f *FaultFold) Close([]*history.NodeLog) {
	if f.since == nil {
		return
	}
	f.endWindow()
	if f.last > f.line.from {
		f.line.reach(f.last - 1)
	}
}

// Timeline returns the entries from the beginning of the window to the last event that counts, in equal
// intervals.
func (f *FaultFold) Timeline() []OfInterval { return f.line.rows() }

// Rows returns the rows of faults.csv in the order of the beginnings of the faults. The function what
// describes a fault by its number. The parameter leaders has the measures of a run with leaders, or is nil.
func (f *FaultFold) Rows(what func(number int) string, leaders *Leaders) (rows []OfFault) {
	for _, x := range f.faults {
		row := f.row(x, what(int(x.number)))
		if leaders != nil {
			leaders.fillFault(&row, x)
		}
		rows = append(rows, row)
	}
	return rows
}

// row returns the figures of a fault.
func (f *FaultFold) row(x *fault, what string) OfFault {
	row := OfFault{Number: int(x.number), Fault: what, Healed: x.healed,
		NextEntryS: f.until(x.struck, x.next)}
	if f.since != nil && x.from < f.sections.Window.To {
		row.SilenceS = seconds(x.silence)
	}
	for i, p := range x.phases {
		p.fill(&row, i)
	}
	if f.epoch != nil {
		row.EpochBefore, row.EpochAfter = figure.Count(x.old), figure.Count(x.new)
		row.EpochsNew = figure.Count(x.epochs)
	}
	if f.since != nil {
		row.FromS = seconds(x.from - f.line.from)
		f.bounds(&row, x)
	}
	if !x.healed {
		return row
	}
	if f.since != nil {
		row.ToS = seconds(x.to - f.line.from)
	}
	row.HealedNextEntryS = f.until(x.to, x.nextHealed)
	if x.recovery.found {
		row.OldRateS = seconds(x.recovery.after)
	}
	// In a run that was interrupted, open requests might have ended later.
	if marks := &f.sections.Marks; marks[history.Rested].Seen || marks[history.Stalled].Seen {
		row.Unfinished = figure.Count(x.unfinished)
	}
	return row
}

// bounds adds the bounds of the phases of a fault.
func (f *FaultFold) bounds(row *OfFault, x *fault) {
	if p := x.phases[Before]; p != nil && p.Known() {
		row.BeforeFromS = seconds(p.From - f.line.from)
	}
	if p := x.phases[During]; p != nil && p.Known() && !x.healed {
		row.EndS = seconds(p.To - f.line.from)
	}
	if p := x.phases[After]; p != nil && p.Known() {
		row.AfterToS = seconds(p.To - f.line.from)
	}
}

// until returns the time from one moment to the next entry. Without an entry it is at least the rest of the
// history if a request waited, and unknown otherwise.
func (f *FaultFold) until(from, entered int64) figure.Figure {
	switch {
	case entered != none:
		return seconds(entered - from)
	case f.waiting:
		return figure.AtLeast(float64(f.sections.End-from) / 1e9)
	}
	return figure.Figure{}
}

// After a heal, time is divided into intervals of a twentieth of the phase before the fault, at least 50 ms
// and long enough for ten entries. The old rate is back in the first interval with nine tenths of
// the entries at that rate.
const (
	intervalsBefore = 20
	shortestNS      = 50e6
	entriesInEach   = 10
	muchAsBefore    = 0.9
)

// A recovery finds when the old rate is back after a fault. The zero value does nothing.
type recovery struct {
	from, width int64
	need        float64 // how many entries an interval must have
	current     int64   // number of the current interval
	entries     float64 // entries in the current interval
	found       bool
	after       int64 // from the heal until the old rate was back
}

// recoveryFrom returns a recovery to the rate of the phase before, from a time on.
func recoveryFrom(at int64, before *phase) recovery {
	if before == nil || !before.Known() || before.accepted() == 0 {
		return recovery{}
	}
	length := float64(before.Length())
	width := max(length/intervalsBefore, shortestNS, entriesInEach/before.rate())
	if width > length {
		return recovery{} // too few entries for a rate
	}
	w := int64(math.Ceil(width))
	return recovery{from: at, width: w, need: muchAsBefore * before.rate() * float64(w)}
}

// enter takes an entry. Entries come in the order of their times.
func (r *recovery) enter(at int64) {
	if r.width == 0 || r.found {
		return
	}
	if now := (at - r.from) / r.width; now > r.current {
		r.end(at)
		r.current, r.entries = now, 0
	}
	r.entries++
}

// end notes that the old rate is back if the current interval is over at a time, and has enough entries.
func (r *recovery) end(at int64) {
	begun := r.current * r.width
	if r.width > 0 && !r.found && r.from+begun+r.width <= at && r.entries >= r.need {
		r.found, r.after = true, begun
	}
}

// A timeline counts entries in equal intervals. Beyond mostIntervals it merges them in pairs.
type timeline struct {
	from   int64
	length int64 // length of an interval, in nanoseconds
	counts []entered
}

// An entered counts the entries of an interval: all of them, and the refused ones. wait is their longest
// wait, in nanoseconds.
type entered struct {
	all, refused uint64
	wait         int64
}

const (
	mostIntervals = 512
	shortest      = 1000 // length of the shortest interval, in nanoseconds
)

// enter counts an entry after a wait, at a time that is not before the line begins.
func (t *timeline) enter(at, wait int64, refused bool) {
	n := &t.counts[t.reach(at)]
	n.wait = max(n.wait, wait)
	if n.all++; refused {
		n.refused++
	}
}

// reach extends the line beyond a time, and returns the index of the interval with that time.
func (t *timeline) reach(at int64) int {
	t.length = max(t.length, shortest)
	for (at-t.from)/t.length >= mostIntervals {
		half := t.counts[:0]
		for i, n := range t.counts {
			if i%2 == 0 {
				half = append(half, n)
			} else {
				half[i/2].all += n.all
				half[i/2].refused += n.refused
				half[i/2].wait = max(half[i/2].wait, n.wait)
			}
		}
		t.counts, t.length = half, 2*t.length
	}
	i := int((at - t.from) / t.length)
	for len(t.counts) <= i {
		t.counts = append(t.counts, entered{})
	}
	return i
}

// rows returns the figures of each interval.
func (t *timeline) rows() (rows []OfInterval) {
	for i, n := range t.counts {
		from := int64(i) * t.length
		row := OfInterval{FromS: seconds(from), ToS: seconds(from + t.length),
			Entries: figure.Count(n.all), Refused: figure.Count(n.refused)}
		if n.all > 0 {
			row.WaitUSMax = micros(n.wait)
		}
		rows = append(rows, row)
	}
	return rows
}

func seconds(ns int64) figure.Figure { return figure.Number(float64(ns) / 1e9) }

func micros(ns int64) figure.Figure { return figure.Number(float64(ns) / 1e3) }
