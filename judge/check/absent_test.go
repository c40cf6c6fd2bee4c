package check

import (
	"strings"
	"testing"

	"turnstile/nodes"
)

// A leader that stands still, or is cut off, for longer than the grace counts like one that has crashed: of
// an algorithm that rests on neither crashes nor that, and if nothing else goes wrong.
func TestLeadersThatAreAbsent(t *testing.T) {
	const replaced = "\n350 0 elect 3\n350 1 elect 3\n350 2 elect 3\n350 3 elect 3"
	const back = "\n910 4 elect 3"
	const paused = "\n300 1 fault\n300 4 pause%s\n900 4 resume\n900 1 heal"
	const oracle = nodes.PerfectDetector // stands for one that the simulator speaks for
	const cut = "\n300 1 fault 1%s\n900 1 heal"
	stops := Fault{Text: "pause 4", Breaks: nodes.NoPause | nodes.Timing,
		Stops: func(id, _ nodes.ID) bool { return id == 4 }}
	parts := func(a, b, _ nodes.ID) bool { return a == 4 || b == 4 }
	cuts := Fault{Text: "cut 4", OfLinks: true, Breaks: nodes.NoLoss, Separates: parts, Blocks: parts}
	both := Fault{Text: "cut 3-4", OfLinks: true, Breaks: nodes.NoLoss,
		Separates: func(a, b, _ nodes.ID) bool { return a >= 3 != (b >= 3) }}
	loses := Fault{Text: "loss", OfLinks: true, Breaks: nodes.NoLoss}
	for _, x := range []struct {
		name, text string
		live       nodes.Assumption
		faults     []Fault
		says       string // part of what the check of agreement says that it violates; empty: it does not
	}{
		{"is cut off, and its detector tells of crashes alone", cut, oracle, []Fault{cuts}, ""},
		{"stands still", paused, 0, []Fault{stops}, "node 4 led and stood still from 300ms on, and for 600ms"},
		{"is replaced", strings.ReplaceAll(paused, "%s", replaced) + back, 0, []Fault{stops}, ""},
		{"stands still of one that needs that", paused, nodes.NoPause, []Fault{stops}, ""},
		{"stands still of one that waits after a crash", paused, nodes.NoCrash, []Fault{stops}, ""},
		{"stands still of one that rests on delays", paused, nodes.Timing, []Fault{stops}, "stood still"},
		{"is back in time", "\n300 1 fault\n300 4 pause\n390 4 resume\n390 1 heal", 0, []Fault{stops}, ""},
		{"another stands still", "300 1 fault\n300 1 pause\n900 1 resume\n900 1 heal", 0, []Fault{{Text: "pause 1",
			Breaks: nodes.NoPause, Stops: func(id, _ nodes.ID) bool { return id == 1 }}}, ""},
		{"is cut off", cut, 0, []Fault{cuts}, "node 4 led and was cut off from 300ms on, and for 600ms"},
		{"is cut off and replaced", strings.ReplaceAll(cut, "%s", replaced) + back, 0, []Fault{cuts}, ""},
		{"is cut off of one that needs all messages", cut, nodes.NoLoss, []Fault{cuts}, ""},
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
