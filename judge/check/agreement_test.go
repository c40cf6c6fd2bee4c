package check

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"turnstile/nodes"
)

// lateInCalm are runs for the check whether all agreed in time whenever nothing went wrong.
func lateInCalm() []electionRun {
	late := func(s *Setting) { s.Timed, s.Real, s.Slack = true, true, 50*time.Millisecond }
	none := func(known time.Duration) func(*Setting) {
		return func(s *Setting) { s.Grace, s.Promise.Known = 0, known }
	}
	crash := func(until int) string {
		return allElect(5, 4, 0) + "300 4 crash\n" + strings.ReplaceAll(allElect(until, 3, 0),
			fmt.Sprintf("%d 4 elect 3 0\n", until), "")
	}
	return []electionRun{
		{name: "a process that was late at the end", setting: late, check: "agreement", as: Inconclusive,
			text: allElect(5, 4, 0) + "980 0 elect 3", says: "20ms after a node declared; it may take 150ms"},
		{name: "none was late at the end", check: "agreement", as: Violated,
			text: allElect(5, 4, 0) + "980 0 elect 3"},
		{name: "late, but long ago", setting: late, check: "agreement", as: Violated,
			text: allElect(5, 4, 0) + "840 0 elect 3"},
		{name: "a leader in time", text: crash(399), check: "agreement", as: Valid},
		{name: "no leader for too long", text: crash(400), check: "agreement", as: Violated,
			says: "from 300ms on, the nodes did not agree on a leader for 100ms"},
		{name: "for too long, which it does not promise", text: crash(900), check: "agreement", as: Valid,
			setting: func(s *Setting) { s.Live = nodes.NoCrash }},
		{name: "no leader for too long before a cut", setting: parted, check: "agreement", as: Violated,
			text: allElect(5, 4, 0) + "300 0 elect 0\n600 1 fault", says: "agree on a leader for 300ms"},
		{name: "too soon after a crash, and why", text: allElect(5, 4, 0) + "950 4 crash", check: "agreement",
			as: Inconclusive, says: "50ms after anything went wrong"},
		{name: "a cut that lasts to the end", setting: parted, check: "agreement", as: Inconclusive,
			text: allElect(5, 4, 0) + "200 1 fault\n210 0 elect 0",
			says: "and cut 0-1/2-4 lasted until then; it may take 100ms after it: " +
				"let it end sooner, or the run last longer"},
		{name: "a cut that is healed after the end", setting: parted, check: "agreement", as: Inconclusive,
			text: allElect(5, 4, 0) + "200 1 fault\n210 0 elect 0\n1500 1 heal", says: "lasted until then"},
		{name: "a cut that is over just before", setting: parted, check: "agreement", as: Inconclusive,
			text: allElect(5, 4, 0) + "200 1 fault\n210 0 elect 0\n950 1 heal", says: "50ms after anything went"},
		{name: "too soon after the run began", check: "agreement", as: Inconclusive,
			setting: func(s *Setting) { s.Grace = 2 * time.Second },
			text:    "0 0 campaign", says: "1s after the run began; it may take 2s: let the run go on"},
		{name: "too soon after the first campaigned", check: "agreement", as: Inconclusive,
			setting: func(s *Setting) { s.Grace = 2 * time.Second },
			text:    "5 0 campaign", says: "995ms after somebody began to campaign; it may take 2s"},
		{name: "in time after a cut", setting: parted, check: "agreement", as: Valid,
			text: allElect(5, 4, 0) + "200 1 fault\n210 0 elect 0\n600 1 heal\n699 0 elect 4"},
		{name: "too late after a cut", setting: parted, check: "agreement", as: Violated, says: "from 600ms on",
			text: allElect(5, 4, 0) + "200 1 fault\n210 0 elect 0\n600 1 heal\n700 0 elect 4"},
		{name: "a pause excuses until it is over", check: "agreement", as: Violated, says: "wrong for 800ms",
			setting: func(s *Setting) { s.Live = nodes.NoPause },
			text:    allElect(5, 4, 0) + "100 3 pause\n150 0 elect 0\n200 3 resume"},
		{name: "a pause at the end", check: "agreement", as: Inconclusive, outside: true,
			setting: func(s *Setting) { s.Live = nodes.NoPause },
			text:    allElect(5, 4, 0) + "100 3 pause\n150 0 elect 0"},
		{name: "in time after a wrong suspicion", check: "agreement", as: Valid,
			text: allElect(5, 4, 0) + "300 0 suspect 4\n300 0 elect 0\n550 0 trust 4\n600 0 elect 4"},
		{name: "too late after a wrong suspicion", check: "agreement", as: Violated, says: "from 550ms on",
			text: allElect(5, 4, 0) + "300 0 suspect 4\n300 0 elect 0\n550 0 trust 4\n660 0 elect 4"},
		{name: "in time after what a fault has left behind", check: "agreement", as: Valid,
			setting: func(s *Setting) { parted(s); s.Faults[0].Leaves = 60 * time.Millisecond },
			text:    allElect(5, 4, 0) + "200 1 fault\n210 0 elect 0\n600 1 heal\n750 0 elect 4"},
		{name: "in time after a node came up again", check: "agreement", as: Valid,
			text: allElect(5, 4, 0) + "300 4 crash\n380 4 restart 1\n" + allElect(470, 4, 0)},
		{name: "messages that may be on their way", setting: none(50 * time.Millisecond), check: "agreement",
			as: Inconclusive, text: "5 0 elect -1", says: "it may take 1.6s"},
		{name: "messages that have long come", setting: none(30 * time.Millisecond), check: "agreement",
			as: Violated, text: "5 0 elect -1"},
		{name: "no grace, and a while without a leader", setting: none(time.Millisecond), check: "agreement",
			as: Valid, text: crash(400)},
	}
}

// crashing are runs for the check whether a leader was elected after each crash of one.
func crashing() []electionRun {
	const next = "320 0 elect 3\n320 1 elect 3\n320 2 elect 3\n320 3 elect 3\n"
	return []electionRun{
		{name: "nobody was elected", text: "5 0 elect -1", check: "elections", as: Inconclusive,
			says: "no election was completed"},
		{name: "a successor", text: allElect(5, 4, 0) + "300 4 crash\n" + next, check: "elections", as: Valid,
			says: "2 elections were completed, 1 of them after 1 crash of a leader"},
		{name: "another than the leader crashed", text: allElect(5, 4, 0) + "300 0 crash", check: "elections",
			as: Valid, says: "1 election was completed"},
		{name: "no successor", text: allElect(5, 4, 0) + "950 4 crash", check: "elections", as: Inconclusive,
			says: "no election was completed after 1 crash of a leader"},
		{name: "back before anybody was elected", check: "elections", as: Inconclusive,
			text:    allElect(5, 4, 0) + "300 4 crash\n310 4 restart 1\n311 4 elect 4",
			says:    "after 1 crash of a leader; all took the same one for the leader again when it was back: keep",
			witness: "the leader node 4 crashed at 300ms; it was back after 10ms; all took it for the leader again"},
		{name: "back, and not taken for the leader", check: "elections", as: Inconclusive,
			text:    allElect(5, 4, 0) + "300 4 crash\n310 4 restart 1\n311 4 elect -1",
			says:    "no election was completed after 1 crash of a leader; an election may need up to 100ms",
			witness: "the leader node 4 crashed at 300ms; it was back after 10ms; 700ms later, the run ended"},
		{name: "back once of two times", check: "elections", as: Inconclusive,
			text: allElect(5, 4, 0) + "300 4 crash\n310 4 restart 1\n311 4 elect 4\n950 4 crash",
			says: "after 2 crashes of a leader; an election may need up to 100ms"},
		{name: "the next leader crashed before all knew of it", check: "elections", as: Inconclusive,
			text: allElect(5, 4, 0) + "300 4 crash\n320 3 elect 3\n330 3 crash\n" +
				"340 2 elect 2\n341 1 elect 2\n341 0 elect 2",
			says:    "no election was completed after 1 crash of a leader",
			witness: "the leader node 4 crashed at 300ms; 30ms later, the leader node 3 crashed"},
		{name: "back only after the next leader crashed", check: "elections", as: Inconclusive,
			text:    allElect(5, 4, 0) + "300 4 crash\n320 3 elect 3\n330 3 crash\n340 4 restart 1\n345 4 elect 4",
			says:    "after 2 crashes of a leader; an election may need up to 100ms",
			witness: "the leader node 4 crashed at 300ms; 30ms later, the leader node 3 crashed"},
		{name: "all had another leader when it crashed", check: "elections", as: Valid,
			text: allElect(5, 4, 0) + "200 4 pause\n" + next + "400 4 crash",
			says: "2 elections were completed"},
	}
}

// troubled are runs with faults. Each has a time from which on no assumption is broken.
func troubled() []electionRun {
	down := func(s *Setting) { s.Faults = []Fault{{Text: "kill 4", Breaks: nodes.NoCrash}} }
	lostOne := func(s *Setting) {
		s.Grace, s.Promise.Known, s.Live = 0, time.Millisecond, nodes.NoLoss
		s.Faults = []Fault{{Text: "loss #4", OfLinks: true, ForGood: true, Breaks: nodes.NoLoss}}
	}
	lostAnswer := func(s *Setting) {
		s.Faults = []Fault{{Text: "drop-answer 1", OfLinks: true, ForGood: true,
			Breaks: nodes.NoLoss | nodes.Timing, Leaves: 100 * time.Millisecond}}
	}
	return []electionRun{
		{name: "an answer that was lost, and nobody recovers", setting: lostAnswer, check: "agreement",
			as: Violated, says: "wrong for 600ms",
			text: allElect(5, 4, 0) + "200 1 fault 257\n300 1 heal 400\n301 1 elect -1"},
		{name: "one of two answers that was lost", setting: lostAnswer, check: "agreement",
			as: Violated, says: "wrong for 600ms",
			text: allElect(5, 4, 0) + "200 1 fault 257\n301 1 elect -1\n1000 1 heal 400"},
		{name: "an answer that was lost a moment ago", setting: lostAnswer, check: "agreement", as: Inconclusive,
			text: allElect(5, 4, 0) + "200 1 fault 257\n850 1 heal 950\n851 1 elect -1", says: "it may take 100ms"},
		{name: "a cut without end", setting: parted, check: "agreement", as: Inconclusive,
			text: allElect(5, 4, 0) + "200 1 fault 1\n201 1 elect -1\n1000 1 heal 999", says: "lasted until then"},
		{name: "too soon after another campaign", check: "agreement", as: Inconclusive,
			text: allElect(5, 4, 0) + "950 1 campaign\n951 1 elect -1",
			says: "50ms after somebody campaigned again; it may take 100ms"},
		{name: "too late after another campaign", check: "agreement", as: Violated, says: "wrong for 700ms",
			text: allElect(5, 4, 0) + "300 1 campaign\n301 1 elect -1"},
		{name: "campaigns that come too soon for anybody to be elected", check: "agreement", as: Valid,
			text: allElect(5, 4, 0) + "300 1 campaign\n301 1 elect -1\n390 1 campaign\n470 1 elect 4"},
		{name: "no leader while a node is down", setting: down, check: "agreement", as: Violated,
			text: allElect(5, 4, 0) + "300 1 fault\n300 4 crash\n600 4 restart 1\n600 1 heal\n" +
				allElect(610, 4, 0), says: "from 300ms on, the nodes did not agree on a leader for 300ms"},
		{name: "a message that was lost for good, at an unknown time", setting: lostOne,
			check: "agreement", as: Inconclusive, outside: true,
			says: "blocked: the algorithm assumes that no message is lost, and one was",
			text: "5 0 campaign\n6 0 elect -1\n7 1 fault 1\n1000 1 heal"},
	}
}

// A leader that stands still, or is cut off, for longer than the grace counts as crashed, if the algorithm
// tolerates both crashes and such absences, and nothing else goes wrong.
func TestLeadersThatAreAbsent(t *testing.T) {
	const replaced = "\n350 0 elect 3\n350 1 elect 3\n350 2 elect 3\n350 3 elect 3"
	const back = "\n910 4 elect 3"
	const paused = "\n300 1 fault\n300 4 pause%s\n900 4 resume\n900 1 heal"
	const oracle = nodes.PerfectDetector // in live: a detector that the simulator plays (Setting.Oracle)
	const cut = "\n300 1 fault 1%s\n900 1 heal"
	stops := Fault{Text: "pause 4", Breaks: nodes.NoPause | nodes.Timing,
		Stops: true, Hits: func(id, _ nodes.ID) bool { return id == 4 }}
	parts := func(a, b, _ nodes.ID) bool { return a == 4 || b == 4 }
	cuts := Fault{Text: "cut 4", OfLinks: true, Breaks: nodes.NoLoss, Separates: parts, Blocks: parts}
	both := Fault{Text: "cut 3-4", OfLinks: true, Breaks: nodes.NoLoss,
		Separates: func(a, b, _ nodes.ID) bool { return a >= 3 != (b >= 3) }}
	loses := Fault{Text: "loss", OfLinks: true, Breaks: nodes.NoLoss}
	for _, x := range []struct {
		name, text string
		live       nodes.Assumption
		faults     []Fault
		says       string // part of the violation that the check of agreement finds; empty: it finds no violation
	}{
		{"is cut off, and its detector tells of crashes alone", cut, oracle, []Fault{cuts}, ""},
		{"stands still", paused, 0, []Fault{stops}, "node 4 led and stood still from 300ms on; for 600ms"},
		{"is replaced", strings.ReplaceAll(paused, "%s", replaced) + back, 0, []Fault{stops}, ""},
		{"stands still of one that needs that", paused, nodes.NoPause, []Fault{stops}, ""},
		{"stands still of one that waits after a crash", paused, nodes.NoCrash, []Fault{stops}, ""},
		{"stands still of one that rests on delays", paused, nodes.Timing, []Fault{stops}, "stood still"},
		{"is back in time", "\n300 1 fault\n300 4 pause\n390 4 resume\n390 1 heal", 0, []Fault{stops}, ""},
		{"another stands still", "300 1 fault\n300 1 pause\n900 1 resume\n900 1 heal", 0, []Fault{{Text: "pause 1",
			Breaks: nodes.NoPause, Stops: true, Hits: func(id, _ nodes.ID) bool { return id == 1 }}}, ""},
		{"is cut off", cut, 0, []Fault{cuts}, "node 4 led and was cut off from 300ms on; for 600ms"},
		{"is cut off and replaced", strings.ReplaceAll(cut, "%s", replaced) + back, 0, []Fault{cuts}, ""},
		{"is cut off of one that needs all messages", cut, nodes.NoLoss, []Fault{cuts}, ""},
		{"is cut off of one that needs a majority", cut, nodes.Majority, []Fault{cuts}, "was cut off"},
		{"is cut off and leaves half of the nodes", "\n20 0 crash\n20 1 crash" + cut, nodes.Majority,
			[]Fault{cuts}, ""},
		{"is cut off with another", cut, 0, []Fault{both}, ""},
		{"is absent while messages are lost", "\n200 2 fault" + paused + "\n950 2 heal", 0,
			[]Fault{stops, loses}, ""},
	} {
		run := electionRun{text: allElect(10, 4, 0) + strings.TrimSpace(strings.ReplaceAll(x.text, "%s", "")),
			setting: func(s *Setting) { s.Live, s.Faults, s.Oracle = x.live&^oracle, x.faults, x.live&oracle != 0 }}
		f := finding(t, run.verdict(t), "agreement")
		if (f.Outcome == Violated) != (x.says != "") || !strings.Contains(f.Says, x.says) {
			t.Errorf("%s: %v: %s", x.name, f.Outcome, f.Says)
		}
	}
}
