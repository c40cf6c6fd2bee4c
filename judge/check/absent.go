package check

import (
	"time"

	"turnstile/judge/leadership"
	"turnstile/judge/section"
	"turnstile/nodes"
)

// An absence is a time in which a leader stood still, or was cut off from all others.
type absence struct {
	leadership.Span
	leader nodes.ID
	says   string
	of     func(*Fault, *section.Fault) bool // whether a fault brought it about
	spares nodes.Assumption                  // what it breaks that a crash does not
}

// absences returns those that count like a crash of the leader: of an algorithm that has a grace and rests on
// neither crashes nor what the absence breaks, unless it hears of crashes alone.
func (e *elected) absences() (all []absence) {
	s, needs := e.sections, e.Safe|e.Live
	if e.Grace == 0 || e.Replayed || e.Oracle || needs&nodes.NoCrash != 0 {
		return nil
	}
	add := func(from, to int64, leader nodes.ID, a absence) {
		if a.Span = (leadership.Span{From: from, To: min(to, e.leaders.End)}); a.Length() > int64(e.Grace) {
			a.leader = leader
			all = append(all, a)
		}
	}
	for _, p := range s.Pauses {
		id := nodes.ID(p.Process)
		if needs&nodes.NoPause == 0 && int(p.Process) < e.Config.N && e.led(id, p.From) {
			add(p.From, p.To, id, absence{says: "stood still", spares: nodes.NoPause | nodes.Timing,
				of: func(asked *Fault, f *section.Fault) bool {
					return asked.Stops != nil && asked.Stops(id, f.Victim)
				}})
		}
	}
	for i := range s.Faults {
		f := &s.Faults[i]
		for id := range nodes.ID(e.Config.N) {
			if needs&nodes.NoLoss == 0 && e.cutsOff(f, id) && e.led(id, f.From) {
				add(f.From, f.To, id, absence{says: "was cut off", spares: nodes.NoLoss,
					of: func(_ *Fault, other *section.Fault) bool { return other == f }})
			}
		}
	}
	return all
}

// led reports whether a node took itself for the leader at a time.
func (e *elected) led(id nodes.ID, at int64) bool {
	for i := range e.leaders.Beliefs {
		if b := &e.leaders.Beliefs[i]; b.Node == id && b.Leads() && b.From <= at && at <= b.To {
			return true
		}
	}
	return false
}

// cutsOff reports whether a fault keeps a node apart from all others, and these from none of each other.
func (e *elected) cutsOff(f *section.Fault, id nodes.ID) bool {
	cut := e.asked(f).Separates
	for a := range nodes.ID(e.Config.N) {
		for b := range a {
			if cut == nil || cut(a, b, f.Victim) != (a == id || b == id) {
				return false
			}
		}
	}
	return cut != nil
}

// unreplaced looks for a leader that was absent for longer than the algorithm may take to replace one that
// crashed, while no other was followed and nothing else had gone wrong.
func (e *elected) unreplaced() (f Finding, is bool) {
	for _, a := range e.absences() {
		for _, calm := range e.stretches(e.troubles(&a)) {
			for _, lack := range e.leaders.Forsaken {
				had := stretch{leadership.Span{From: max(a.From, calm.From, lack.From),
					To: min(a.To, calm.To, lack.To)}}
				if had.Length() < int64(e.Patience()) || e.brokenIn(had.span(), e.Live&^a.spares) != 0 {
					continue
				}
				return violated("%s led and %s from %v on, and for %v not all others followed another leader: "+
					"as after a crash, that takes %v at most", name(a.leader), a.says, rounded(e.since(a.From)),
					rounded(time.Duration(had.Length())), rounded(e.Patience())), true
			}
		}
	}
	return f, false
}

func rounded(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
