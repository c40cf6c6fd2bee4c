package check

import (
	"strings"
	"testing"
	"time"

	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
)

// passing returns a run of two nodes. While the request of node 1 is open, node 0 enters so many times; only
// these entries are measured.
func passing(times int, p Promise) func() *world {
	return func() *world {
		w := newWorld(2)
		w.Promise = p
		w.round()
		w.ask(1)
		w.permission(1)
		w.mark(history.Measuring)
		for range times {
			w.turn(0)
		}
		w.mark(history.Stopped)
		w.enter(1)
		w.exit(1)
		w.mark(history.Rested)
		return w
	}
}

var unfairMutants = []mutant{
	{"passed over", passing(2, Promise{Made: true, Bypass: 1, Times: 1}),
		"fairness", Violated, Violated, "node 1 was passed over: others entered 2 times after its request 2"},
	{"passed over while a process stood still", func() *world {
		w := passing(2, Promise{Made: true, Bypass: 1, Times: 1})()
		w.stand(1, w.log(1).Events[3].At, 1000)
		return w
	}, "fairness", Inconclusive, Inconclusive, "(outside its model: the algorithm assumes that no node pauses " +
		"for long and that messages and handlers take bounded time, and that did not hold)"},
	{"passed over long after a process stood still", func() *world {
		w := passing(2, Promise{Made: true, Bypass: 1, Times: 1})()
		w.stand(1, 0, w.log(1).Events[3].At-1)
		return w
	}, "fairness", Violated, Violated, "node 1 was passed over"},
	{"passed over before a process stood still", func() *world {
		w := passing(2, Promise{Made: true, Bypass: 1, Times: 1})()
		w.stand(1, w.now, 1000)
		return w
	}, "fairness", Violated, Violated, "node 1 was passed over"},
	{"passed over, by counts that disagree", func() *world {
		w := passing(2, Promise{Made: true, Bypass: 1, Times: 1})()
		w.totals(0).Entries++
		return w
	}, "fairness", Inconclusive, Inconclusive, "the counts disagree, but by them node 1 was passed over"},
	{"passed over for want of a message", func() *world {
		w := passing(2, Promise{Made: true, Bypass: 1, Times: 1})()
		w.log(0).Totals.Gaps++
		return w
	}, "fairness", Inconclusive, Inconclusive, "promises at most 1, but 1 message on the way did not arrive"},
	{"starved", passing(11, Promise{}), "fairness", Inconclusive, Inconclusive,
		"node 1 had asked before the window and got nothing in it, while others entered 11 times"},
	{"starved by chance", passing(11, Promise{Chance: true}), "fairness", Valid, Valid,
		"the next client to enter is a matter of chance here"},
}

func TestFairness(t *testing.T) {
	forever := time.Hour
	for _, c := range []struct {
		name  string
		times int
		p     Promise
		want  Outcome
	}{
		{"as often as promised", 3, Promise{Made: true, Bypass: 3, Times: 1}, Valid},
		{"once too often", 4, Promise{Made: true, Bypass: 3, Times: 1}, Violated},
		{"as often as tolerated", 30, Promise{Made: true, Bypass: 3, Times: 10}, Valid},
		{"oftener than tolerated", 31, Promise{Made: true, Bypass: 3, Times: 10}, Violated},
		{"before it was known", 31, Promise{Made: true, Bypass: 3, Times: 1, Known: forever}, Valid},
		{"nothing is promised", 10, Promise{}, Valid},
		{"nothing is promised, and one starves", 11, Promise{}, Inconclusive},
		{"the window is too short to starve", 11, Promise{Known: forever}, Valid},
	} {
		if f := finding(t, passing(c.times, c.p)().judge(), "fairness"); f.Outcome != c.want {
			t.Errorf("%s: %v: %s", c.name, f.Outcome, f.Says)
		}
	}
}

// A node that is away cannot enter, so entries of others do not pass it over.
func TestPassesWhileANodeIsAwayDoNotCount(t *testing.T) {
	event := func(w *world, at int64, e history.Event) {
		e.At = at
		w.insert(e)
	}
	fault := func(cuts nodes.ID) func(w *world, from, to int64) {
		return func(w *world, from, to int64) {
			w.Setting.Faults = []Fault{{Text: "cut", OfLinks: true, Breaks: nodes.NoLoss,
				Cuts: true, Hits: func(id, victim nodes.ID) bool { return id == cuts }}}
			event(w, from, history.Event{Kind: history.FaultBegan, Count: 1, Value: int64(nodes.NoLoss),
				Node: nodes.None})
			event(w, to, history.Event{Kind: history.FaultHealed, Count: 1, Value: 1, Node: nodes.None})
		}
	}
	still := func(process uint32) func(w *world, from, to int64) {
		return func(w *world, from, to int64) { w.stand(process, from, to-from) }
	}
	for _, c := range []struct {
		name string
		away func(w *world, from, to int64)
		want uint64
	}{
		{"it is there", func(*world, int64, int64) {}, 9},
		{"it stands still", still(1), 4},
		{"another stands still", still(0), 9},
		{"the broker stands still", still(history.Broker), 4},
		{"the orchestrator stands still", still(history.Orchestrator), 9},
		{"it is cut off", fault(1), 4},
		{"another is cut off", fault(0), 9},
		{"it has no connection", func(w *world, from, to int64) {
			event(w, from, history.Event{Kind: history.Disconnected, Count: 1, Node: 1})
			event(w, to, history.Event{Kind: history.Reconnected, Count: 1, Node: 1})
		}, 4},
	} {
		w := passing(9, Promise{})()
		entries := w.log(0).Events[1:]
		c.away(w, entries[3*2].At-1, entries[3*7].At-1) // five of nine
		v := w.judge()
		if p := v.PassedOver; p == nil || p.Node != 1 || p.Times != c.want {
			t.Errorf("%s: %+v, want %d times", c.name, p, c.want)
		}
	}
}

// If an algorithm promises no order, the finding says how often a request was passed over, if the run counted
// that.
func TestWhatIsSaidWithoutAPromise(t *testing.T) {
	for _, c := range []struct {
		times int
		p     Promise
		want  string
	}{
		{9, Promise{}, "node 1 was passed over 9 times once its request 2 was known to all; this algorithm " +
			"promises no bound"},
		{0, Promise{}, "no client starved; the algorithm promises no bound"},
		{9, Promise{Known: time.Hour}, "nothing to judge: every request was served within 1h0m0s"},
	} {
		v := passing(c.times, c.p)().judge()
		if f := finding(t, v, "fairness"); f.Outcome != Valid || !strings.Contains(f.Says, c.want) {
			t.Errorf("%+v, passed over %d times: %v: %s", c.p, c.times, f.Outcome, f.Says)
		}
		if (v.PassedOver == nil) != (c.p.Known > 0) {
			t.Errorf("%+v, passed over %d times: %+v", c.p, c.times, v.PassedOver)
		}
	}
}

// If several clients got nothing, the text says how many.
func TestHowManyGotNothing(t *testing.T) {
	f := &fairFold{}
	for id := range nodes.ID(3) {
		f.starved = append(f.starved, passedOver{section.Section{Node: id + 1}, 11})
		want := []string{"node 1 had asked", "node 1 and 1 more had asked", "node 1 and 2 more had asked"}[id]
		if says := f.starvedText(); !strings.HasPrefix(says, want) {
			t.Errorf("%q, want %q", says, want)
		}
	}
}

// A promise that rests on Setting.Fair holds until one of these assumptions is broken, and not afterwards.
func TestAPromiseLapsesWithWhatItRestsOn(t *testing.T) {
	for _, c := range []struct {
		name  string
		fair  nodes.Assumption
		entry int // the entry of node 0 before which a message is copied
		want  Outcome
	}{
		{"it does not rest on that", 0, 1, Violated},
		{"while the request is open", nodes.NoDuplication, 1, Valid},
		{"when it was served", nodes.NoDuplication, 100, Violated},
	} {
		w := passing(3, Promise{Made: true, Bypass: 1, Times: 1})()
		w.Fair = c.fair
		at := w.now + 1
		if c.entry < 3 {
			at = w.log(0).Events[1+3*c.entry].At
		}
		w.insert(history.Event{At: at, Kind: history.AssumptionBroken, Node: nodes.None,
			Value: int64(nodes.NoDuplication)})
		if f := finding(t, w.judge(), "fairness"); f.Outcome != c.want {
			t.Errorf("%s: %v: %s", c.name, f.Outcome, f.Says)
		}
	}
}

// Half of the entries come before the request is known, and do not count.
func TestEntriesBeforeARequestIsKnownDoNotCount(t *testing.T) {
	w := passing(10, Promise{Made: true, Bypass: 5, Times: 1})()
	asked := w.log(1).Events[3].At
	w.Promise.Known = time.Duration(w.log(0).Events[3+3*5].At - 1 - asked) // before the sixth request
	if f := finding(t, w.judge(), "fairness"); f.Outcome != Valid {
		t.Errorf("%v: %s", f.Outcome, f.Says)
	}
	w.Promise.Bypass--
	if f := finding(t, w.judge(), "fairness"); f.Outcome != Violated {
		t.Errorf("%v: %s", f.Outcome, f.Says)
	}
}

// A client that waits when the run is cut short was passed over too.
func TestOneThatNeverEntersIsPassedOver(t *testing.T) {
	w := measuring()
	w.Promise = Promise{Made: true, Bypass: 1, Times: 1}
	w.ask(1)
	w.turn(0)
	w.turn(0)
	w.mark(history.Interrupted)
	f := finding(t, w.judge(), "fairness")
	if f.Outcome != Violated || len(f.Witness) == 0 {
		t.Errorf("%v: %s", f.Outcome, f.Says)
	}
}

// The time until a request is known is bounded, so adding it to the time of the request cannot overflow.
func TestPromisesOfLongLatencies(t *testing.T) {
	spec := &algorithm.Algorithm{
		Spec: nodes.Spec{},
		Mutex: &algorithm.Exclusion{
			Bypass: func(c nodes.Config) int { return c.N - 1 },
		},
	}
	p := PromiseOf(spec, nodes.Config{N: 1 << 20}, 1<<62)
	if !p.Made || p.Bypass != 1<<20-1 || p.Known <= 0 || p.Known > 1<<62 {
		t.Errorf("%+v", p)
	}
	if p := PromiseOf(&algorithm.Algorithm{
		Spec: nodes.Spec{},
	}, nodes.Config{N: 4}, time.Second); p.Made || p.Known != 8*time.Second {
		t.Errorf("%+v", p)
	}
}
