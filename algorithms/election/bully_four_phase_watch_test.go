package election

import (
	"fmt"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// itself returns the fourPhase of a machine, which may be a mutant that embeds it.
func (f *fourPhase) itself() *fourPhase { return f }

// fourMoves are the allowed changes of STATUS (claim T16 of docs/coverage.md).
var fourMoves = map[[2]status]bool{
	{statusDown, statusElection}:           true,
	{statusElection, statusReorganization}: true,
	{statusReorganization, statusNormal}:   true,
	{statusReorganization, statusElection}: true, // it begins again
	{statusNormal, statusElection}:         true,
}

// A fourWatch checks the machines of a run under any faults. Each change of STATUS is legal. A leader was
// accepted in phase 4 by all in ACTIVE. No node goes on that was not told to. No node has an election of its
// own while it takes part in another, and none goes back to an earlier one.
type fourWatch struct {
	moves    map[[2]status]int
	told     map[fourVote]bool // nodes that were sent NEW_STATE
	accepted map[fourVote]bool // nodes that have become NORMAL
	restarts int               // elections that began again in phase 3 or 4
	wrong    string            // the first violation found; empty: there was no violation
}

// A fourVote is a node's part in an election.
type fourVote struct {
	node, elector nodes.ID
	epoch         uint64
}

func newFourWatch() *fourWatch {
	return &fourWatch{moves: map[[2]status]int{}, told: map[fourVote]bool{}, accepted: map[fourVote]bool{}}
}

// of returns an algorithm whose machines the fourWatch checks.
func (w *fourWatch) of(algo *algorithm.Algorithm) *algorithm.Algorithm {
	return observedBy(algo, w.around)
}

func (w *fourWatch) around(env *nodes.Env, m nodes.Machine, handle func()) {
	f := m.(interface{ itself() *fourPhase }).itself()
	was, doing, count, coordinator, epoch := f.status, f.doing, f.count, f.coordinator, f.epoch
	handle()
	if f.coordinator == coordinator && f.epoch < epoch {
		w.find("node %d goes back to an earlier election of node %d", env.Self(), coordinator)
	}
	if f.doing == fourPhase4 {
		for id := range f.active.All() {
			w.told[fourVote{id, env.Self(), f.count}] = true
		}
	}
	if f.count > count && (doing == fourPhase3 || doing == fourPhase4) {
		w.restarts++
	}
	if f.doing >= fourPhase2 && f.doing <= fourPhase4 && f.coordinator != env.Self() {
		w.find("node %d goes on with an election after it has heeded that of node %d", env.Self(), f.coordinator)
	}
	if f.status == was {
		return
	}
	move := [2]status{was, f.status}
	w.moves[move]++
	switch {
	case f.status != statusNormal:
	case f.leads(env):
		for id := range f.active.All() {
			if !w.accepted[fourVote{id, env.Self(), f.count}] {
				w.find("node %d leads, and %d has not accepted it", env.Self(), id)
			}
		}
		if f.active.Empty() {
			return // it has asked nobody, and so was in all phases at once
		}
	default:
		vote := fourVote{env.Self(), f.coordinator, f.epoch}
		if w.accepted[vote] = true; !w.told[vote] {
			w.find("node %d goes on under node %d, which has not told it to", env.Self(), f.coordinator)
		}
	}
	if !fourMoves[move] {
		w.find("node %d turns from %v to %v", env.Self(), was, f.status)
	}
}

func (w *fourWatch) find(format string, args ...any) {
	if w.wrong == "" {
		w.wrong = fmt.Sprintf(format, args...)
	}
}
