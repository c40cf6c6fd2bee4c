package check

import (
	"slices"
	"time"

	"turnstile/bench/section"
	"turnstile/internal/english"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A secluded fold gathers the entries of clients that could reach no majority when they entered.
type secluded struct {
	entries uint64
	broken  []seclusion                   // the first of those that its row rules out
	entered map[nodes.ID]map[uint64]int64 // when a client entered last in an epoch, by that
}

// A seclusion is an entry that was made in a minority, and since when its client had reached no majority.
type seclusion struct {
	section.Section
	since int64
}

// mostSecluded is how many entries are kept of which one is to convict.
const mostSecluded = 1000

// seclude takes an entry.
func (e *Fold) seclude(s *section.Section) {
	faulty := len(e.sections.Faults)+len(e.sections.Deaths) > 0
	if s.Node < 0 || int(s.Node) >= e.Config.N {
		return
	}
	if faulty && 2*e.side(s.Node, s.Entered) <= e.Config.N {
		e.secluded.entries++
		if e.Minority > 0 && s.Resource.Instance == 0 {
			e.judgeSecluded(s)
		}
	}
	if e.Keeps && s.Resource.Instance == 0 {
		e.noteEpoch(s)
	}
}

// judgeSecluded looks whether the row rules an entry out that was made in a minority.
func (e *Fold) judgeSecluded(s *section.Section) {
	all := e.minorityOf(s.Node, e.sections.Marks[history.Began].At, s.Entered+1, e.side)
	since := all[len(all)-1].from
	if s.Entered-since <= int64(e.Minority+e.Slack) || e.Keeps && !e.begun(s, since) {
		return
	}
	if len(e.secluded.broken) < mostSecluded {
		e.secluded.broken = append(e.secluded.broken, seclusion{*s, since})
	}
}

// noteEpoch notes when a client has entered in an epoch last.
func (e *Fold) noteEpoch(s *section.Section) {
	if e.secluded.entered == nil {
		e.secluded.entered = map[nodes.ID]map[uint64]int64{}
	}
	of := e.secluded.entered[s.Node]
	if of == nil {
		of = map[uint64]int64{}
		e.secluded.entered[s.Node] = of
	}
	of[e.Epoch(s.Fence)] = s.Entered
}

// begun reports whether the epoch of an entry is sure to have begun after a time. An epoch begins when more
// than half of the clients have promised to enter in no lower one. So it had not if half of them did later,
// and after what was on its way at that time.
func (e *Fold) begun(s *section.Section, since int64) bool {
	epoch, later := e.Epoch(s.Fence), 0
	for _, of := range e.secluded.entered {
		for lower, at := range of {
			if lower < epoch && at > since+int64(e.Settles) {
				later++
				break
			}
		}
	}
	return 2*later >= e.Config.N
}

// minority: a client that can reach no majority enters no more, from when its failure detector knows, if its
// row promises that. It cannot while faults cut it off or others are down. Of a row that keeps what it has,
// it enters in no epoch that began since.
func minority(e *Fold) Finding {
	few := english.Count(e.secluded.entries, "entry was", "entries were")
	if e.Minority == 0 {
		return notJudged("%s made in a minority, of which nothing is promised", few)
	}
	if len(e.secluded.broken) == 0 {
		return valid("%s made in a minority, as far as the algorithm allows", few)
	}
	needs := e.Safe | nodes.NoPause | nodes.Timing // that timers are in time, and what exclusion rests on
	within := func(s *seclusion) span { return span{s.since, s.Entered, int64(e.Grace)} }
	s, what := &e.secluded.broken[0], ""
	for i := range e.secluded.broken {
		if b := &e.secluded.broken[i]; e.brokenIn(within(b), needs) == 0 {
			s = b
			break
		}
	}
	if e.Keeps {
		what = " in an epoch that began since"
	}
	f := violated("%s entered%s though it had reached no majority for %v, and is to know within %v",
		name(s.Node), what, time.Duration(s.Entered-s.since).Round(time.Millisecond), e.Minority+e.Slack)
	if s.Fence > 0 {
		f = f.with(enteredUnder(&s.Section))
	}
	return e.excuse(f, within(s), needs)
}

// minorityOf returns the stretches from one time to another in which a node could reach no majority: reach
// tells how many it did.
func (e *Fold) minorityOf(id nodes.ID, since, until int64,
	reach func(nodes.ID, int64) int) (all []span) {
	turns := []int64{since, until}
	add := func(times ...int64) {
		for _, at := range times {
			if at > since && at < until {
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
		if from == to || 2*reach(id, from) > e.Config.N {
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

// side returns how many clients were on the side of a node at a time: those that it could reach, and those
// that these could, itself included. A coordinator or a token may be with any of them. It counts no further
// than to a majority.
func (e *Fold) side(from nodes.ID, at int64) int {
	if !e.cutAt(at) { // all that are up reach each other
		return e.reached(from, at)
	}
	total := e.Config.N
	seen, side := make([]bool, total), []nodes.ID{from}
	seen[from] = true
	for i := 0; i < len(side); i++ {
		for id := range nodes.ID(total) {
			if seen[id] || !e.wasUp(id, at) || e.separated(side[i], id, at) {
				continue
			}
			if seen[id], side = true, append(side, id); 2*len(side) > total {
				return len(side)
			}
		}
	}
	return len(side)
}

// cutAt reports whether a fault kept nodes apart at a time.
func (e *Fold) cutAt(at int64) bool {
	return slices.ContainsFunc(e.sections.Faults, func(f section.Fault) bool {
		return f.From <= at && at < f.To && e.asked(&f).Separates != nil
	})
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
