package election

import (
	"slices"
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/internal/soak"
	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// The mutants of ring-list.
type (
	listHeedsAll    struct{ ringList }
	listLeadsOn     struct{ ringList }
	listNeverEnds   struct{ ringList }
	listForgetsBack struct{ ringList }
)

func (l *listHeedsAll) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if c, ok := m.(listCoordinator); ok {
		c.Seen, l.ballot = c.Ballot, c.Ballot
		m = c
	}
	l.ringList.Receive(env, from, m)
}

func (l *listLeadsOn) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if e, ok := m.(listElection); ok && l.leader == env.Self() &&
		!slices.ContainsFunc(e.Members, func(member listMember) bool { return member.Node == env.Self() }) {
		l.pass(env, listElection{e.Ballot, e.Seen, append(slices.Clip(e.Members), listMember{env.Self(), 0, 0})})
		return
	}
	l.ringList.Receive(env, from, m)
}

func (l *listNeverEnds) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if e, ok := m.(listElection); ok && e.Ballot.By != env.Self() {
		if slices.ContainsFunc(e.Members, func(member listMember) bool { return member.Node == env.Self() }) {
			l.pass(env, e)
			return
		}
	}
	l.ringList.Receive(env, from, m)
}

func (l *listForgetsBack) Trust(_ *nodes.Env, peer nodes.ID) { l.suspects.Remove(peer) }

// Every mutant fails in one of the ways that are listed for it.
func TestRingListMutantsAreCaught(t *testing.T) {
	for rule, m := range map[string]struct {
		algorithm *algorithm.Algorithm
		fails     []string
	}{
		"results of lower ballots are heeded": {algotest.Rebuilt(&ringListAlgorithm,
			func(m ringList) nodes.Machine { return &listHeedsAll{m} }), []string{twoLead}},
		"a leader leads on while a list passes": {algotest.Rebuilt(&ringListAlgorithm,
			func(m ringList) nodes.Machine { return &listLeadsOn{m} }), []string{twoLead, wrongLeads}},
		"a list ends at its initiator alone": {algotest.Rebuilt(&ringListAlgorithm,
			func(m ringList) nodes.Machine { return &listNeverEnds{m} }), []string{endless}},
	} {
		seen := map[string]int{}
		caught := false
		for seed := uint64(0); seed < soak.Pick[uint64](4000, 4000, 20_000) && !caught; seed++ {
			fault := listTrial(t, m.algorithm, "circulate", seed).listFault()
			seen[fault]++
			caught = slices.Contains(m.fails, fault)
		}
		if !caught {
			t.Errorf("%s: it survives: none of %v, but %v", rule, m.fails, seen)
		}
	}
}

// If a node that trusts a peer again begins no election, the nodes disagree for ever after a partition.
func TestRingListHearsWhoIsBack(t *testing.T) {
	s := scenario{config: nodes.Config{N: 5}, duration: 15 * time.Second,
		algorithm: algotest.Rebuilt(&ringListAlgorithm,
			func(m ringList) nodes.Machine { return &listForgetsBack{m} }),
		faults: []chaos.Fault{parted(t, "0-2/3-4", 2*time.Second, 3*time.Second)}}
	o := s.simulated(t)
	if o.leader() != nodes.None {
		t.Errorf("it survives: node %d leads", o.leader())
	}
}
