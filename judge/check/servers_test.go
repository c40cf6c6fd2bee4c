package check

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/port"
)

// If a fault leaves most servers of a service up and connected, it breaks no assumption of progress: if
// nobody enters for longer than servers take to serve again, the run shows nothing, and says so. No entry is
// expected if a majority is gone, all servers are needed, the fault is short, or another fault takes place.
func TestNobodyEntersThoughMostServersAreUp(t *testing.T) {
	const one, most = nodes.ServersUp, nodes.ServersUp | nodes.ServerMajority
	for _, test := range []struct {
		name    string
		breaks  nodes.Assumption
		lasts   time.Duration
		entered bool // while it lasts
		beside  bool // another fault takes place
		live    nodes.Assumption
		idle    bool
	}{
		{name: "one of three", breaks: one, lasts: 6 * time.Second, idle: true},
		{name: "two of three", breaks: most, lasts: 6 * time.Second},
		{name: "somebody enters", breaks: one, lasts: 6 * time.Second, entered: true},
		{name: "too short", breaks: one, lasts: 4 * time.Second},
		{name: "beside another", breaks: one, lasts: 6 * time.Second, beside: true},
		{name: "all servers are needed", breaks: one, lasts: 6 * time.Second, live: nodes.ServersUp},
	} {
		w := measuring()
		w.CostKnown, w.Identities = false, nil
		w.Live, w.Grace, w.Recovers = nodes.ServerMajority|test.live, 30*time.Second, 5*time.Second
		w.Faults = []Fault{{Text: "pause server 0", Breaks: most}, {Text: "kill 1", Breaks: nodes.NoCrash}}
		w.round()
		began := func(number, hit int, breaks nodes.Assumption, servers ...int) {
			w.add(nodes.None, history.FaultEvent(port.FaultEvent{Number: number, Victim: nodes.None, Nodes: hit,
				Breaks: breaks, Servers: servers}))
		}
		if test.beside {
			began(2, 1, nodes.NoCrash)
			w.add(nodes.None, history.Event{Kind: history.FaultHealed, Count: 2})
		} else {
			w.Faults = w.Faults[:1]
		}
		began(1, 0, test.breaks, 0)
		if test.entered {
			w.turn(0)
		}
		w.now += int64(test.lasts)
		w.add(nodes.None, history.Event{Kind: history.FaultHealed, Count: 1})
		w.turn(0)
		w.turn(1)
		w.end()
		v := w.judge()
		f := finding(t, v, "faults")
		says := strings.Contains(f.Says, "nobody entered while it lasted, though it breaks no assumption")
		if f.Idle != test.idle || says != test.idle || (f.Outcome == Valid) == test.idle {
			t.Errorf("%s: %v, idle %v: %s", test.name, f.Outcome, f.Idle, f.Says)
		}
	}
}

// In a silentRun a server is cut off, and nobody enters for a time.
type silentRun struct {
	name   string
	breaks nodes.Assumption
	silent time.Duration // how long client 0 waits, beside the time of twenty entries
	held   time.Duration // for how long of it client 1 is inside
	frozen bool          // the server stands still
	cutOff bool          // a node is cut off, and no server
	random bool          // clients wait for random times, and promise no time to recover
	gives  bool          // client 0 gives up half way, and asks again
	thinks time.Duration // how long it waits before it asks again
	broken bool
	told   bool
}

// judge makes the run. It returns the verdict, and when the fault began.
func (x *silentRun) judge() (v Verdict, from int64) {
	const most = nodes.ServersUp | nodes.ServerMajority
	w := measuring()
	w.CostKnown, w.Identities = false, nil
	w.Live, w.Grace, w.Recovers = nodes.ServerMajority, 9*time.Second, 5*time.Second
	if w.Slack = 2 * time.Second; x.random {
		w.Timed, w.Grace = true, 0
	}
	w.Faults = []Fault{{Text: "cut server leader/servers", Breaks: most, Freezes: x.frozen}}
	for range 3 {
		w.round()
	}
	began := port.FaultEvent{Number: 1, Victim: nodes.None, Breaks: x.breaks, Servers: []int{0}}
	if x.cutOff {
		began.Servers, began.Nodes = nil, 1
		w.Faults[0].Cuts, w.Faults[0].Hits = true, func(id, _ nodes.ID) bool { return id == 1 }
	}
	from = w.now
	w.add(nodes.None, history.FaultEvent(began))
	if x.held > 0 {
		w.ask(1)
		w.permission(1)
		w.enter(1)
	}
	w.ask(0)
	w.permission(0)
	if w.now += int64(x.held); x.held > 0 {
		w.exit(1)
	}
	if x.gives {
		w.now += int64(x.silent / 2)
		w.add(0, history.Event{Kind: history.GaveUp, Entry: w.entry(0)})
		w.now += int64(x.thinks)
		w.ask(0)
		w.permission(0)
		w.now -= int64(x.silent / 2)
	}
	w.now += int64(x.silent - x.held)
	w.enter(0)
	w.exit(0)
	w.add(nodes.None, history.Event{Kind: history.FaultHealed, Count: 1})
	w.round()
	w.end()
	return w.judge(), from
}

// If most servers are up and nobody enters for longer than the whole grace of a service, it breaks its
// promise of progress. The verdict only mentions a shorter silence.
func TestNobodyEntersForLongerThanTheGrace(t *testing.T) {
	const one, most = nodes.ServersUp, nodes.ServersUp | nodes.ServerMajority
	for _, test := range []silentRun{
		{name: "a moment", breaks: one},
		{name: "within the time of servers", breaks: one, silent: 4 * time.Second, told: true},
		{name: "within the grace", breaks: one, silent: 8 * time.Second, told: true},
		{name: "within the grace and the time by which processes are late", breaks: one, silent: 10 * time.Second,
			told: true},
		{name: "beyond both", breaks: one, silent: 12 * time.Second, broken: true, told: true},
		{name: "beyond both, and a client is inside for a part", breaks: one, silent: 12 * time.Second,
			held: 4 * time.Second, told: true},
		{name: "beyond both, of a server that stands still", breaks: one, silent: 12 * time.Second, frozen: true,
			told: true},
		{name: "beyond both, of one that waits for random times", breaks: one, silent: 12 * time.Second,
			random: true, told: true},
		{name: "beyond both, and a client gives up", breaks: one, silent: 12 * time.Second, gives: true,
			told: true},
		{name: "a moment, and again long after a client gave up", breaks: one, silent: 2 * time.Microsecond,
			gives: true, thinks: 12 * time.Second},
		{name: "far beyond both, and a client gives up", breaks: one, silent: 30 * time.Second, gives: true,
			broken: true, told: true},
		{name: "beyond both, as a node is cut off", silent: 12 * time.Second, cutOff: true},
		{name: "without a majority", breaks: most, silent: 12 * time.Second},
	} {
		v, from := test.judge()
		f := finding(t, v, "progress")
		if (f.Outcome == Violated) != test.broken || test.broken && v.Reason != f.Says {
			t.Errorf("%s: %v: %s", test.name, f.Outcome, f.Says)
		}
		if strings.HasSuffix(strings.Join(v.Silences, ""), " though a majority of servers was up") != test.told {
			t.Errorf("%s: it is told that %q", test.name, v.Silences)
		}
		if whole := fmt.Sprintf("for %v ", test.silent); test.gives && test.told &&
			!strings.Contains(v.Silences[0], whole) {
			t.Errorf("%s: it is told that %q", test.name, v.Silences)
		}
		if test.gives && test.broken && time.Duration(f.Lasts.To-from) > test.silent/2+time.Second {
			t.Errorf("%s: the promise is broken until %v", test.name, time.Duration(f.Lasts.To-from))
		}
	}
}
