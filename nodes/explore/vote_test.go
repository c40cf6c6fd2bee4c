package explore

import (
	"strings"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/replay"
)

// vote is a trivial election: a node that campaigns leads, in the term after the last one that it knows, and
// tells all.
type vote struct {
	told uint64
	mode voting
}

// A voting is what is wrong with a vote.
type voting uint8

const (
	votesWell     voting = iota
	votesAnew            // its terms begin with 1 after a restart
	votesBackward        // it goes back by a term
	votesLoudly          // it tells nobody
	votesForEver         // it tells nobody, and keeps a message going round
	votesByChance        // it tells nobody, and keeps a message going round until a choice ends that
	votesYields          // a leader gives way to a higher leader of its term
)

type vtLeads struct{ Term uint64 }

func (v *vote) Campaign(env *nodes.Env) {
	v.told++
	env.Elect(env.Self(), v.told)
	switch v.mode {
	case votesLoudly:
		return
	case votesForEver, votesByChance:
		env.Broadcast(vtLeads{})
		return
	case votesBackward:
		env.Elect(nodes.None, v.told-1)
	}
	env.Broadcast(vtLeads{v.told})
}

func (v *vote) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch term := m.(vtLeads).Term; {
	case v.mode == votesForEver, v.mode == votesByChance && env.Choose(2) == 0:
		env.Send(from, m)
	case term > v.told || v.mode == votesYields && term == v.told && from > env.Self():
		v.told = term
		env.Elect(from, term)
	}
}

// votes is the algorithm of a vote.
func votes(mode voting, leads algorithm.Leadership) *algorithm.Algorithm {
	return &algorithm.Algorithm{
		Spec: nodes.Spec{
			Name: "vote", Kind: nodes.Election,
			Messages: []nodes.MessageKind{{Zero: vtLeads{}}},
			New:      func(nodes.Config) nodes.Machine { return &vote{mode: mode} },
		},
		Elector: &leads,
	}
}

// What nodes believe is judged step by step, and when nothing is left to happen.
func TestReplaysOfElectionsAreJudged(t *testing.T) {
	single, terms := algorithm.Leadership{}, algorithm.Leadership{Terms: true}
	for _, test := range []struct {
		algorithm *algorithm.Algorithm
		steps     string
		want      string // the check and what it says
	}{
		{votes(votesWell, single), "campaign 0; leads 0; rest; believes 1 0; believes 0 0", ""},
		{votes(votesWell, single), "", ""},
		{votes(votesWell, single), "campaign 0; campaign 1",
			"leaders: nodes 0, 1 lead at the same time"},
		{votes(votesWell, terms), "campaign 0; 0>1 leads; campaign 1; leads 0 1; 1>0 leads; leads 1", ""},
		{votes(votesWell, terms), "campaign 0; campaign 1", "terms: nodes 0, 1 have led in term 1"},
		{votes(votesWell, terms), "campaign 0; crash 0; campaign 1", "terms: nodes 0, 1 have led in term 1"},
		{votes(votesAnew, terms), "campaign 0; campaign 0; crash 0; restart 0; leads -; campaign 0",
			"terms: node 0 goes back from term 2 to term 1"},
		{votes(votesBackward, terms), "campaign 0", "terms: node 0 goes back from term 1 to term 0"},
		{votes(votesLoudly, terms), "campaign 0", "agreement: nothing is left to happen, and not all agree: " +
			"node 0 leads and node 1 knows of no leader"},
		{votes(votesForEver, terms), "campaign 0; rest", "agreement: one message goes round for ever, " +
			"and not all agree: node 0 leads and node 1 knows of no leader"},
		{votes(votesLoudly, terms), "campaign 0; crash 1", ""},
		{votes(votesLoudly, terms), "campaign 0; crash 0", ""}, // node 1 takes no part
	} {
		text := "turnstile schedule 1\nalgorithm vote\nn 2\n" + test.steps
		s, err := replay.Parse(strings.NewReader(text), alone(test.algorithm))
		if err != nil {
			t.Fatal(err)
		}
		r, err := replay.Play(s)
		if err != nil {
			t.Errorf("%s: %v", test.steps, err)
			continue
		}
		got := ""
		if r.Violation != nil {
			got = r.Violation.Check + ": " + r.Violation.Says
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.steps, got, test.want)
		}
	}
}

// A message that goes round counts as going round for ever only if nothing else could have happened: no other
// message, no other choice.
func TestRestsThatMayEnd(t *testing.T) {
	for steps, mode := range map[string]voting{"n 3; campaign 0; rest": votesForEver,
		"n 2; campaign 0; rest": votesByChance} {
		s, err := replay.Parse(strings.NewReader("turnstile schedule 1\nalgorithm vote\n"+steps),
			alone(votes(mode, algorithm.Leadership{Terms: true})))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := replay.Play(s); err == nil || !strings.Contains(err.Error(), "nothing comes to rest within") {
			t.Errorf("%s: %v", steps, err)
		}
	}
}
