package mutex

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"

	"turnstile/judge/algotest"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/sim"
)

// lockOf is porcupine's model of a lock. Its state is the holder; an operation locks or unlocks it.
var lockOf = porcupine.Model{
	Init: func() any { return nodes.None },
	Step: func(state, input, _ any) (bool, any) {
		switch in := input.(lockInput); {
		case in.locks:
			return state == nodes.None, in.by
		default:
			return state == in.by, nodes.None
		}
	},
}

type lockInput struct {
	by    nodes.ID
	locks bool
}

// lockOperations returns what clients did to their resource. To lock takes from the request to the entry. A
// request that was never served has locked nothing. A client unlocks when it leaves, loses the lease, or
// dies inside. A client still inside at the end unlocks then.
func lockOperations(h *history.History) (all []porcupine.Operation) {
	asked, inside, end := map[nodes.ID]int64{}, map[nodes.ID]bool{}, int64(0)
	did := func(by nodes.ID, locks bool, from, to int64) {
		all = append(all, porcupine.Operation{ClientId: int(by), Input: lockInput{by, locks}, Call: from,
			Return: to})
		inside[by] = locks
	}
	for _, e := range h.Events {
		end = max(end, e.At)
		switch e.Kind {
		case history.Requested:
			asked[e.Node] = e.At
		case history.Entered:
			did(e.Node, true, asked[e.Node], e.At)
		case history.Exited, history.Revoked, history.Crashed:
			if inside[e.Node] {
				did(e.Node, false, e.At, e.At)
			}
		}
	}
	for by, is := range inside {
		if is {
			did(by, false, end, end)
		}
	}
	return all
}

// A lockTally counts histories: by what porcupine and the check say of them, and by what happens in them.
type lockTally struct{ violated, valid, crashed, revoked, open, fenced int }

// compare has the check and porcupine judge a history. Porcupine is not asked if fence numbers decide or
// there are several units, nor if the check is inconclusive, which is an error.
func (n *lockTally) compare(t *testing.T, what string, h *history.History, s check.Setting) {
	t.Helper()
	v := check.Judge(h, s)
	at := slices.IndexFunc(v.Findings, func(f check.Finding) bool { return f.Check == "exclusion" })
	f := v.Findings[at]
	switch {
	case s.Fenced || s.Config.Capacity() > 1:
		n.fenced++
		return
	case f.Outcome == check.Inconclusive:
		t.Errorf("%s: the stamps are exact, and yet the check does not know: %s", what, f.Says)
		return
	}
	all := lockOperations(h)
	sound := porcupine.CheckOperations(lockOf, all)
	if sound != (f.Outcome == check.Valid) {
		t.Errorf("%s: porcupine says that it is a lock: %t; the check says %v: %s", what, sound, f.Outcome,
			f.Says)
	}
	if sound {
		n.valid++
	} else {
		n.violated++
	}
	n.count(h)
}

// count notes what is special in a history.
func (n *lockTally) count(h *history.History) {
	inside, died, crashed, revoked := map[nodes.ID]bool{}, false, 0, 0
	for _, e := range h.Events {
		switch e.Kind {
		case history.Entered:
			if died {
				crashed = 1
			}
			inside[e.Node] = true
		case history.Exited, history.Revoked, history.Crashed:
			if e.Kind == history.Crashed && inside[e.Node] {
				died = true
			}
			if e.Kind == history.Revoked {
				revoked = 1
			}
			delete(inside, e.Node)
		}
	}
	n.crashed, n.revoked, n.open = n.crashed+crashed, n.revoked+revoked, n.open+min(1, len(inside))
}

// lateExit returns a history in which the last exit of a client comes at the next entry of another client,
// plus by in nanoseconds (perhaps negative). It returns nil if nobody enters after such an exit.
func lateExit(of *history.History, by int64) *history.History {
	h := &history.History{Events: slices.Clone(of.Events), Logs: of.Logs}
	for i := range h.Events {
		exit, next := h.Events[i], -1
		if exit.Kind != history.Exited {
			continue
		}
		for j := i + 1; j < len(h.Events); j++ {
			switch e := &h.Events[j]; {
			case e.Node == exit.Node && e.Kind != history.Sent:
				next = len(h.Events) // it is not the last of its client
			case e.Kind == history.Entered && next < 0:
				next = j
			}
		}
		if next < 0 || next == len(h.Events) {
			continue
		}
		exit.At = h.Events[next].At + by
		if by > 0 {
			h.Events[next].Count++ // the register counts both
		}
		copy(h.Events[i:next], h.Events[i+1:next+1])
		h.Events[next] = exit
		slices.SortStableFunc(h.Events, func(a, b history.Event) int { return int(a.At - b.At) })
		return h
	}
	return nil
}

// cutShort returns the history up to an entry halfway.
func cutShort(of *history.History) *history.History {
	half := len(of.Events) / 2
	at := slices.IndexFunc(of.Events[half:], func(e history.Event) bool { return e.Kind == history.Entered })
	return &history.History{Events: of.Events[:half+at+1], Logs: of.Logs}
}

// leaseLost returns a history in which a client did not leave by itself.
func leaseLost(of *history.History) *history.History {
	h := &history.History{Events: slices.Clone(of.Events), Logs: of.Logs}
	at := slices.IndexFunc(h.Events, func(e history.Event) bool { return e.Kind == history.Exited })
	if at >= 0 {
		h.Events[at].Kind = history.Revoked
	}
	return h
}

// About exclusion the check agrees with porcupine, an independent judge: on runs of sound algorithms, with
// and without disasters, of broken algorithms and mutants, and on runs with an exit moved to within 1 ns of
// an entry.
func TestPorcupineAgreesAboutExclusion(t *testing.T) {
	var n lockTally
	judged := func(what string, o sim.Options) {
		h, s := algotest.History(t, o), check.SettingOf(o.Stack)
		n.compare(t, what, h, s)
		for _, by := range []int64{-1, 0, 1} {
			if late := lateExit(h, by); late != nil && o.FaultDriver == nil {
				n.compare(t, fmt.Sprintf("%s, with an exit at %+d ns of an entry", what, by), late, s)
			}
		}
		if o.Seed < 2 {
			n.compare(t, what+", cut short", cutShort(h), s)
			n.compare(t, what+", with a lease lost", leaseLost(h), s)
		}
	}
	for _, spec := range Table {
		for seed := range uint64(2) {
			c := nodes.Config{N: 3 + int(seed)}
			judged(fmt.Sprintf("%s, seed %d", spec.Name, seed), saturated(spec, c, seed))
		}
		for seed := range uint64(10) {
			o := saturated(spec, nodes.Config{N: 3 + int(seed%2)}, seed)
			o.Patience, o.Workload.Hold = 5_000, algotest.Drawn("exponential:20ms") // some die inside
			disaster(&o, nodes.FIFO)
			judged(fmt.Sprintf("%s, seed %d, with disasters", spec.Name, seed), o)
		}
	}
	for _, m := range mutants() {
		if strings.Contains(m.fails, "exclusion") {
			for seed := range uint64(2) {
				judged(fmt.Sprintf("%s in which %s, seed %d", m.sound.Name, m.rule, seed), m.options(seed))
			}
		}
	}
	if t.Logf("%+v", n); n.violated < 20 || n.valid < 50 || n.violated+n.valid < 100 || n.crashed < 5 ||
		n.revoked < 5 || n.open < 5 {
		t.Errorf("the runs show too little: %+v", n)
	}
}

// Porcupine finds what the check is to find: two that enter together, and nothing where they take turns.
func TestPorcupineKnowsALock(t *testing.T) {
	h := func(kinds ...history.Event) *history.History { return &history.History{Events: kinds} }
	at := func(at int64, by nodes.ID, kind history.Kind) history.Event {
		return history.Event{At: at, Node: by, Kind: kind}
	}
	a, b, e, x := nodes.ID(0), nodes.ID(1), history.Entered, history.Exited
	for what, c := range map[string]struct {
		of    *history.History
		sound bool
	}{
		"one after the other":      {h(at(1, a, e), at(2, a, x), at(3, b, e), at(4, b, x)), true},
		"at one moment":            {h(at(1, a, e), at(2, b, e), at(2, a, x), at(4, b, x)), true},
		"together":                 {h(at(1, a, e), at(2, b, e), at(3, a, x), at(4, b, x)), false},
		"never left":               {h(at(1, a, e), at(2, b, e), at(3, b, x)), false},
		"died inside":              {h(at(1, a, e), at(2, a, history.Crashed), at(3, b, e)), true},
		"died after the entry":     {h(at(1, a, e), at(3, b, e), at(4, a, history.Crashed)), false},
		"lost its lease":           {h(at(1, a, e), at(2, a, history.Revoked), at(3, b, e)), true},
		"asked and was not let in": {h(at(1, b, history.Requested), at(2, a, e), at(3, a, x)), true},
	} {
		if got := porcupine.CheckOperations(lockOf, lockOperations(c.of)); got != c.sound {
			t.Errorf("%s: a lock: %t", what, got)
		}
	}
}
