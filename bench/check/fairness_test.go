package check

import (
	"testing"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// passing returns a run of two nodes in which node 0 enters so many times, all that is measured, while the
// request of node 1 is open.
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
	}, "fairness", Inconclusive, Inconclusive, "(outside its model: it needs no pause, bounded delays)"},
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
	}, "fairness", Inconclusive, Inconclusive, "the counts disagree, by which node 1 was passed over"},
	{"passed over for want of a message", func() *world {
		w := passing(2, Promise{Made: true, Bypass: 1, Times: 1})()
		w.log(0).Totals.Gaps++
		return w
	}, "fairness", Inconclusive, Inconclusive, "are promised, but 1 message on the way did not arrive"},
	{"starved", passing(11, Promise{}), "fairness", Inconclusive, Inconclusive,
		"node 1 had asked before the window and got nothing in it, while others entered 11 times"},
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
		{"a slow process makes it known", 10, Promise{Made: true, Bypass: 3, Times: 1, Slack: forever}, Valid},
		{"nothing is promised", 10, Promise{}, Valid},
		{"nothing is promised, and one starves", 11, Promise{}, Inconclusive},
		{"the window is too short to starve", 11, Promise{Known: forever}, Valid},
	} {
		if f := finding(t, passing(c.times, c.p)().judge(), "fairness"); f.Outcome != c.want {
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

// What a request takes to be known, and when it was asked for, add up without overflow.
func TestPromisesOfLongLatencies(t *testing.T) {
	row := &nodes.Spec{Bypass: func(c nodes.Config) int { return c.N - 1 }}
	p := PromiseOf(row, nodes.Config{N: 1 << 20}, 1<<62)
	if !p.Made || p.Bypass != 1<<20-1 || p.Known <= 0 || p.Known > 1<<62 {
		t.Errorf("%+v", p)
	}
	if p := PromiseOf(&nodes.Spec{}, nodes.Config{N: 4}, time.Second); p.Made || p.Known != 8*time.Second {
		t.Errorf("%+v", p)
	}
}
