package election

import (
	"fmt"
	"testing"
	"time"

	"turnstile/internal/soak"
	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/explore"
)

// These mutants save too little, save too late, or trust saved state too much.
type (
	raftUnsaved     struct{ raft }
	raftLate        struct{ raft }
	majorityLeading struct{ bullyMajority }
)

// Receive does not save a vote in a term that the node has entered without a vote.
func (r *raftUnsaved) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, asks := m.(raftRequest); asks && q.Term == r.term && r.vote == nodes.None {
		r.vote = from
	}
	r.raft.Receive(env, from, m)
}

// Receive gives its vote before it saves it.
func (r *raftLate) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	q, asks := m.(raftRequest)
	if grants := asks && (q.Term > r.term || q.Term == r.term && r.vote == nodes.None); grants {
		env.Send(from, raftVote{q.Term, true})
	}
	r.raft.Receive(env, from, m)
}

// Recover leads in the epoch that was saved.
func (b *majorityLeading) Recover(env *nodes.Env, saved nodes.Message) {
	s, some := saved.(majoritySaved)
	if !some {
		b.bullyMajority.Recover(env, saved)
		return
	}
	b.epoch = s.Epoch
	b.lead(env)
}

// An unsavedMutant is an algorithm with such a machine.
type unsavedMutant struct {
	Rule string
	Spec *algorithm.Algorithm
	// Explore has the options of an exploration that finds the mutant wrong, and Finds is its result.
	Explore explore.Space
	Finds   string
	long    bool // it takes seconds
}

// unsavedMutants returns all of them.
func unsavedMutants() []unsavedMutant {
	raftMutant := func(make func(raft) nodes.Machine) *algorithm.Algorithm {
		spec := raftAlgorithm
		spec.New = func(c nodes.Config) nodes.Machine { return make(*newRaft(c)) }
		return &spec
	}
	leads := bullyMajorityAlgorithm
	leads.New = func(c nodes.Config) nodes.Machine { return &majorityLeading{voting(c)} }
	once := explore.Space{Config: nodes.Config{N: 3}, Entries: 1, Campaigns: 1, Timeouts: 1, Crashes: 1,
		Restarts: true, Workers: 2}
	twice := once
	twice.Config, twice.Campaigns, twice.Reordering = optionsOf(3, "pre-vote=on"), 2, true
	return []unsavedMutant{
		{Rule: "a vote in a term that was learned otherwise is not saved", Explore: twice, long: true,
			Finds: "terms, 11 steps", Spec: raftMutant(func(r raft) nodes.Machine { return &raftUnsaved{r} })},
		{Rule: "a vote is given before it is saved", Explore: once, Finds: "terms, 7 steps",
			Spec: raftMutant(func(r raft) nodes.Machine { return &raftLate{r} })},
		{Rule: "who comes up leads in the epoch that it has saved", Explore: once, Finds: "terms, 5 steps",
			Spec: &leads},
	}
}

// Explorations show what nodes must save, since nodes may crash there between any two effects of an input.
func TestMutantsOfSavesAreExplored(t *testing.T) {
	for _, m := range unsavedMutants() {
		if m.long && soak.Pick(true, true, false) {
			continue
		}
		o := m.Explore
		o.Spec, o.Config = m.Spec, m.Spec.Explicit(o.Config)
		x := algotest.Explore(t, o)
		if got := found(x); got != m.Finds {
			t.Errorf("%s: %s, not %s", m.Rule, got, m.Finds)
		}
		t.Logf("%s: %s, %d states", m.Rule, found(x), x.States)
	}
}

// votersCrash reports whether an algorithm breaks a promise when voters crash right after they have sent a
// vote, and come up at once, while messages overtake each other.
func votersCrash(t testing.TB, algo *algorithm.Algorithm) bool {
	kills := []string{"reorder: 'uniform:0s,150ms', for: 2s"}
	for nth := range 4 {
		kills = append(kills, fmt.Sprintf("kill: 0, when: '0 sends vote #%d', for: 1ms", nth+1))
	}
	for seed := uint64(1); seed <= soak.Pick[uint64](1200, 1200, 10_000); seed++ {
		s := scenario{algorithm: algo, config: optionsOf(3, "pre-vote=on"), seed: seed, reordering: true,
			duration: 3 * time.Second, faults: faults(t, kills...)}
		if o := s.simulated(t); o.wrong() != "" {
			return true
		}
	}
	return false
}

// The usual explorations find mutants that break safety after a restart or with a stale vote.
func TestUsualExplorationsFindUnsafeMutants(t *testing.T) {
	algotest.FindUsually(t, 3, []algotest.Mutant{
		{Rule: "a stale vote counts",
			Algorithm: algotest.Rebuilt(&raftAlgorithm, func(r raft) nodes.Machine { return &raftOldVotes{r} })},
		{Rule: "a node forgets its term in a restart",
			Algorithm: algotest.Rebuilt(&raftAlgorithm, func(r raft) nodes.Machine { return &raftForgetsTerm{r} })},
		{Rule: "an epoch is not saved", Algorithm: algotest.Rebuilt(&bullyMajorityAlgorithm,
			func(b bullyMajority) nodes.Machine { return &majorityAmnesic{b} })},
	})
}
