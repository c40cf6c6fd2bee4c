package explore

import (
	"strings"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/catalog"
)

// vote is an election that does what it is told: whoever campaigns leads, in the term that comes next to the
// last one that it knows of, and says so to all.
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
	votesYields          // who hears of another leader of its term gives way if that is higher
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

// votes is the row of a vote.
func votes(mode voting, leads nodes.Leadership) *nodes.Spec {
	return &nodes.Spec{Info: nodes.Info{Name: "vote"}, Messages: []nodes.Kind{{Zero: vtLeads{}}}, Leads: &leads,
		New: func(nodes.Config) nodes.Machine { return &vote{mode: mode} }}
}

// What nodes believe is judged step by step, and when nothing is left to happen.
func TestReplaysOfElectionsAreJudged(t *testing.T) {
	single, terms := nodes.Leadership{}, nodes.Leadership{Terms: true}
	for _, test := range []struct {
		row   *nodes.Spec
		steps string
		want  string // the check and what it says
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
		s, err := ParseSchedule(strings.NewReader(text), alone(test.row))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Replay(s)
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

// What should be so in an election, and is not, is said.
func TestStatementsAboutLeaders(t *testing.T) {
	for steps, want := range map[string]string{
		"campaign 2; leads 1":            "the leader is 2",
		"leads 1":                        "nobody leads",
		"campaign 2; believes 2 -":       "it leads",
		"campaign 2; believes 1 2":       "it knows of no leader",
		"campaign 2; rest; believes 0 0": "it takes node 2 for the leader",
		"crash 0; believes 0 -":          "it is down",
		"crash 0; campaign 0":            "it is down",
		"believes 0 3":                   "there is no node 3",
		"leads 3":                        "there is no node 3",
	} {
		text := "turnstile schedule 1\nalgorithm chang-roberts\nn 3\n" + strings.ReplaceAll(steps, "campaign 2",
			"campaign 2; 2>0 election; 0>1 election; 1>2 election")
		s, err := ParseSchedule(strings.NewReader(text), catalog.Find)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Replay(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", steps, err, want)
		}
	}
}

// What goes round is taken to do so for ever only if nothing else could have happened: no other message, no
// other choice.
func TestRestsThatMayEnd(t *testing.T) {
	for steps, mode := range map[string]voting{"n 3; campaign 0; rest": votesForEver,
		"n 2; campaign 0; rest": votesByChance} {
		s, err := ParseSchedule(strings.NewReader("turnstile schedule 1\nalgorithm vote\n"+steps),
			alone(votes(mode, nodes.Leadership{Terms: true})))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Replay(s); err == nil || !strings.Contains(err.Error(), "nothing comes to rest within") {
			t.Errorf("%s: %v", steps, err)
		}
	}
}

// A timer goes by its name, or by the numbers of its kind and peer, as in schedules of old.
func TestTimersGoByTheirNames(t *testing.T) {
	const head = "turnstile schedule 1\nalgorithm omega\nn 3\n"
	story := func(text string) (written, told string) {
		s, err := ParseSchedule(strings.NewReader(head+text), catalog.Find)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Replay(s)
		if err != nil {
			t.Fatal(err)
		}
		return s.String(), strings.Join(r.Story, "\n")
	}
	written, told := story("timeout 1 silence 0; timeout 2 beat")
	if !strings.HasSuffix(written, "\ntimeout 1 silence 0\ntimeout 2 beat\n") {
		t.Errorf("it is written as %s", written)
	}
	if !strings.Contains(told, "node 1: timer silence for 0 runs out") ||
		!strings.Contains(told, "node 2: timer beat runs out") {
		t.Errorf("it tells %s", told)
	}
	written, old := story("timeout 1 1 0; timeout 2 0 0")
	if old != told || !strings.HasSuffix(written, "\ntimeout 1 1 0\ntimeout 2 0 0\n") {
		t.Errorf("by its numbers it is written as %s, and tells %s", written, old)
	}
	for text, want := range map[string]string{
		"timeout 1 silense 0":   "node 1 of omega has no timer silense: did you mean silence?",
		"timeout 1 x":           "node 1 of omega has no timer x; there are: beat, silence",
		"timeout 1 silence":     "the timer silence is kept per peer: write which, such as timeout 0 silence 1",
		"timeout 1 beat 0":      "the timer beat is not kept per peer: leave out 0",
		"timeout 1@1 beat":      "write a timer by the numbers of its kind and peer, such as timeout 0@1 2 0",
		"timeout x beat":        "timeout takes a node and a timer, such as timeout 0 retry",
		"timeout 1 256 0":       "node 1 of omega has no timer 256",
		"timeout 1 silence 0 1": "the timer silence is kept per peer",
	} {
		if _, err := ParseSchedule(strings.NewReader(head+text), catalog.Find); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
