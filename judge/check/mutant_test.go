package check

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
)

// A mutant is a sound run but for one thing, which a check must find.
type mutant struct {
	name    string
	world   func() *world
	fails   string  // the check that must find it
	as      Outcome // the outcome of that check
	verdict Outcome
	says    string // part of the sentence
}

// made returns a run of two nodes in which something happens while it is measured.
func made(f func(w *world)) func() *world {
	return func() *world {
		w := measuring()
		f(w)
		w.end()
		return w
	}
}

// cut returns a run of two nodes in which something happens while it is measured. It adds no marks of an end.
func cut(f func(w *world)) func() *world {
	return func() *world {
		w := measuring()
		w.turn(0)
		f(w)
		return w
	}
}

func circling(f func(w *world)) func() *world {
	return func() *world {
		w := ring(4)
		f(w)
		return w
	}
}

func lastEvent(l *log) *history.Event { return &l.Events[len(l.Events)-1] }

// crossing moves the last entry of node 1 back, so that it overlaps the last stay of node 0 by so many ns.
func crossing(ns int64) func(w *world) {
	return func(w *world) {
		exit := w.log(0).Events[len(w.log(0).Events)-1].At
		events := w.log(1).Events
		events[len(events)-2].At, events[len(events)-3].At = exit-ns, exit-ns
	}
}

// slow moves the last turn of a node back, before the turn of the node before it.
func slow(id nodes.ID) func(w *world) {
	return func(w *world) { w.shift(id, -int64(20*time.Microsecond)) }
}

// fast moves the last turn of a node to a later time.
func fast(id nodes.ID) func(w *world) {
	return func(w *world) { w.shift(id, int64(20*time.Microsecond)) }
}

func (w *world) shift(id nodes.ID, by int64) {
	events := w.log(id).Events
	for i := range events[len(events)-3:] {
		events[len(events)-3+i].At += by
	}
}

func register2(w *world) {
	w.eventsOf(history.Entered, func(e *history.Event) { e.Count = 2 })
}

var mutants = []mutant{
	{"two inside", made((*world).together),
		"exclusion", Violated, Violated, "nodes 0 and 1 were inside together for 1.0 us"},
	{"two inside, by the register", made((*world).together),
		"register", Violated, Violated, "counted 2 inside"},
	{"two inside, by the account", made((*world).together), "account", Violated, Violated, "lost 1 update"},
	{"register exceeded between stamps", change(register2), "register", Violated, Violated, "counted 2"},
	{"overlap that the stamps cannot tell", change(func(w *world) { crossing(150)(w); register2(w) }),
		"exclusion", Inconclusive, Violated, "no more than the time stamps may err"},
	{"register not raised", change(func(w *world) { w.log(1).Events[1].Count = 0 }),
		"register", Inconclusive, Inconclusive, "1 entry did not raise"},
	{"overlap that the register denies", change(crossing(250)),
		"witnesses", Inconclusive, Inconclusive, "never exceeded 1"},
	{"the same, by its stamps alone", change(crossing(250)),
		"exclusion", Inconclusive, Inconclusive, "harness itself"},
	{"money lost that the register denies", made(func(w *world) {
		w.together()
		w.eventsOf(history.Entered, func(e *history.Event) { e.Count = 1 })
	}), "witnesses", Inconclusive, Inconclusive, "never exceeded 1"},
	{"money lost that the register denies, by the account", made(func(w *world) {
		w.together()
		w.eventsOf(history.Entered, func(e *history.Event) { e.Count = 1 })
	}), "account", Inconclusive, Inconclusive, "lost 1 update"},
	{"a clock that is slow", change(slow(2)),
		"witnesses", Inconclusive, Inconclusive, "node 2 read 5 from the account at "},
	{"a clock that is fast", change(fast(0)),
		"witnesses", Inconclusive, Inconclusive, "node 1 read 4 from the account at "},
	{"an account that is not written", change(func(w *world) {
		w.eventsOf(history.Entered, func(e *history.Event) { e.Value = 0 })
		w.eventsOf(history.Exited, func(e *history.Event) { e.Value = 1 })
	}), "witnesses", Inconclusive, Inconclusive, "5 updates were lost, but the register never exceeded 1"},
	{"money lost though nobody was near", change(func(w *world) {
		register2(w)
		lastEvent(w.log(2)).Value--
	}), "witnesses", Inconclusive, Inconclusive, "no two entries came close"},

	{"stalled", cut(func(w *world) { w.ask(1); w.mark(history.Stopped); w.mark(history.Stalled) }),
		"progress", Violated, Violated, "no progress: nothing moves, with 1 request unserved"},
	{"stalled for want of a message", cut(func(w *world) {
		w.ask(1)
		w.log(1).SentTo[0]++
		w.mark(history.Stalled)
	}), "progress", Inconclusive, Inconclusive, "1 message on the way did not arrive"},
	{"stalled though nobody waits", cut(func(w *world) { w.mark(history.Stopped); w.mark(history.Stalled) }),
		"progress", Inconclusive, Inconclusive, "no request waits"},
	{"interrupted", cut(func(w *world) { w.mark(history.Stopped); w.mark(history.Interrupted) }),
		"progress", Inconclusive, Inconclusive, "the run ended early"},
	{"stalled while one is inside", cut((*world).hangsInside),
		"progress", Inconclusive, Inconclusive, "the run stalled while node 1 was inside, with 1 request unserved"},
	{"never at rest", change(func(w *world) { w.forget(history.Marked, history.Rested) }),
		"progress", Inconclusive, Inconclusive, "never came to rest"},
	{"at rest while one waits", made(func(w *world) { w.turn(0); w.ask(1) }),
		"progress", Violated, Violated, "came to rest with 1 request unserved"},
	{"at rest, and an entry left no record", change(func(w *world) {
		events := w.log(2).Events
		w.log(2).Events = events[:len(events)-2]
	}), "progress", Inconclusive, Inconclusive, "1 request unserved, but the counts disagree"},
	{"at rest while one is inside", made(func(w *world) { w.ask(1); w.permission(1); w.enter(1) }),
		"progress", Inconclusive, Inconclusive, "node 1 never left"},

	{"a gap", change(func(w *world) { w.log(2).Totals.Gaps++ }),
		"loss", Inconclusive, Inconclusive, "1 message on the way"},
	{"a gap in a run cut short", cut(func(w *world) { w.log(0).Totals.Gaps++; w.mark(history.Interrupted) }),
		"loss", Inconclusive, Inconclusive, "1 message on the way"},
	{"a repeat", change(func(w *world) { w.log(2).Totals.Repeats++ }),
		"loss", Inconclusive, Inconclusive, "1 came again"},
	{"a last message lost", change(func(w *world) { w.log(2).ReceivedFrom[0]-- }),
		"loss", Inconclusive, Inconclusive, "link 0 -> 2: 4 sent, number 3"},
	{"a message from nowhere", change(func(w *world) { w.log(2).SentTo[1]-- }),
		"loss", Inconclusive, Inconclusive, "link 2 -> 1: 3 sent, number 4"},
	{"a multicast lost", change(func(w *world) {
		w.log(0).Totals.MultiSent++
		w.log(1).MultiFrom[0]++
	}), "loss", Inconclusive, Inconclusive, "multicasts 0 -> 2: 1 sent, number 0"},
	{"loss not known", change(func(w *world) { w.forget(history.Marked, history.Rested) }),
		"loss", Inconclusive, Inconclusive, "not judged"},

	{"too dear", change(func(w *world) { w.send(0, 1, kindRequest); w.send(1, 0, kindReply) }),
		"cost", Violated, Violated, "4.33333 messages per entry, but 4 are published"},
	{"waste within the range", change(func(w *world) {
		w.Cost, w.Exact = algorithm.Between(4, 5), func(nodes.Config, bool) algorithm.EntryCost {
			return func(nodes.ID) int { return 4 }
		}
		w.send(0, 1, kindRequest)
		w.send(1, 0, kindReply)
	}), "cost", Violated, Violated, "26 messages were sent, but these entries in this order take 24"},
	{"too cheap", change(func(w *world) { w.Cost = algorithm.Between(5, 6) }),
		"cost", Violated, Violated, "but 5-6"},
	{"too dear, simulated with timers", change(func(w *world) { w.Timed, w.Cost = true, algorithm.Exactly(3) }),
		"cost", Violated, Violated, "4 messages per entry, but 3 are published"},
	{"too cheap, with timers", change(func(w *world) {
		w.Timed, w.Real, w.Cost = true, true,
			algorithm.Exactly(5)
	}),
		"cost", Violated, Violated, "but 5 are published"},
	{"cost not known", change(func(w *world) { w.forget(history.Marked, history.Rested) }),
		"cost", Inconclusive, Inconclusive, "not judged"},
	{"circles too dear", circling(func(w *world) { w.Cost = algorithm.Exactly(4) }),
		"cost", Violated, Violated, "8 messages per entry, but 4"},
	{"circles unmeasured", circling(func(w *world) { w.forget(history.Marked, history.Stopped) }),
		"cost", Inconclusive, Inconclusive, "not judged: the run ended early"},
	{"circles interrupted", circling(func(w *world) {
		w.Cost = algorithm.Exactly(4)
		w.forget(history.Marked, history.Stopped)
		w.forget(history.Marked, history.Rested)
		w.mark(history.Interrupted)
	}), "cost", Inconclusive, Inconclusive, "not judged: the run ended early"},
	{"a reply too few", change(func(w *world) {
		k := w.totals(0).Kind(kindReply)
		k.Sent, k.Delivered, w.CostKnown = k.Sent-1, k.Delivered-1, false
	}), "identities", Violated, Violated, "REPLY = REQUEST does not hold: 12 request, 11 reply in 6 entries"},
	{"a reply that was not counted", change(func(w *world) { w.totals(0).Kind(kindReply).Sent-- }),
		"identities", Inconclusive, Inconclusive, "not judged: the counts disagree"},
	{"messages that were not counted", change(func(w *world) { w.totals(0).Kind(kindReply).Sent += 1 << 40 }),
		"cost", Inconclusive, Inconclusive, "not judged: the counts disagree"},
	{"livelocked", cut(func(w *world) {
		w.ask(1)
		w.mark(history.Stopped)
		w.add(nodes.None, history.Event{Kind: history.Marked, Count: history.Stalled, Value: 999})
	}), "progress", Violated, Violated, "999 messages were handled since anybody entered, with 1 request"},
	{"stopped for some time", cut(func(w *world) {
		w.ask(1)
		w.add(nodes.None, history.Event{Kind: history.Paused, Count: 1})
		w.add(nodes.None, history.Event{Kind: history.Resumed, Count: 1})
		w.mark(history.Stopped)
		w.mark(history.Interrupted)
	}), "progress", Inconclusive, Inconclusive, "node 1 stood still for"},
	{"stopped twice", cut(func(w *world) {
		w.ask(1)
		for range 2 {
			w.add(nodes.None, history.Event{Kind: history.Paused, Count: history.Broker})
			w.add(nodes.None, history.Event{Kind: history.Resumed, Count: history.Broker})
		}
		w.mark(history.Stopped)
		w.mark(history.Interrupted)
	}), "progress", Inconclusive, Inconclusive, ", and there was 1 shorter pause"},
	{"identities not known", change(func(w *world) { w.forget(history.Marked, history.Rested) }),
		"identities", Inconclusive, Inconclusive, "not judged"},

	{"requests miscounted", change(func(w *world) { w.totals(1).Requests++ }),
		"accounting", Inconclusive, Inconclusive, "node 1: 2 requested by its events, and 3"},
	{"entries miscounted", change(func(w *world) { w.totals(1).Entries++; w.CostKnown = false }),
		"accounting", Inconclusive, Inconclusive, "entered"},
	{"exits miscounted", change(func(w *world) { w.totals(1).Exits-- }),
		"accounting", Inconclusive, Inconclusive, "exited"},
	{"a message never handled", change(func(w *world) { w.totals(1).Kind(0).Delivered-- }),
		"accounting", Inconclusive, Inconclusive, "24 messages were sent, 0 dropped and 0 added by faults, and 23"},
	{"a kind too many", change(func(w *world) { w.Codec, w.Identities = nodes.NewCodec(toys[:1]), nil }),
		"accounting", Inconclusive, Inconclusive, "kind 1, which does not exist"},
	{"a circling message unrecorded", circling(func(w *world) {
		w.totals(3).Kind(0).Sent++
		w.totals(0).Kind(0).Delivered++
	}),
		"accounting", Inconclusive, Inconclusive, "sent of request"},
	{"a node without a log", change(func(w *world) { w.Logs = w.Logs[:3] }),
		"accounting", Inconclusive, Inconclusive, "node 2 left no log"},
	{"no log of the orchestrator", change(func(w *world) { w.Logs = w.Logs[1:] }),
		"accounting", Inconclusive, Inconclusive, "the orchestrator left no log"},
	{"two logs of one node", change(func(w *world) { w.log(2).Node = 1 }),
		"accounting", Inconclusive, Inconclusive, "node 1 left 2 logs"},
	{"a server enters", change(func(w *world) { w.Config.N = 2 }),
		"accounting", Inconclusive, Inconclusive, "is a server"},
	{"an entry out of nothing", change(func(w *world) { w.log(1).Events = w.log(1).Events[1:] }),
		"accounting", Inconclusive, Inconclusive, "requested"},
	{"entry numbers wrong", change(func(w *world) { w.log(1).Events[1].Entry = 7 }),
		"accounting", Inconclusive, Inconclusive, "enters without a request"},
	{"asks twice", made(func(w *world) { w.ask(0); w.turn(0) }),
		"accounting", Inconclusive, Inconclusive, "asks before"},
	{"leaves twice", made(func(w *world) { w.turn(0); w.inside++; w.exit(0) }),
		"accounting", Inconclusive, Inconclusive, "leaves without"},
	{"writes nonsense", change(func(w *world) { w.log(1).Events[2].Value += 5 }),
		"accounting", Inconclusive, Inconclusive, "does not add one"},

	{"nothing measured", func() *world { w := measuring(); w.end(); return w },
		"evidence", Inconclusive, Inconclusive, "nobody entered"},
	{"never measured", change(func(w *world) { w.forget(history.Marked, history.Measuring) }),
		"evidence", Inconclusive, Inconclusive, "before the measurement began"},
	{"fewer than asked for", change(func(w *world) { w.Expected = 7 }),
		"evidence", Inconclusive, Inconclusive, "6 entries of 7"},
	{"under-loaded", made(func(w *world) {
		w.Open = true
		w.turn(0)
		due := w.now
		w.turn(1)
		w.unissued(0, due+1)
	}), "load", underLoaded, underLoaded, "only 2 of 3 requests due"},
	{"overloaded", made(func(w *world) {
		w.Open = true
		w.ask(0)
		due := w.now
		w.enter(0)
		w.exit(0)
		w.ask(0)
		w.enter(0)
		w.unissued(0, due)
		w.unissued(0, due)
		w.unissued(0, due)
		w.exit(0)
		w.CostKnown, w.Identities = false, nil
	}), "load", Overloaded, Overloaded, "requests per second that were asked for"},
}

func TestEveryMutantIsCaught(t *testing.T) {
	caught := map[string]bool{}
	for _, m := range slices.Concat(mutants, unfairMutants, minorityMutants, capacityMutants, workMutants,
		programMutants, promiseMutants) {
		v := m.world().judge()
		f := finding(t, v, m.fails)
		all := strings.Join(append([]string{f.Says}, f.Witness...), "\n")
		if f.Outcome != m.as || !strings.Contains(all, m.says) {
			t.Errorf("%s: %s is %v: %s", m.name, f.Check, f.Outcome, all)
		}
		if v.Outcome != m.verdict {
			t.Errorf("%s: the verdict is %v, want %v: %s", m.name, v.Outcome, m.verdict, v.Reason)
		}
		worst := slices.MaxFunc(v.Findings, func(a, b Finding) int { return int(a.Outcome - b.Outcome) })
		if worst.Says != v.Reason {
			t.Errorf("%s: the reason is %q, want %q", m.name, v.Reason, worst.Says)
		}
		caught[m.fails] = true
	}
	for _, c := range Exclusion.checks {
		if !caught[c.name] {
			t.Errorf("no mutant fails the check %s: it is decoration", c.name)
		}
	}
}

func TestWhatIsDueOutsideTheMeasuredTimeIsNotMissed(t *testing.T) {
	w := measuring()
	w.Open = true
	w.turn(0)
	w.unissued(0, 1) // in the warm-up
	w.mark(history.Stopped)
	w.unissued(0, w.now) // after the end
	w.mark(history.Rested)
	if v := w.judge(); v.Outcome != Valid {
		t.Errorf("%v: %s", v.Outcome, v.Reason)
	}
}

// random returns a random run. Clients enter at any time or, with exclusive, only when nobody is inside.
func random(seed uint64, exclusive bool) *world {
	r := rand.New(rand.NewPCG(seed, 7))
	w := newWorld(1 + r.IntN(5))
	w.CostKnown = false
	state := make([]nodes.ClientState, w.Config.N)
	step := func(id nodes.ID, ask bool) {
		switch {
		case state[id] == nodes.Idle && ask:
			w.ask(id)
			w.permission(id)
			state[id] = nodes.Waiting
		case state[id] == nodes.Waiting && (!exclusive || w.inside == 0):
			w.enter(id)
			state[id] = nodes.Inside
		case state[id] == nodes.Inside:
			w.exit(id)
			state[id] = nodes.Idle
		}
	}
	w.mark(history.Measuring)
	w.turn(0)
	for range r.IntN(60) {
		step(nodes.ID(r.IntN(w.Config.N)), true)
	}
	w.mark(history.Stopped)
	for slices.ContainsFunc(state, func(s nodes.ClientState) bool { return s != nodes.Idle }) {
		step(nodes.ID(r.IntN(w.Config.N)), false)
	}
	w.mark(history.Rested)
	// Clocks err, but each keeps its own order: events are a microsecond apart.
	for _, l := range w.Logs {
		for i := range l.Events {
			l.Events[i].At += r.Int64N(2*stampError+1) - stampError
		}
	}
	return w
}

func TestRandomSoundRunsAreValid(t *testing.T) {
	for seed := range uint64(500) {
		if v := random(seed, true).judge(); v.Outcome != Valid {
			t.Fatalf("seed %d: %v: %s", seed, v.Outcome, v.Reason)
		}
	}
}

// The witnesses of a correct harness imply one another under any algorithm.
func TestWitnessesAgreeOnRandomRuns(t *testing.T) {
	broken := 0
	for seed := range uint64(1000) {
		v := random(seed, false).judge()
		if f := finding(t, v, "witnesses"); f.Outcome != Valid {
			t.Fatalf("seed %d: %s", seed, f.Says)
		}
		for _, f := range v.Findings {
			if f.Outcome == Inconclusive {
				t.Fatalf("seed %d: %s: %s", seed, f.Check, f.Says)
			}
		}
		overlap, exceeded := v.Overlap > 0, finding(t, v, "register").Outcome == Violated
		if v.LostUpdates > 0 && !overlap || overlap != exceeded {
			t.Fatalf("seed %d: %d lost, overlap %v, register exceeded: %v", seed, v.LostUpdates, v.Overlap, exceeded)
		}
		if exceeded {
			broken++
		}
	}
	if broken < 100 {
		t.Errorf("only %d of 1000 runs were broken", broken)
	}
}
