package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
)

// A shownRun is a run about leaders, and what it shows.
type shownRun struct {
	electionRun
	want algorithm.Outcome
}

// shownRuns returns runs of each outcome, and some that show nothing.
func shownRuns() []shownRun {
	run := func(name string, want algorithm.Outcome, text string, settings ...func(*Setting)) shownRun {
		return shownRun{electionRun{name: name, text: text, setting: func(s *Setting) {
			for _, set := range settings {
				set(s)
			}
		}}, want}
	}
	sound := allElect(5, 4, 1)
	needs := func(a nodes.Assumption) func(*Setting) {
		return func(s *Setting) { s.Safe, s.Live = a, a }
	}
	noCrash, timeless := needs(nodes.NoCrash), func(s *Setting) { s.Grace = 0 }
	waiting := func(s *Setting) { s.Faults = []Fault{{Text: "kill leader", Waits: true}} }
	highest := func(s *Setting) { s.Leads.Wins = algorithm.HighestWins }
	cutOff := fmt.Sprintf("200 1 fault %d\n", nodes.NoLoss)
	return []shownRun{
		run("all agree", algorithm.Recovers, sound),
		run("of an anonymous network", algorithm.Recovers, "5 4 elect 4\n"+fourElect(5, -2)),
		run("all follow one that is down", algorithm.Blocks, sound+"500 4 crash", noCrash),
		run("the same within the model", algorithm.Blocks, sound+"500 4 crash"),
		run("nobody knows a leader", algorithm.Blocks, sound+allElect(50, -1, 1)),
		run("all have died and come up again", algorithm.Blocks, sound+allDie(200, 300)),
		run("all have just died and come up again", 0, sound+allDie(940, 960)),
		run("all have just come up again", 0, sound+allDie(200, 960)),
		run("nobody ever did", algorithm.Blocks, "5 0 elect -1"),
		run("one that comes up again knows none", algorithm.Starves, sound+"500 3 crash\n600 3 restart 1", noCrash),
		run("one follows another", algorithm.Starves, sound+"500 3 elect 2 1"),
		run("nobody but the leader knows", algorithm.Starves, "5 4 elect 4\n"+fourElect(5, -1)),
		run("they may still agree", 0, sound+"950 4 crash"),
		run("they may still agree, outside its model", 0, sound+"950 4 crash", noCrash),
		run("nothing is left to happen", algorithm.Starves, sound+"990 3 elect 2 1", timeless),
		run("one that acts on time is late", algorithm.Blocks, sound+"500 4 crash\n1010 3 elect 3 1"),
		run("something is", 0, sound+"990 3 elect 2 1\n1010 3 elect 4 1", timeless),
		run("a leader that is back before anybody missed it", algorithm.Recovers, sound+"500 4 crash\n"+
			"550 4 restart 1\n560 4 elect 4 1"),
		run("two lead in one term", algorithm.Breaks, sound+"50 3 elect 3 1\n60 3 elect 4 1", inTerms),
		run("one after the other in one term", algorithm.Breaks, sound+"50 4 crash\n"+allElect(60, 3, 1), inTerms),
		run("two lead in terms of their own", algorithm.Recovers, sound+"50 3 elect 3 2\n60 4 elect 3 2\n"+
			allElect(60, 3, 2), inTerms, func(s *Setting) { s.Overlap = 10e6 }),
		run("two lead in them for longer than a take-over takes", algorithm.Breaks, sound+"50 3 elect 3 2\n"+
			"60 4 elect 3 2\n"+allElect(60, 3, 2), inTerms, func(s *Setting) { s.Overlap = 9e6 }),
		run("a node that came up again leads beside the other", algorithm.Recovers,
			sound+"40 3 crash\n45 3 restart 1\n"+
				"50 3 elect 3 2\n60 4 elect 3 2\n"+allElect(60, 3, 2), inTerms),
		run("they lead in them for good", algorithm.Breaks, sound+"50 3 elect 3 2", inTerms),
		run("they do at the end, too soon to tell", 0, sound+"950 2 crash\n960 3 elect 3 2", inTerms),
		run("two lead", algorithm.Breaks, sound+"50 3 elect 3\n60 3 elect 4"),
		run("two lead outside its model", algorithm.Breaks, "1 2 crash\n"+sound+"50 3 elect 3\n60 3 elect 4",
			noCrash),
		run("two lead while one takes over", algorithm.Recovers, sound+"50 3 elect 3 1\n60 3 elect 4 1",
			func(s *Setting) { s.Overlap = 10e6 }),
		run("the wrong one", 0, allElect(5, 3, 1), highest),
		run("the wrong one outside its model", algorithm.Recovers, "1 2 crash\n"+allElect(5, 3, 1), highest,
			noCrash),
		run("back in terms", 0, allElect(5, 4, 5)+"50 3 elect 4 4\n60 3 elect 4 5", inTerms),
		run("back in terms outside its model", algorithm.Recovers, allElect(5, 4, 5)+"10 2 crash\n20 2 restart 1\n"+
			"30 2 elect 4 4\n60 2 elect 4 5", inTerms, noCrash),
		run("a fault for which nobody came", algorithm.Unhit, sound, waiting),
		run("the same, and nobody leads", algorithm.Unhit, "5 0 elect -1", waiting),
		run("one that was not carried out", 0, sound, parted),
		run("one of them was not", 0, sound, waiting, func(s *Setting) { s.Faults = append(s.Faults, Fault{}) }),
		run("a fault without end", 0, sound+cutOff, parted),
		run("a cut that healed", algorithm.Recovers, sound+cutOff+"400 1 heal", parted),
		run("a cut in vain", algorithm.Blocks, sound+cutOff+"300 4 elect -1 1\n400 1 heal", parted,
			needs(nodes.NoLoss)),
	}
}

// allDie has all nodes crash at a time, and come up again.
func allDie(at, back int) string {
	var dies, rises string
	for id := range 5 {
		dies += fmt.Sprintf("%d %d crash\n", at, id)
		rises += fmt.Sprintf("%d %d restart 1\n", back, id)
	}
	return strings.TrimSpace(dies + rises)
}

// fourElect has nodes 0 to 3 declare the given leader at a time.
func fourElect(at, leader int) (text string) {
	for id := range 4 {
		text += fmt.Sprintf("%d %d elect %d 0\n", at, id, leader)
	}
	return text
}

// booked returns the verdict of the run, but with the given outcome of accounting: these runs have no counts.
func (r *shownRun) booked(t *testing.T, o Outcome) Verdict {
	t.Helper()
	v := r.verdict(t)
	at := slices.IndexFunc(v.Findings, func(f Finding) bool { return f.Check == "accounting" })
	v.Findings[at] = Finding{Check: "accounting", Outcome: o, Says: "the counts"}
	return v
}

func TestRunsAboutLeadersShow(t *testing.T) {
	for _, r := range shownRuns() {
		v := r.booked(t, Valid)
		if got, says := v.Shown(); got != r.want || says == "" {
			t.Errorf("%s shows %v (%s), want %v: %v", r.name, got, says, r.want, v.Starved)
		}
	}
}

// For a resource that obeys only the latest term, leaders of two terms leave some nodes without a leader.
func TestRunsAboutLeadersShowInTerms(t *testing.T) {
	wants := map[string]algorithm.Outcome{"they lead in them for good": algorithm.Starves,
		"two lead in them for longer than a take-over takes": algorithm.Recovers}
	for _, r := range shownRuns() {
		want, is := wants[r.name]
		if !is {
			want = r.want
		}
		v := r.booked(t, Valid)
		if got, _ := v.ShownInTerms(); got != want {
			t.Errorf("%s shows %v in terms, want %v", r.name, got, want)
		}
	}
}

// A run whose counts disagree shows nothing, unless two nodes led.
func TestDoubtedRunsAboutLeadersShowNothing(t *testing.T) {
	for _, r := range shownRuns() {
		v := r.booked(t, Inconclusive)
		led := v.Divided && (len(v.Starved) == 0 || v.Violates(leadersCheck))
		if got, _ := v.Shown(); (got == algorithm.Breaks) != led || !led && !v.Missed && got != 0 {
			t.Errorf("%s shows %v, though the counts disagree", r.name, got)
		}
	}
}

// A node that says that somebody leads has a leader, and a node that says nothing has none.
func TestWhoIsWithoutALeader(t *testing.T) {
	r := electionRun{text: "5 4 elect 4\n5 0 elect -2\n5 1 elect -2\n5 2 elect 4"}
	if v := r.verdict(t); !slices.Equal(v.Starved, []nodes.ID{3}) || v.Blocked {
		t.Errorf("%v are without a leader, and these are all: %v", v.Starved, v.Blocked)
	}
}

// If a run ended early, a fault that waited for a leader in vain does not count as missed.
func TestARunThatEndsEarlyMissesNothing(t *testing.T) {
	r := electionRun{text: allElect(5, 4, 1), setting: func(s *Setting) { s.Faults = []Fault{{Waits: true}} }}
	if v := r.verdict(t); !v.Missed {
		t.Error("nobody came for the fault")
	}
	r.text += fmt.Sprintf("900 0 mark %d", history.Interrupted)
	if v := r.verdict(t); v.Missed {
		t.Error("it may yet have come")
	}
}

// A run on a machine that has no time for its processes does not show that nobody leads.
func TestSluggishRunsAboutLeadersShowNothing(t *testing.T) {
	r := shownRun{electionRun: electionRun{text: allElect(150, 4, 0) + "250 0 elect 3",
		setting: func(s *Setting) { s.Real, s.Measured, s.Live = true, true, nodes.Timing }}}
	v := r.verdict(t)
	if got, says := v.Shown(); got != algorithm.Starves {
		t.Errorf("on time, it shows %v: %s", got, says)
	}
	r.text += "\n980 2 late 900"
	v = r.verdict(t)
	if got, says := v.Shown(); got != 0 {
		t.Errorf("late, it shows %v: %s", got, says)
	}
}
