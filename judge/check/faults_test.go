package check

import (
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/port"
)

// A run is judged by the faults that hit something, and lists the others, which it shows nothing about: no
// finding names these as tolerated.
func TestRunsAreJudgedByTheFaultsThatHit(t *testing.T) {
	hits := Fault{Text: "loss 5%", OfLinks: true, Breaks: nodes.NoLoss}
	misses := Fault{Text: "cut 0/1", OfLinks: true, Breaks: nodes.NoLoss}
	waits := Fault{Text: "kill holder", Breaks: nodes.NoCrash, Waits: true}
	nobody := Fault{Text: "pause 1", Breaks: nodes.NoPause}
	w := measuring()
	w.Live, w.CostKnown, w.Identities = nodes.NoLoss|nodes.NoCrash, false, nil
	w.Faults = []Fault{misses, hits, waits, nobody}
	w.round()
	for number, of := range map[int]int64{1: 0, 2: 3, 4: 0} {
		w.add(nodes.None, history.FaultEvent(port.FaultEvent{Number: number, Victim: nodes.None}))
		healed := history.Event{Kind: history.FaultHealed, Count: uint32(number), Value: of}
		if of > 0 {
			healed.Entry = 1 // at the end of the fault
		}
		w.add(nodes.None, healed)
	}
	w.turn(0)
	w.turn(1)
	w.end()
	v := w.judge()
	f := finding(t, v, "faults")
	if f.Outcome != Valid || !strings.HasPrefix(f.Says, "loss 5%: it hit 3 messages, the first at ") ||
		!strings.Contains(f.Says, "3 faults hit nothing, and the run shows nothing about that") {
		t.Errorf("%v: %s", f.Outcome, f.Says)
	}
	said := f.Says + strings.Join(f.Witness, "\n")
	for _, other := range []Fault{misses, waits, nobody} {
		if strings.Contains(said, other.Text) {
			t.Errorf("%s hit nothing, and the run is said to show it: %s", other.Text, said)
		}
	}
	all := strings.Join(v.Misses, "\n")
	for _, says := range []string{"cut 0/1: it hit no message", "kill holder: it did not take place",
		"pause 1: it hit no node"} {
		if !strings.Contains(all, says) || len(v.Misses) != 3 {
			t.Errorf("%s is missing in %s", says, all)
		}
	}
	if v.Outcome != Valid || v.Missed {
		t.Errorf("%v: %s, nothing was hit: %v", v.Outcome, v.Reason, v.Missed)
	}
}

// A fault that did not take place, hit nothing or was not healed shows nothing, even if all else is right.
func TestFaultsThatShowNothing(t *testing.T) {
	lossy := Fault{Text: "loss 5%", OfLinks: true, Breaks: nodes.NoLoss}
	rateZero := Fault{Text: "loss 0%", OfLinks: true}
	kill := Fault{Text: "kill 1", Breaks: nodes.NoCrash}
	begin := func(w *world, number, hit int) {
		w.add(nodes.None, history.FaultEvent(port.FaultEvent{Number: number, Victim: nodes.None, Nodes: hit}))
	}
	beginAt := func(w *world, hit int, servers ...int) {
		w.add(nodes.None, history.FaultEvent(port.FaultEvent{Number: 1, Victim: nodes.None, Nodes: hit,
			Servers: servers}))
	}
	heal := func(w *world, number int, hits int64) {
		w.add(nodes.None, history.Event{Kind: history.FaultHealed, Count: uint32(number), Value: hits})
	}
	for _, test := range []struct {
		name  string
		fault Fault
		do    func(w *world)
		says  string // empty: it shows something
	}{
		{"healed", lossy, func(w *world) { begin(w, 1, 0); heal(w, 1, 3) }, ""},
		{"of rate zero", rateZero, func(w *world) { begin(w, 1, 0); heal(w, 1, 0) }, ""},
		{"healed, of a node", kill, func(w *world) { begin(w, 1, 1); heal(w, 1, 0) }, ""},
		{"never fired", lossy, func(*world) {}, "loss 5%: it did not take place"},
		{"drew no message", Fault{Text: "loss 5%", OfLinks: true, Breaks: nodes.NoLoss, ByChance: true},
			func(w *world) { begin(w, 1, 0); heal(w, 1, 0) },
			"loss 5%: it hit no message: chance picked no matching message, if any came"},
		{"hit no message", lossy, func(w *world) { begin(w, 1, 0); heal(w, 1, 0) }, "loss 5%: it hit no message"},
		{"healed, of a server", killServer, func(w *world) { beginAt(w, 0, 0, 2); heal(w, 1, 0) }, ""},
		{"hit no server", killServer, func(w *world) { begin(w, 1, 0) },
			"kill server 0: it hit no server that was up"},
		{"hit no node", kill, func(w *world) { begin(w, 1, 0); heal(w, 1, 0) }, "kill 1: it hit no node"},
		{"not healed", lossy, func(w *world) { begin(w, 1, 0) }, "loss 5%: it was not healed"},
		{"never resumed", kill, func(w *world) {
			begin(w, 1, 1)
			heal(w, 1, 0)
			w.add(nodes.None, history.Event{Kind: history.Paused, Count: 1})
		}, "node 1 is still paused at the end of the run"},
		{"not asked for", lossy, func(w *world) { begin(w, 2, 0); heal(w, 2, 1) }, "which was not asked for"},
	} {
		w := measuring()
		w.Live, w.CostKnown, w.Identities = nodes.NoLoss|nodes.NoCrash, false, nil
		w.Faults = []Fault{test.fault}
		w.round()
		test.do(w)
		w.turn(0)
		w.turn(1)
		w.end()
		v := w.judge()
		f := finding(t, v, "faults")
		if want := test.says == ""; (f.Outcome == Valid) != want || !want && f.Outcome != Inconclusive ||
			!strings.Contains(f.Says, test.says) {
			t.Errorf("%s: %v: %s", test.name, f.Outcome, f.Says)
		}
		if test.says != "" && v.Outcome == Valid {
			t.Errorf("%s: the run is valid", test.name)
		}
	}
}

// A repeated fault has hit something if one of its repetitions did. Each other fault counts by itself.
func TestARepeatedFaultHitsOnce(t *testing.T) {
	kill := Fault{Text: "kill 1", Breaks: nodes.NoCrash}
	again, other := kill, kill
	again.Text, again.Again, other.Text = "kill 2", true, "kill 3"
	for name, test := range map[string]struct {
		hit    []int // how many nodes each fault hit; -1: it did not take place
		misses []string
		shows  algorithm.Outcome
	}{
		"all have hit":                     {[]int{1, 1, 1}, nil, algorithm.Recovers},
		"the first found its node down":    {[]int{0, 1, 1}, nil, algorithm.Recovers},
		"the second did not take place":    {[]int{1, -1, 1}, nil, algorithm.Recovers},
		"neither the first nor the second": {[]int{0, 0, 1}, []string{"kill 1: it hit no node"}, 0},
		"the one that is not a repetition": {[]int{0, 1, 0}, []string{"kill 3: it hit no node"}, 0},
	} {
		w := measuring()
		w.CostKnown, w.Identities, w.Faults = false, nil, []Fault{kill, again, other}
		for i, hit := range test.hit {
			w.round()
			if hit >= 0 {
				w.add(nodes.None, history.FaultEvent(port.FaultEvent{Number: i + 1, Victim: nodes.None, Nodes: hit}))
				w.add(nodes.None, history.Event{Kind: history.FaultHealed, Count: uint32(i + 1)})
			}
		}
		w.round()
		w.end()
		v := w.judge()
		if shows, why := v.Shown(); !slices.Equal(v.Misses, test.misses) || shows != test.shows {
			t.Errorf("%s: it shows %v, %s; these have hit nothing: %q", name, shows, why, v.Misses)
		}
	}
}

// The text of a fault of servers names the servers.
func TestFaultsSayWhichServersTheyHit(t *testing.T) {
	for want, hit := range map[string]section.Fault{
		"2 nodes":                         {Nodes: 2},
		"server 0":                        {Servers: []int{0}},
		"server 0, server 1 and server 2": {Servers: []int{0, 1, 2}},
		"1 node at server 2":              {Nodes: 1, Servers: []int{2}},
	} {
		if got := hitText(&hit); got != want {
			t.Errorf("it hit %s, not %s", got, want)
		}
	}
}

// If an algorithm tolerates a fault, the longest stretch without an entry counts, even if clients entered
// during the fault: if it exceeds the grace plus the time of twenty entries, the algorithm breaks its promise
// of progress. It counts only if a client waited that the fault did not hit, and nothing else was wrong.
func TestTheLongestStretchWithoutAnEntry(t *testing.T) {
	const grace = time.Millisecond
	copies := Fault{Text: "duplicate 20%", OfLinks: true, Breaks: nodes.NoDuplication}
	other := Fault{Text: "loss 5%", OfLinks: true, Breaks: nodes.NoLoss}
	cut := Fault{Text: "cut 0", OfLinks: true, Breaks: nodes.NoLoss,
		Cuts: true, Hits: func(id, _ nodes.ID) bool { return id == 0 }}
	for _, x := range []struct {
		name   string
		faults []Fault
		safe   nodes.Assumption
		gap    time.Duration
		paused bool // the waiting client stands still
		alone  bool // only one entry came before the fault
		broken bool
	}{
		{name: "after one entry", faults: []Fault{copies}, gap: 2 * grace, alone: true},
		{name: "within the grace", faults: []Fault{copies}, gap: grace},
		{name: "beyond it", faults: []Fault{copies}, gap: 2 * grace, broken: true},
		{name: "of one that rests on it", faults: []Fault{copies}, safe: nodes.NoDuplication, gap: 2 * grace},
		{name: "beside another fault", faults: []Fault{copies, other}, gap: 2 * grace},
		{name: "the waiting client stands still", faults: []Fault{copies}, gap: 2 * grace, paused: true},
		{name: "the waiting client is cut off", faults: []Fault{cut}, gap: 2 * grace},
	} {
		w := measuring()
		w.Safe, w.Grace, w.Faults, w.CostKnown, w.Identities = x.safe, grace, x.faults, false, nil
		if x.alone {
			w.ask(0)
			w.permission(0)
			w.enter(0)
			w.exit(0)
		}
		for i := 0; i < 3 && !x.alone; i++ {
			w.round()
		}
		for i, f := range x.faults {
			w.add(nodes.None, history.FaultEvent(port.FaultEvent{Number: i + 1, Breaks: f.Breaks,
				Victim: nodes.None}))
		}
		if !x.alone {
			w.round()
		}
		w.ask(0)
		w.permission(0)
		if x.paused {
			w.add(nodes.None, history.Event{Kind: history.Paused, Count: 0})
		}
		w.now += int64(x.gap)
		if x.paused {
			w.add(nodes.None, history.Event{Kind: history.Resumed, Count: 0})
		}
		w.enter(0)
		w.exit(0)
		for i := range x.faults {
			w.add(nodes.None, history.Event{Kind: history.FaultHealed, Count: uint32(i + 1), Value: 3})
		}
		w.round()
		w.end()
		v := w.judge()
		f := finding(t, v, "progress")
		if (f.Outcome == Violated) != x.broken || x.broken && !strings.HasPrefix(v.Reason,
			"no progress: nobody entered for ") || f.Idle != x.broken {
			t.Errorf("%s: %v: %s; %s", x.name, f.Outcome, f.Says, v.Reason)
		}
	}
}
