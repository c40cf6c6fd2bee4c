package check

import (
	"testing"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// stand has a process stand still from one time until so much later.
func (w *world) stand(process uint32, from, takes int64) {
	for i, kind := range []history.Kind{history.Paused, history.Resumed} {
		w.insert(history.Event{At: from + int64(i)*takes, Kind: kind, Count: process, Node: nodes.None})
	}
}

// insert adds an event at the time that the event has.
func (w *world) insert(e history.Event) {
	l := w.log(e.Node)
	l.Events = append(l.Events, e)
	l.Totals.EventCount++
}

// began has a fault begin that was asked for, and returns its number.
func (w *world) began(f Fault) uint32 {
	w.Setting.Faults = append(w.Setting.Faults, f)
	number := uint32(len(w.Setting.Faults))
	w.add(nodes.None,
		history.Event{Kind: history.FaultBegan, Count: number, Value: int64(f.Breaks), Fence: 1})
	return number
}

// healed has a fault healed that has hit so many messages.
func (w *world) healed(number uint32, hits int64) {
	w.add(nodes.None, history.Event{Kind: history.FaultHealed, Count: number, Value: hits})
}

// suspects has node 1 suspect node 0, which is up, or trust it again.
func (w *world) suspects(kind history.Kind) {
	w.add(1, history.Event{Kind: kind, Count: 0, Instance: 1})
}

var (
	delay = Fault{Text: "delay", OfLinks: true, Breaks: nodes.Timing}
	lossy = Fault{Text: "loss", OfLinks: true, Breaks: nodes.NoLoss}
	pause = Fault{Text: "pause", Breaks: nodes.NoPause | nodes.Timing}
	kill  = Fault{Text: "kill", Breaks: nodes.NoCrash}
	jump  = Fault{Text: "clock", ForGood: true, Breaks: nodes.Timing}
)

// through has a fault begin and be healed.
func (w *world) through(f Fault, hits int64) { w.healed(w.began(f), hits) }

// What excuses a failure, and until when. Something goes wrong, and then the algorithm fails, at once or
// after the grace: two clients are inside, or nobody enters any more.
var excuses = []struct {
	name          string
	breaks        func(w *world)
	needs         nodes.Assumption
	excused, late bool // whether a failure within the grace is excused, and a later one
}{
	{"a delay", func(w *world) { w.through(delay, 1) }, nodes.Timing, true, false},
	{"a delay that goes on", func(w *world) { w.began(delay) }, nodes.Timing, true, true},
	{"a delay that hit nothing", func(w *world) { w.through(delay, 0) }, nodes.Timing, false, false},
	{"a delay of messages that come much later", func(w *world) {
		long := delay
		long.Leaves = time.Hour
		w.through(long, 1)
	}, nodes.Timing, true, true},
	{"a loss", func(w *world) { w.through(lossy, 1) }, nodes.NoLoss, true, true},
	{"a loss that hit nothing", func(w *world) { w.through(lossy, 0) }, nodes.NoLoss, false, false},
	{"a fault without a rate", func(w *world) { w.through(Fault{OfLinks: true}, 9) },
		nodes.NoLoss | nodes.Timing, false, false},
	{"a pause that was asked for", func(w *world) { w.through(pause, 0) }, nodes.NoPause, true, false},
	{"a pause", func(w *world) { w.stand(1, w.now, 1000); w.now += 1000 }, nodes.NoPause, true, false},
	{"a pause of the broker", func(w *world) { w.stand(history.Broker, w.now, 1000); w.now += 1000 },
		nodes.Timing, true, false},
	{"a pause that does not end", func(w *world) {
		w.add(nodes.None, history.Event{Kind: history.Paused, Count: 1})
	}, nodes.NoPause, true, true},
	{"a pause that the algorithm does not mind", func(w *world) { w.through(pause, 0) },
		nodes.NoLoss, false, false},
	{"a clock that jumps", func(w *world) { w.began(jump) }, nodes.Timing, true, false},
	{"a clock that is set back by far", func(w *world) {
		back := jump
		back.Leaves = time.Hour
		w.began(back)
	}, nodes.Timing, true, true},
	{"a crash", func(w *world) { w.through(kill, 0) }, nodes.NoCrash, true, true},
	{"a crash of nobody", func(w *world) {
		w.through(kill, 0)
		w.eventsOf(history.FaultBegan, func(e *history.Event) { e.Fence = 0 })
	}, nodes.NoCrash, false, false},
	{"a suspicion", func(w *world) { w.suspects(history.Suspected); w.suspects(history.Trusted) },
		nodes.PerfectDetector, true, false},
	{"a suspicion that goes on", func(w *world) { w.suspects(history.Suspected) }, nodes.EventualDetector,
		true, true},
	{"timeouts that are too short", func(w *world) { w.NeverHolds = nodes.Timing }, nodes.Timing, true, true},
	{"timeouts that are too short, of an algorithm that rests on its detector",
		func(w *world) { w.NeverHolds = nodes.Timing }, nodes.PerfectDetector | nodes.NoLoss, false, false},
	{"what is broken, without a fault", func(w *world) { w.broke(nodes.NoLoss) }, nodes.NoLoss, true, true},
}

const graceOfWorld = 50 * time.Microsecond

func TestAssumptionsHoldAgain(t *testing.T) {
	fail := map[string]func(w *world){
		"exclusion": (*world).together,
		"progress": func(w *world) {
			w.ask(1)
			w.add(nodes.None, history.Event{Kind: history.Marked, Count: history.Stalled, Value: 999})
		},
	}
	for _, x := range excuses {
		for check, fails := range fail {
			for _, late := range []bool{false, true} {
				w := measuring()
				w.Safe, w.Grace = x.needs, graceOfWorld
				w.turn(0)
				x.breaks(w)
				want := x.excused
				if late {
					w.now += int64(graceOfWorld)
					want = x.late
				}
				fails(w)
				v := w.judge()
				f := finding(t, v, check)
				if f.OutsideModel != want || check == "exclusion" && f.Outcome != Violated ||
					check == "progress" && (f.Outcome == Violated) == want {
					t.Errorf("%s, then a failure of %s, late: %v: %v: %s", x.name, check, late, f.Outcome,
						f.Says)
				}
				if check == "exclusion" && finding(t, v, "register").OutsideModel != want ||
					check == "exclusion" && finding(t, v, "account").OutsideModel != want {
					t.Errorf("%s, late: %v: register or account say otherwise: %+v", x.name, late,
						v.Findings[:3])
				}
			}
		}
	}
}

// If nothing is left to happen, healed faults do not put a stall outside the model: the grace would not end
// it.
func TestWhatCannotMoveWaitsForNoGrace(t *testing.T) {
	for _, x := range excuses {
		w := measuring()
		w.Live, w.Grace = x.needs, graceOfWorld
		w.turn(0)
		x.breaks(w)
		w.ask(1)
		w.mark(history.Stalled)
		want := x.late && w.Setting.leaves() == 0
		if f := finding(t, w.judge(), "progress"); f.OutsideModel != want || (f.Outcome == Violated) == want {
			t.Errorf("%s: %v: %s", x.name, f.Outcome, f.Says)
		}
	}
}

// leaves returns the longest time for which a healed fault may still have consequences.
func (s *Setting) leaves() (longest time.Duration) {
	for i := range s.Faults {
		longest = max(longest, s.Faults[i].Leaves)
	}
	return longest
}

// If one of several overlaps is inside the model, it is a violation, even if it is not the first.
func TestTheOverlapWithinTheModelCounts(t *testing.T) {
	for _, test := range []struct {
		name    string
		run     func(w *world)
		outside bool
	}{
		{"during a pause", func(w *world) { w.while(pause, 3) }, true},
		{"during two", func(w *world) { w.while(pause, 1); w.now += 1e6; w.while(pause, 3) }, true},
		{"before", func(w *world) { w.together(); w.while(pause, 3) }, false},
		{"after", func(w *world) { w.while(pause, 1); w.now += 1e6; w.together() }, false},
		{"between two", func(w *world) {
			w.while(pause, 2)
			w.now += 1e6
			w.together()
			w.while(pause, 2)
		}, false},
		{"after one within the grace", func(w *world) {
			w.while(pause, 1)
			w.together()
			w.now += 1e6
			w.together()
			w.while(pause, 1)
		}, false},
	} {
		w := measuring()
		w.Safe, w.Grace = nodes.NoPause, graceOfWorld
		test.run(w)
		w.turn(0)
		w.end()
		v := w.judge()
		for _, check := range []string{"exclusion", "register", "account"} {
			if f := finding(t, v, check); f.Outcome != Violated || f.OutsideModel != test.outside {
				t.Errorf("%s: %s is %v: %s", test.name, check, f.Outcome, f.Says)
			}
		}
		if v.Outcome != Violated || v.OutsideModel != test.outside {
			t.Errorf("%s: %v, outside its model: %v", test.name, v.Outcome, v.OutsideModel)
		}
	}
}

// A client that enters within the grace stays, and the next client may enter beside it later: that overlap is
// also outside the model. An overlap of two clients that entered after the grace is not.
func TestWhoWasLetInWithinTheGraceStays(t *testing.T) {
	for _, test := range []struct {
		name    string
		order   string // nodes that enter or leave, with the grace between two
		outside bool
	}{
		{"let in during the delay", "01", true},
		{"let in after it", ".01", false},
		{"beside the third alone, that entered later", "0102", false},
		{"beside both", "012", false},
		{"twice beside the same", "0112", true},
		{"beside both, and the second leaves first", "0121", false},
	} {
		w := newWorld(3)
		w.round()
		w.mark(history.Measuring)
		w.Safe, w.Grace, w.Work = nodes.Timing, graceOfWorld, workload.Shares
		w.through(delay, 1)
		w.inOrder(test.order)
		w.end()
		v := w.judge()
		for _, check := range []string{"exclusion", "register", "account", "work"} {
			if f := finding(t, v, check); f.Outcome != Violated || f.OutsideModel != test.outside {
				t.Errorf("%s: %s is %v: %s", test.name, check, f.Outcome, f.Says)
			}
		}
	}
}

// The same holds if the stamps cannot tell the order, and for writes that a resource with fences accepted.
func TestWhoWasLetInWithinTheGraceStaysForOtherWitnesses(t *testing.T) {
	start := func(w *world) {
		w.Safe, w.Live, w.Grace = nodes.Timing, nodes.Timing, graceOfWorld
		w.through(delay, 1)
	}
	w := measuring()
	start(w)
	w.ask(0)
	w.ask(1)
	w.permission(0)
	w.permission(1)
	w.enter(0)
	w.now += int64(graceOfWorld)
	w.enter(1)
	w.now -= 1000 - stampError // as the next stamp is 1000 later
	w.exit(0)
	w.exit(1)
	w.end()
	v := w.judge()
	for check, want := range map[string]Outcome{"exclusion": Inconclusive, "register": Violated,
		"account": Violated} {
		if f := finding(t, v, check); f.Outcome != want || f.OutsideModel != (want == Violated) {
			t.Errorf("%s is %v: %s", check, f.Outcome, f.Says)
		}
	}
	w = leasing(func(w *world) {
		start(w)
		w.under(0, 2)
		w.now += int64(graceOfWorld)
		w.visit(1, 3)
		w.exit(0)
	})()
	if f := finding(t, w.judge(), "exclusion"); f.Outcome != Violated || !f.OutsideModel {
		t.Errorf("a write that was to be refused: exclusion is %v: %s", f.Outcome, f.Says)
	}
}

// inOrder has clients enter and leave, with the grace before all but the first: "011" is that 0 enters, then
// 1 enters and 1 leaves; a point is a time in which nothing happens. At the end all clients inside leave.
func (w *world) inOrder(moves string) {
	for id := range nodes.ID(3) {
		w.ask(id)
		w.permission(id)
	}
	inside := map[nodes.ID]bool{}
	for i, move := range moves {
		if i > 0 {
			w.now += int64(graceOfWorld)
		}
		id := nodes.ID(move - '0')
		switch {
		case move == '.':
		case inside[id]:
			delete(inside, id)
			w.exit(id)
		default:
			inside[id] = true
			w.enter(id)
		}
	}
	for id := range nodes.ID(3) {
		if inside[id] {
			w.exit(id)
		}
	}
}

// while has two inside together so often while a fault lasts.
func (w *world) while(f Fault, times int) {
	number := w.began(f)
	for range times {
		w.together()
	}
	w.healed(number, 1)
}

// TestEvidenceOfFaults: entries while a fault lasts, where the algorithm promises them and it lasts long
// enough; otherwise after it.
func TestEvidenceOfFaults(t *testing.T) {
	duplicates := Fault{Text: "duplicate", OfLinks: true, Breaks: nodes.NoDuplication}
	slow := delay
	slow.Leaves = time.Millisecond
	for _, test := range []struct {
		name          string
		fault         Fault
		needs         nodes.Assumption
		grace         time.Duration
		lasts         int64
		during, after bool // somebody enters
		want          Outcome
	}{
		{"promised and kept", duplicates, nodes.NoLoss, 0, 1e9, true, false, Valid},
		{"promised and not kept", duplicates, nodes.NoLoss, 0, 1e9, false, true, Inconclusive},
		{"too short to tell", duplicates, nodes.NoLoss, 0, 1000, false, true, Valid},
		{"too short to tell, and none after it", duplicates, nodes.NoLoss, 0, 1000, false, false,
			Inconclusive},
		{"not promised", lossy, nodes.NoLoss, 0, 1e9, false, true, Valid},
		{"not promised, and none after it", lossy, nodes.NoLoss, 0, 1e9, true, false, Inconclusive},
		{"without timeouts one waits for a stopped node", pause, nodes.NoLoss, 0, 1e9, false, true, Valid},
		{"with timeouts one does not", pause, nodes.NoLoss, time.Millisecond, 1e9, false, true, Inconclusive},
		{"not before they have run out", pause, nodes.NoLoss, time.Second, 1e9, false, true, Valid},
		{"messages that come later", slow, nodes.NoLoss, 0, 1e9, false, true, Inconclusive},
		{"messages that have hardly come", slow, nodes.NoLoss, 0, 4e6, false, true, Valid},
		{"what is done for good", jump, nodes.NoLoss, 0, 1e9, true, false, Valid},
		{"what is done for good, and nobody enters", jump, nodes.NoLoss, 0, 1e9, false, false, Inconclusive},
	} {
		w := measuring()
		w.Live, w.Grace, w.CostKnown, w.Identities = test.needs, test.grace, false, nil
		w.round()
		number := w.began(test.fault)
		if test.during {
			w.turn(0)
		}
		w.now += test.lasts
		if !test.fault.ForGood {
			w.healed(number, 1)
		}
		if test.after {
			w.turn(1)
		}
		w.end()
		if f := finding(t, w.judge(), "faults"); f.Outcome != test.want {
			t.Errorf("%s: %v: %s", test.name, f.Outcome, f.Says)
		}
	}
}

// Clients that meet at a service alone do not depend on each other: what happens to one excuses no overlap of
// two others. It excuses an overlap of its own, from its request on.
func TestWhatHappensToOneClientIsNoExcuseOfOthers(t *testing.T) {
	stops := func(of nodes.ID) Fault {
		return Fault{Text: "pause", Breaks: nodes.NoPause | nodes.Timing,
			Spares: true, Hits: func(id, _ nodes.ID) bool { return id == of }}
	}
	servers := Fault{Text: "pause servers", Breaks: nodes.NoPause | nodes.Timing}
	for _, test := range []struct {
		name   string
		breaks func(w *world)
		apart  bool
		want   bool // it is an excuse
	}{
		{"a fault of a waiter", func(w *world) { w.through(stops(2), 0) }, true, false},
		{"a fault of a waiter, among peers", func(w *world) { w.through(stops(2), 0) }, false, true},
		{"a fault of one inside", func(w *world) { w.through(stops(1), 0) }, true, true},
		{"a fault of servers", func(w *world) { w.through(servers, 0) }, true, true},
		{"a pause of a waiter", func(w *world) { w.stand(2, w.now, 10); w.now += 10 }, true, false},
		{"a pause of one inside", func(w *world) { w.stand(1, w.now, 10); w.now += 10 }, true, true},
		{"a pause of the broker", func(w *world) { w.stand(history.Broker, w.now, 10); w.now += 10 }, true, true},
	} {
		w := newWorld(3)
		w.round()
		w.mark(history.Measuring)
		w.Safe, w.Grace, w.Apart = nodes.NoPause, graceOfWorld, test.apart
		w.ask(0)
		w.ask(1)
		w.permission(0)
		w.permission(1)
		w.enter(0)
		test.breaks(w)
		w.enter(1)
		w.exit(0)
		w.exit(1)
		w.end()
		for _, check := range []string{"exclusion", "register", "account"} {
			if f := finding(t, w.judge(), check); f.Outcome != Violated || f.OutsideModel != test.want {
				t.Errorf("%s: %s: %v, outside %v: %s", test.name, check, f.Outcome, f.OutsideModel, f.Says)
			}
		}
	}
	w := newWorld(2) // the fault is over when they ask
	w.through(stops(1), 0)
	w.mark(history.Measuring)
	w.Safe, w.Grace, w.Apart = nodes.NoPause, graceOfWorld, true
	w.together()
	w.end()
	if f := finding(t, w.judge(), "exclusion"); f.Outcome != Violated || f.OutsideModel {
		t.Errorf("a pause before both asked: %v, outside %v: %s", f.Outcome, f.OutsideModel, f.Says)
	}
}
