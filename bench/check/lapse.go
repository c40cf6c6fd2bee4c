package check

import (
	"slices"
	"time"

	"turnstile/bench/leadership"
	"turnstile/nodes"
)

// lapse: a leader that cannot reach a majority knows within the time that its row promises. It cannot while
// faults cut it off, or others are down; time in which it or others stand still is not judged.
func lapse(e *Fold) Finding {
	if e.Lapse == 0 {
		return notJudged("a leader without a majority may never know it")
	}
	within := e.Lapse + e.Slack
	judged := false
	for i := range e.leaders.Beliefs {
		b := &e.leaders.Beliefs[i]
		if !b.Leads() {
			continue
		}
		for _, alone := range e.minorityOf(b) {
			judged = true
			if had := time.Duration(alone.to - alone.from); had > within {
				f := violated("%s led for %v without a majority, and is to know within %v", name(b.Node),
					had.Round(time.Millisecond), within)
				return e.excuse(f, span{alone.from, alone.to, int64(e.Grace)}, nodes.NoPause|nodes.Timing)
			}
		}
	}
	if !judged {
		return notJudged("every leader could reach a majority")
	}
	return valid("every leader without a majority knew it within %v", within)
}

// minorityOf returns the stretches of a belief in which its node could reach no majority, in order.
func (e *Fold) minorityOf(b *leadership.Belief) (all []span) {
	turns := []int64{b.From, b.To}
	add := func(times ...int64) {
		for _, at := range times {
			if at > b.From && at < b.To {
				turns = append(turns, at)
			}
		}
	}
	for i := range e.sections.Faults {
		if f := &e.sections.Faults[i]; e.asked(f).Separates != nil {
			add(f.From, f.To)
		}
	}
	for i := range e.sections.Deaths {
		add(e.sections.Deaths[i].From, e.sections.Deaths[i].Back)
	}
	slices.Sort(turns)
	for i := range len(turns) - 1 {
		from, to := turns[i], turns[i+1]
		if from == to || 2*e.reached(b.Node, from) > e.Config.N {
			continue
		}
		if last := len(all) - 1; last >= 0 && all[last].to == from {
			all[last].to = to
			continue
		}
		all = append(all, span{from, to, 0})
	}
	return all
}

// reached returns how many clients a node could reach at a time and be reached by, itself included.
func (e *Fold) reached(from nodes.ID, at int64) (n int) {
	for id := range nodes.ID(e.Config.N) {
		if id == from || e.wasUp(id, at) && !e.separated(from, id, at) {
			n++
		}
	}
	return n
}

func (e *Fold) wasUp(id nodes.ID, at int64) bool {
	for i := range e.sections.Deaths {
		if d := &e.sections.Deaths[i]; d.Node == id && d.From <= at && at < d.Back {
			return false
		}
	}
	return true
}

func (e *Fold) separated(a, b nodes.ID, at int64) bool {
	for i := range e.sections.Faults {
		f := &e.sections.Faults[i]
		if cut := e.asked(f).Separates; cut != nil && f.From <= at && at < f.To && cut(a, b, f.Victim) {
			return true
		}
	}
	return false
}
