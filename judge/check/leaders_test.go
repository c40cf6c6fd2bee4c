package check

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// overlapping are runs for the check of simultaneous leaders.
func overlapping() []electionRun {
	unhurried := func(s *Setting) { s.Overlap, s.Real, s.Slack = 50*time.Millisecond, true, time.Second }
	measured := func(s *Setting) { s.Overlap, s.Real, s.Measured = 50*time.Millisecond, true, true }
	const late = "250 0 elect 0\n309 0 late 15\n"
	cutOff := fmt.Sprintf("200 1 fault %d\n", nodes.NoLoss)
	four := func(s *Setting) { quorate(s); s.Config.N = 4 } // the cut leaves two on each side
	return []electionRun{
		{name: "half of the nodes are no majority", setting: four, check: "lapse", as: Violated,
			says: "node 0 led for 300ms without a majority",
			text: "5 0 elect 0 1\n5 1 elect 0 1\n5 2 elect 0 1\n5 3 elect 0 1\n" + cutOff +
				"500 0 elect -1 1\n900 1 heal"},
		{name: "three of four are a majority", setting: four, check: "lapse", as: Valid,
			says: "could reach a majority",
			text: "5 0 elect 0 1\n5 1 elect 0 1\n5 2 elect 0 1\n5 3 elect 0 1\n200 3 crash"},
		{name: "two leaders", text: allElect(5, 4, 0) + "50 3 elect 3\n60 3 elect 4", check: "leaders",
			as: Violated, says: "node 3 and node 4 for 10ms"},
		{name: "three leaders",
			text:  allElect(5, 4, 0) + "50 3 elect 3\n55 2 elect 2\n60 3 elect 4\n70 2 elect 4",
			check: "leaders", as: Violated,
			says: "3 leaders, at least two at any time: node 3, node 4 and node 2 for 20"},
		{name: "two leaders, one of which suspected the other", check: "leaders", as: Violated, outside: true,
			setting: func(s *Setting) { s.Safe = nodes.PerfectDetector },
			says:    "suspected, and another was; at 49ms, node 3 suspected node 4, which was up)",
			text:    allElect(5, 4, 0) + "49 3 suspect 4\n50 3 elect 3\n60 3 elect 4\n61 3 trust 4"},
		{name: "while one takes over", text: allElect(5, 4, 0) + "50 3 elect 3\n60 3 elect 4", check: "leaders",
			setting: func(s *Setting) { s.Overlap = 10 * time.Millisecond }, as: Valid,
			says: "never for longer than the 10ms"},
		{name: "for longer than a take-over may take", check: "leaders", as: Violated,
			setting: func(s *Setting) { s.Overlap = 9 * time.Millisecond },
			text:    allElect(5, 4, 0) + "50 3 elect 3\n60 3 elect 4"},
		{name: "two leaders that a cut keeps apart", check: "leaders", as: Violated, outside: true,
			setting: func(s *Setting) { parted(s); unhurried(s); s.Safe = nodes.NoLoss },
			says:    "node 0 and node 4 for 60ms",
			text:    allElect(5, 4, 0) + cutOff + "250 0 elect 0\n310 0 elect 4\n900 1 heal"},
		{name: "two leaders that a cut keeps apart for as long as a take-over takes", check: "leaders", as: Valid,
			setting: func(s *Setting) { parted(s); unhurried(s) },
			text:    allElect(5, 4, 0) + "190 0 elect 0\n" + cutOff + "240 0 elect 4\n900 1 heal"},
		{name: "two leaders, however late processes may be", check: "leaders", as: Violated, setting: unhurried,
			text: allElect(5, 4, 0) + "250 0 elect 0\n310 0 elect 4"},
		{name: "two leaders, one of which was late", check: "leaders", as: Valid, setting: measured,
			says: "than the 65ms that a take-over may take", text: allElect(5, 4, 0) + late + "310 0 elect 4"},
		{name: "two leaders, while another was late", check: "leaders", as: Violated, setting: measured,
			text: allElect(5, 4, 0) + strings.Replace(late, " 0 late", " 2 late", 1) + "310 0 elect 4"},
		{name: "two leaders outside its model", check: "leaders", as: Violated, outside: true,
			setting: func(s *Setting) { s.Safe = nodes.PerfectDetector },
			text:    allElect(5, 4, 0) + "49 3 suspect 4\n50 3 elect 3\n60 3 elect 4\n61 3 trust 4"},
		{name: "two leaders before anything was wrong", check: "leaders", as: Violated,
			setting: func(s *Setting) { s.Safe = nodes.PerfectDetector },
			text:    allElect(5, 4, 0) + "50 3 elect 3\n60 3 elect 4\n70 3 suspect 4"},
		{name: "two leaders long after it was", check: "leaders", as: Violated,
			setting: func(s *Setting) { s.Safe = nodes.PerfectDetector },
			text:    allElect(5, 4, 0) + "20 3 suspect 4\n21 3 trust 4\n350 3 elect 3\n360 3 elect 4"},
		{name: "one stood still", check: "leaders", as: Valid,
			text: allElect(5, 4, 0) + "50 4 pause\n60 3 elect 3\n70 4 resume\n70 4 elect 3"},
	}
}

// overlappingInTerms are runs for the check of simultaneous leaders with terms.
func overlappingInTerms() []electionRun {
	takes := func(overlap, slack time.Duration) func(*Setting) {
		return func(s *Setting) { parted(s); inTerms(s); s.Overlap, s.Slack = overlap, slack }
	}
	const handover = "50 3 elect 3 2\n60 4 elect 3 2"
	cutOff := fmt.Sprintf("200 1 fault %d\n", nodes.NoLoss)
	few := 10 * time.Millisecond
	bounded := func(s *Setting) {
		takes(few, 0)(s)
		s.Leads.Overlap = func(nodes.Config) time.Duration { return few }
	}
	return []electionRun{
		{name: "of two terms", setting: takes(few, 0), text: allElect(5, 4, 1) + handover,
			check: "leaders", as: Valid, says: "each of a term of its own"},
		{name: "of two terms, for longer than a take-over takes", setting: takes(few-1, 0), check: "leaders",
			as: Violated, says: "node 3 and node 4 for 10ms, though nothing had gone wrong",
			text: allElect(5, 4, 1) + handover},
		{name: "of two terms, by a process that may be late", setting: takes(0, few),
			text: allElect(5, 4, 1) + handover, check: "leaders", as: Valid},
		{name: "of two terms to the end, before its grace is over", check: "leaders", as: Violated,
			setting: func(s *Setting) { takes(few, few)(s); s.Grace = 2 * time.Second },
			says:    "node 3 and node 4 for 950ms", text: allElect(5, 4, 1) + "50 3 elect 3 2"},
		{name: "and more time is not asked for", check: "agreement", as: Inconclusive,
			setting: func(s *Setting) { takes(few, few)(s); s.Grace = 2 * time.Second },
			says:    "it may take 2.01s", without: "let the run go on",
			text: allElect(5, 4, 1) + "50 3 elect 3 2"},
		{name: "of two terms, kept apart by a cut", setting: takes(few, 0), check: "leaders", as: Valid,
			text: allElect(5, 4, 1) + cutOff + "250 0 elect 0 2\n900 1 heal\n990 0 elect 4 3\n990 4 elect 4 3"},
		{name: "of two terms, in its grace after a cut", setting: takes(few, 0), check: "leaders", as: Valid,
			text: allElect(5, 4, 1) + cutOff + "250 0 elect 0 2\n600 1 heal\n705 4 elect 0 2"},
		{name: "of two terms, later than that", setting: takes(few, 0), check: "leaders", as: Violated,
			says: "node 0 and node 4 for 11ms, though the algorithm had had its time to recover " +
				"from what had gone wrong",
			text: allElect(5, 4, 1) + cutOff + "250 0 elect 0 2\n600 1 heal\n711 4 elect 0 2"},
		{name: "of two terms, beside one that stood still", setting: takes(few, 0), check: "leaders", as: Valid,
			text: allElect(5, 4, 1) + "50 4 pause\n60 3 elect 3 2\n90 4 resume\n150 4 elect 3 2"},
		{name: "of two terms, as what it rests on is lost for good", check: "leaders", as: Valid,
			setting: func(s *Setting) { takes(few, 0)(s); s.Live = nodes.NoLoss },
			text:    allElect(5, 4, 1) + cutOff + "250 0 elect 0 2\n600 1 heal"},
		{name: "of two terms, by timeouts that are too short", check: "leaders", as: Valid,
			setting: func(s *Setting) { takes(0, 0)(s); s.NeverHolds = nodes.Timing },
			text:    allElect(5, 4, 1) + handover},
		{name: "of two terms, and a process later than timeouts cover", check: "leaders", as: Valid,
			setting: func(s *Setting) { takes(0, 0)(s); s.Measured, s.Live = true, nodes.Timing },
			text:    allElect(5, 4, 1) + handover + "\n60 4 late 10"},
		{name: "of two terms, and a process late by less than they led", check: "leaders", as: Violated,
			setting: func(s *Setting) { takes(0, 0)(s); s.Measured, s.Live = true, nodes.Timing },
			text:    allElect(5, 4, 1) + handover + "\n60 4 late 4"},
		{name: "of two terms after a cut, for longer than the promised bound", check: "leaders", as: Violated,
			setting: bounded, text: allElect(5, 4, 1) + cutOff + "250 0 elect 0 2\n600 1 heal\n611 4 elect 0 2",
			says: "node 0 and node 4 for 11ms"},
		{name: "of two terms after a cut, for as long as that", check: "leaders", as: Valid, setting: bounded,
			text: allElect(5, 4, 1) + cutOff + "250 0 elect 0 2\n600 1 heal\n610 4 elect 0 2"},
	}
}

// withoutMajority are runs for the check whether nodes come to lead only while they reach a majority.
func withoutMajority() []electionRun {
	bound := func(s *Setting) {
		parted(s)
		s.Leads = &algorithm.Leadership{Terms: true, Follow: algorithm.MajorityReached}
		s.Bounded, s.Delay = true, 5*time.Millisecond
	}
	even := func(s *Setting) {
		bound(s)
		s.Config.N = 4
	}
	loose := func(s *Setting) {
		bound(s)
		s.Bounded = false
	}
	four := strings.TrimSuffix(allElect(5, 0, 1), "5 4 elect 0 1\n")
	cutOff := fmt.Sprintf("200 1 fault %d\n", nodes.NoLoss)
	return []electionRun{
		{name: "on the side of a majority", setting: bound, check: "majority", as: Valid,
			text: allElect(5, 0, 1) + cutOff + "300 2 elect 2 2\n900 1 heal"},
		{name: "on the other side", setting: bound, check: "majority", as: Violated,
			says: "node 1 came to lead at 300ms, in term 2, though it had reached no majority for 100ms",
			text: allElect(5, 2, 1) + cutOff + "300 1 elect 1 2\n900 1 heal"},
		{name: "half of the nodes", setting: even, check: "majority", as: Violated, says: "node 2 came to lead",
			text: four + cutOff + "300 2 elect 2 2\n900 1 heal"},
		{name: "after the crashes of a majority", setting: bound, check: "majority", as: Violated,
			text: allElect(5, 0, 1) + "200 2 crash\n210 3 crash\n220 4 crash\n300 1 elect 1 2"},
		{name: "by votes that were on their way", setting: bound, check: "majority", as: Valid,
			says: "perhaps by votes",
			text: allElect(5, 2, 1) + cutOff + "210 1 elect 1 2\n900 1 heal"},
		{name: "in an election that was going on before", setting: bound, check: "majority", as: Valid,
			text: allElect(5, 2, 1) + "190 2 crash\n" + cutOff + "300 1 elect 1 2\n900 1 heal"},
		{name: "in the term that it led in before", setting: bound, check: "majority", as: Valid,
			text: allElect(5, 1, 2) + cutOff + "300 1 elect -1 2\n310 1 elect 1 2\n900 1 heal"},
		{name: "messages may take any time", setting: loose, check: "majority", as: Valid,
			text: allElect(5, 2, 1) + cutOff + "300 1 elect 1 2\n900 1 heal"},
		{name: "after the heal", setting: bound, check: "majority", as: Valid,
			text: allElect(5, 2, 1) + cutOff + "250 1 heal\n300 1 elect 1 2"},
	}
}

// For how long two led, in terms of their own, counts only what no broken assumption of safety explains.
func TestTwoLedThoughNothingExplainsIt(t *testing.T) {
	const both = "250 0 elect 0 2\n300 4 elect 0 2\n"
	for name, x := range map[string]struct {
		breaks, later nodes.Assumption
		want          time.Duration
	}{
		"a fault that breaks nothing":    {want: 50 * time.Millisecond},
		"a pause much later":             {later: nodes.NoPause, want: 50 * time.Millisecond},
		"a fault that breaks its safety": {breaks: nodes.NoPause},
	} {
		r := electionRun{text: allElect(5, 4, 1) + fmt.Sprintf("200 1 fault %d\n", x.breaks) + both +
			fmt.Sprintf("600 1 heal\n800 2 fault %d\n850 2 heal\n", x.later),
			setting: func(s *Setting) {
				inTerms(s)
				s.Safe, s.Faults = nodes.NoPause, []Fault{{Text: "one", Breaks: x.breaks}, {Text: "two", Breaks: x.later}}
			}}
		f := finding(t, r.verdict(t), "leaders")
		if f.Outcome != Valid || f.Together != x.want {
			t.Errorf("%s: %v, %v: %s", name, f.Outcome, f.Together, f.Says)
		}
	}
}
