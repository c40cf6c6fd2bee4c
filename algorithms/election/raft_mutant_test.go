package election

import (
	"testing"

	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/workload"
)

// Rafts with one rule changed.
type (
	raftVotesAgain   struct{ raft }
	raftOldVotes     struct{ raft }
	raftCopiedVotes  struct{ raft }
	raftHalf         struct{ raft }
	raftForgetsTerm  struct{ raft }
	raftOldHeartbeat struct{ raft }
	raftStubborn     struct{ raft }
	raftUnchecked    struct{ raft }
	raftOldAnswers   struct{ raft }
	raftHasty        struct{ raft }
)

func (r *raftVotesAgain) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, asks := m.(raftRequest); asks {
		r.vote = nodes.None
	}
	r.raft.Receive(env, from, m)
}

func (r *raftOldVotes) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if v, votes := m.(raftVote); votes && v.Granted {
		m = raftVote{r.term, true}
	}
	r.raft.Receive(env, from, m)
}

func (r *raftCopiedVotes) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, votes := m.(raftVote); votes && r.role == raftCandidate {
		for r.votes.Has(from) {
			from = (from + 1) % nodes.ID(env.N())
		}
	}
	r.raft.Receive(env, from, m)
}

func (r *raftHalf) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	r.raft.Receive(env, from, m)
	if r.role == raftCandidate && 2*(1+r.votes.Len()) >= env.N() {
		r.lead(env)
	}
}

func (r *raftForgetsTerm) Recover(env *nodes.Env, _ nodes.Message) { r.raft.Recover(env, nil) }

func (r *raftOldHeartbeat) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if h, heartbeat := m.(raftHeartbeat); heartbeat && r.role != raftLeader {
		m = raftHeartbeat{max(h.Term, r.term), h.Round}
	}
	r.raft.Receive(env, from, m)
}

func (r *raftStubborn) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if r.role != raftLeader {
		r.raft.Receive(env, from, m)
	} else if a, answer := m.(raftAnswer); answer && a.Term == r.term {
		r.raft.Receive(env, from, m)
	}
}

func (r *raftUnchecked) Timeout(env *nodes.Env, t nodes.Timer) {
	for id := range r.answered {
		r.answered[id] = r.round
	}
	r.raft.Timeout(env, t)
}

func (r *raftOldAnswers) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	r.raft.Receive(env, from, m)
	if _, answer := m.(raftAnswer); answer && r.role == raftLeader {
		r.answered[from] = 1 << 31 // it has answered once, and that is good for ever
	}
}

func (r *raftHasty) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, asks := m.(raftPrerequest); asks {
		r.quiet = true
	}
	r.raft.Receive(env, from, m)
}

// raftMutants are the changed rules, each with a function that makes the mutant from a raft.
var raftMutants = []struct {
	rule   string
	mutate func(raft) nodes.Machine
	fails  func(testing.TB, *algorithm.Algorithm) bool // finds out that the rule is broken
}{
	{"who has voted votes again", func(r raft) nodes.Machine { return &raftVotesAgain{r} }, breaksInStorms},
	{"the votes of earlier terms count", func(r raft) nodes.Machine { return &raftOldVotes{r} }, breaksInStorms},
	{"a vote that comes twice counts twice", func(r raft) nodes.Machine { return &raftCopiedVotes{r} },
		breaksInStorms},
	{"half of the votes will do", func(r raft) nodes.Machine { return &raftHalf{r} }, breaksInStorms},
	{"the vote is not saved", func(r raft) nodes.Machine { r.forgets = true; return &r }, breaksInStorms},
	{"a vote in a term that was learned otherwise is not saved",
		func(r raft) nodes.Machine { return &raftUnsaved{r} }, votersCrash},
	{"a vote is given before it is saved", func(r raft) nodes.Machine { return &raftLate{r} }, votersCrash},
	{"what was saved is not read", func(r raft) nodes.Machine { return &raftForgetsTerm{r} }, breaksInStorms},
	{"a leader of an earlier term is followed", func(r raft) nodes.Machine { return &raftOldHeartbeat{r} },
		breaksInStorms},
	{"a higher term deposes no leader", func(r raft) nodes.Machine { return &raftStubborn{r} }, splits},
	{"whether a majority answers is not checked", func(r raft) nodes.Machine { return &raftUnchecked{r} },
		lingers},
	{"whoever has answered once counts for ever", func(r raft) nodes.Machine { return &raftOldAnswers{r} },
		lingers},
	{"a pre-vote is given though a leader is there", func(r raft) nodes.Machine { return &raftHasty{r} },
		deposes},
	{"timeouts are not drawn", func(r raft) nodes.Machine { r.shortest = r.longest; return &r }, neverElects},
}

// breaksInStorms reports whether an algorithm breaks a promise that it is to keep at all times.
func breaksInStorms(t testing.TB, algo *algorithm.Algorithm) bool {
	for seed := uint64(1); seed <= stormSeeds; seed++ {
		if o := turmoil(t, algo, seed, raftOptionsInStorms...); o.wrong() != "" {
			return true
		}
	}
	return false
}

// splits reports whether two lead after a partition, in terms of their own.
func splits(t testing.TB, algo *algorithm.Algorithm) bool {
	s := scenario{algorithm: algo, config: optionsOf(5, "check-quorum=off"),
		initiators: workload.LowestInitiates,
		faults:     faults(t, "cut: 0-1/2-4, at: 1s, for: 2s")}
	o := s.simulated(t)
	return o.leader() == nodes.None
}

// lingers reports whether a leader in a minority leads for longer than its lapse.
func lingers(t testing.TB, algo *algorithm.Algorithm) bool {
	s := scenario{algorithm: algo, config: nodes.Config{N: 5}, initiators: workload.LowestInitiates,
		faults: faults(t, "cut: 0-1/2-4, at: 2s, jitter: 100ms, for: 2s")}
	return s.lapse(t) > 0
}

// deposes reports whether a node that was cut off deposes the leader in spite of pre-votes.
func deposes(t testing.TB, algo *algorithm.Algorithm) bool {
	s := scenario{algorithm: algo, config: optionsOf(5, "pre-vote=on"), initiators: workload.LowestInitiates,
		faults: faults(t, "cut: 0-3/4, at: 2s, for: 3s", "cut: 0>4, at: 5s, for: 1s")}
	o := s.simulated(t)
	return len(o.Flaps) > 0
}

// neverElects reports whether nobody leads within the grace.
func neverElects(t testing.TB, algo *algorithm.Algorithm) bool {
	s := scenario{algorithm: algo, config: nodes.Config{N: 3}, initiators: workload.NoneInitiates}
	s.duration = algo.Grace(s.config)
	o := s.simulated(t)
	return o.leader() == nodes.None
}

func TestRaftMutants(t *testing.T) {
	for _, m := range raftMutants {
		t.Run(m.rule, func(t *testing.T) {
			algo := raftAlgorithm
			algo.New = func(c nodes.Config) nodes.Machine { return m.mutate(*newRaft(c)) }
			if !m.fails(t, &algo) {
				t.Error("it survives")
			}
		})
	}
	for _, fails := range []func(testing.TB, *algorithm.Algorithm) bool{splits, lingers, deposes, neverElects} {
		if fails(t, &raftAlgorithm) { // storms have a test of their own
			t.Error("the algorithm itself is found to be wrong")
		}
	}
	if soak.Pick(false, true, true) && votersCrash(t, &raftAlgorithm) {
		t.Error("the algorithm itself is found to be wrong if voters crash")
	}
}

// The algorithm that is known to be broken breaks in storms too, not only in its story.
func TestForgetfulRaftElectsTwoInOneTerm(t *testing.T) {
	if !breaksInStorms(t, &raftForgetfulAlgorithm) {
		t.Error("no storm shows it")
	}
}
