package measure

import (
	"math"
	"slices"

	"turnstile/internal/figure"
	"turnstile/judge/section"
)

// A phase is a part of the window, before, during or after a fault, with its figures.
type phase struct {
	section.Window // To is math.MaxInt64 while the phase goes on
	entries        uint64
	refused        uint64 // entries whose write the resource refused
	waits          Latency
	overlap        int64
	first, last    counters // the counters when the phase began and ended
}

// counters are the numbers of messages at some time.
type counters struct {
	known         bool
	sent, dropped uint64
}

// fill adds the figures of phase i to its fault, unless the phase has no length.
func (p *phase) fill(row *OfFault, i int) {
	if p == nil || !p.Known() {
		return
	}
	row.Entries[i], row.Refused[i] = figure.Count(p.entries), figure.Count(p.refused)
	row.Accepted[i] = figure.Count(p.accepted())
	row.PerS[i] = figure.Number(p.rate() * 1e9)
	row.WaitUS[i] = OfWaits{p.waits.MicrosAt(0.5), p.waits.MicrosAt(0.99), p.waits.MicrosAt(1)}
	row.OverlapUS[i] = figure.Number(float64(p.overlap) / 1e3)
	// Counters never fall. If they do, the history is wrong.
	if p.first.known && p.last.known && p.last.sent >= p.first.sent && p.last.dropped >= p.first.dropped {
		row.Messages[i] = figure.Count(p.last.sent - p.first.sent)
		row.Dropped[i] = figure.Count(p.last.dropped - p.first.dropped)
	}
}

// accepted returns how many of the entries were not refused.
func (p *phase) accepted() uint64 { return p.entries - p.refused }

// rate returns accepted entries per nanosecond of a phase that has a length.
func (p *phase) rate() float64 { return float64(p.accepted()) / float64(p.Length()) }

// phases has the open phases, and the closed ones in the order of their ends. A wait or an overlap that ends
// now may overlap any open phase and the latest closed ones.
type phases struct{ open, closed []*phase }

// begin returns a new phase from a time on.
func (ps *phases) begin(at int64) *phase {
	p := &phase{Window: section.Window{From: at, To: math.MaxInt64}}
	ps.open = append(ps.open, p)
	return p
}

// end ends a phase, if it is open. at must not be earlier than the end of any other phase.
func (ps *phases) end(p *phase, at int64) {
	if p == nil || !ps.drop(p) {
		return
	}
	p.To = at
	ps.close(p)
}

// close adds a closed phase, unless it has no length.
func (ps *phases) close(p *phase) {
	if p.Known() {
		ps.closed = append(ps.closed, p)
	}
}

// drop removes an open phase, and reports whether it was open.
func (ps *phases) drop(p *phase) bool {
	for i, o := range ps.open {
		if o == p {
			ps.open = append(ps.open[:i], ps.open[i+1:]...)
			return true
		}
	}
	return false
}

// eachOverlapping calls do for every phase that overlaps [from, to].
func (ps *phases) eachOverlapping(from, to int64, do func(*phase)) {
	for _, p := range ps.open {
		if p.Touches(from, to) {
			do(p)
		}
	}
	for i := len(ps.closed) - 1; i >= 0 && ps.closed[i].To > from; i-- {
		if p := ps.closed[i]; p.Touches(from, to) {
			do(p)
		}
	}
}

// Healed names the figures that are counted from the heal of a fault on, beside the Phases.
const Healed = "healed"

// OfPhase are the figures of one phase of a fault, or from its heal on: the columns of faults.csv.
type OfPhase struct {
	Number int    `csv:"number"`        // number of the planned fault, from 1
	Fault  string `csv:"fault,outside"` // description of the fault
	Phase  string `csv:"phase"`         // one of Phases, or Healed
	FromS  number `csv:"from_s"`        // when the phase began, from the beginning of the window
	ToS    number `csv:"to_s"`

	Entries     number `csv:"entries" of:"exclusion"`
	Accepted    number `csv:"accepted" of:"exclusion"`
	Refused     number `csv:"refused" of:"exclusion"`
	EntriesPerS number `csv:"entries_per_s" of:"exclusion"`
	WaitUSP50   number `csv:"wait_us_p50" of:"exclusion"`
	WaitUSP99   number `csv:"wait_us_p99" of:"exclusion"`
	WaitUSMax   number `csv:"wait_us_max" of:"exclusion"`
	OverlapUS   number `csv:"overlap_us" of:"exclusion"`
	Messages    number `csv:"messages"`
	Dropped     number `csv:"dropped"`

	NextEntryS       number `csv:"next_entry_s" of:"exclusion"` // only of "during" and "healed", from its start
	OldRateS         number `csv:"old_rate_s" of:"exclusion"`   // only of the phase "healed"
	Unfinished       number `csv:"unfinished" of:"exclusion"`   // only of the phase "healed"
	EpochBefore      number `csv:"epoch_before" of:"exclusion"` // only of "during", like the next four
	EpochAfter       number `csv:"epoch_after" of:"exclusion"`
	EpochsNew        number `csv:"epochs_new" of:"exclusion"`
	SilenceS         number `csv:"silence_s" of:"exclusion"`
	SilenceTextbookS number `csv:"silence_textbook_s" of:"exclusion"`

	Elections     number `csv:"elections" of:"leaders"`
	ElectUSP50    number `csv:"elect_us_p50" of:"leaders"`
	ElectUSMax    number `csv:"elect_us_max" of:"leaders"`
	LeaderlessUS  number `csv:"leaderless_us" of:"leaders"`
	TwoLeadersUS  number `csv:"two_leaders_us" of:"leaders"`
	Flaps         number `csv:"flaps" of:"leaders"`
	LeaderChanges number `csv:"leader_changes" of:"leaders"`
	AgreedS       number `csv:"agreed_s" of:"leaders"` // only of the phase "healed"
}

// ByPhases returns the figures of a fault by phase, in the order of Phases, and from its heal on if it was
// healed. FaultOf is its inverse.
func (f *OfFault) ByPhases() []OfPhase {
	var all []OfPhase
	for i, name := range Phases {
		p := OfPhase{Number: f.Number, Fault: f.Fault, Phase: name}
		p.copyPhase(f, i, func(to, from *number) { *to = *from })
		all = append(all, p)
	}
	before, during, after := &all[Before], &all[During], &all[After]
	if before.FromS = f.BeforeFromS; f.BeforeFromS.Known() {
		before.ToS = f.FromS
	}
	during.FromS, during.ToS = f.FromS, f.EndS
	if f.Healed {
		during.ToS = f.ToS
	}
	if after.ToS = f.AfterToS; f.AfterToS.Known() {
		after.FromS = f.ToS
	}
	during.copyBegun(f, func(to, from *number) { *to = *from })
	if f.Healed {
		healed := OfPhase{Number: f.Number, Fault: f.Fault, Phase: Healed, FromS: f.ToS}
		healed.copyHealed(f, func(to, from *number) { *to = *from })
		all = append(all, healed)
	}
	return all
}

// FaultOf returns the fault with these figures by phase.
func FaultOf(phases []OfPhase) (f OfFault) {
	back := func(from, to *number) { *to = *from }
	for i := range phases {
		p := &phases[i]
		f.Number, f.Fault = p.Number, p.Fault
		if p.Phase == Healed {
			f.Healed, f.ToS = true, p.FromS
			p.copyHealed(&f, back)
			continue
		}
		at := slices.Index(Phases[:], p.Phase)
		if at < 0 {
			continue
		}
		switch p.copyPhase(&f, at, back); at {
		case Before:
			f.BeforeFromS = p.FromS
		case During:
			f.FromS, f.EndS = p.FromS, p.ToS
			p.copyBegun(&f, back)
		case After:
			f.AfterToS = p.ToS
		}
	}
	if f.Healed {
		f.EndS = figure.Figure{}
	}
	return f
}

// copyPhase copies the figures of one phase, from the fault or into it.
func (p *OfPhase) copyPhase(f *OfFault, i int, do func(of, in *number)) {
	do(&p.Entries, &f.Entries[i])
	do(&p.Accepted, &f.Accepted[i])
	do(&p.Refused, &f.Refused[i])
	do(&p.EntriesPerS, &f.PerS[i])
	do(&p.WaitUSP50, &f.WaitUS[i].P50)
	do(&p.WaitUSP99, &f.WaitUS[i].P99)
	do(&p.WaitUSMax, &f.WaitUS[i].Max)
	do(&p.OverlapUS, &f.OverlapUS[i])
	do(&p.Messages, &f.Messages[i])
	do(&p.Dropped, &f.Dropped[i])
	do(&p.Elections, &f.Elections[i])
	do(&p.ElectUSP50, &f.ElectUS[i].P50)
	do(&p.ElectUSMax, &f.ElectUS[i].Max)
	do(&p.LeaderlessUS, &f.LeaderlessUS[i])
	do(&p.TwoLeadersUS, &f.TwoLeadersUS[i])
	do(&p.Flaps, &f.Flaps[i])
	do(&p.LeaderChanges, &f.Changes[i])
}

// copyBegun copies the figures that are counted from the beginning of the fault on.
func (p *OfPhase) copyBegun(f *OfFault, do func(of, in *number)) {
	do(&p.NextEntryS, &f.NextEntryS)
	do(&p.EpochBefore, &f.EpochBefore)
	do(&p.EpochAfter, &f.EpochAfter)
	do(&p.EpochsNew, &f.EpochsNew)
	do(&p.SilenceS, &f.SilenceS)
	do(&p.SilenceTextbookS, &f.SilenceTextbookS)
}

// copyHealed copies the figures that are counted from the heal of the fault on.
func (p *OfPhase) copyHealed(f *OfFault, do func(of, in *number)) {
	do(&p.NextEntryS, &f.HealedNextEntryS)
	do(&p.OldRateS, &f.OldRateS)
	do(&p.Unfinished, &f.Unfinished)
	do(&p.AgreedS, &f.HealedAgreedS)
}
