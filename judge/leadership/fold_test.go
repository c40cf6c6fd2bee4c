package leadership

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
)

// folded folds a history of three nodes, a line for each event: a time in milliseconds, a node and what
// happens to it, as in 10 0 elect 2 7 (node 0 believes in node 2 in term 7; - for nobody).
func folded(t *testing.T, promises *algorithm.Leadership, text string) *Fold {
	t.Helper()
	f := New(nodes.Config{N: 3}, promises)
	kinds := map[string]history.Kind{"elect": history.Elected, "crash": history.Crashed, "kill": history.Killed,
		"restart": history.Restarted, "campaign": history.Campaigned, "pause": history.Paused,
		"resume": history.Resumed, "suspect": history.Suspected}
	marks := map[string]uint32{"begin": history.Began, "stop": history.Stopped}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		var at int64
		var node, what, leader string
		var term int64
		if n, _ := fmt.Sscan(line, &at, &node, &what, &leader, &term); n < 3 {
			t.Fatalf("%q is no event", line)
		}
		e := history.Event{At: at * 1e6, Kind: kinds[what], Node: nodes.None, Value: term}
		fmt.Sscan(node, &e.Node)
		switch e.Kind {
		case history.Elected:
			e.Count = history.NoLeader
			fmt.Sscan(leader, &e.Count)
		case history.Paused, history.Resumed:
			e.Count, e.Node = uint32(e.Node), nodes.None
		case 0:
			e.Kind, e.Count = history.Marked, marks[what]
		}
		f.Add(e)
	}
	f.Close(nil)
	return f
}

// ms prints nanoseconds as milliseconds.
func ms(ns int64) string { return fmt.Sprintf("%dms", ns/1e6) }

func TestAnElectionHasItsParts(t *testing.T) {
	f := folded(t, &algorithm.Leadership{}, `
		0 - begin
		5 0 campaign
		5 1 elect 2
		6 2 elect 2
		9 0 elect 2
		100 2 crash
		130 0 elect -
		140 1 elect 1
		150 0 elect 1
		300 - stop`)
	if len(f.Elections) != 2 || f.Open != nil || f.Elected() != 2 {
		t.Fatalf("%+v, %+v", f.Elections, f.Open)
	}
	first, second := f.Elections[0], f.Elections[1]
	if first.Cause.What != RunBegan || first.Begun != 5e6 || first.Agreed != 9e6 || first.Leader != 2 {
		t.Errorf("the first: %+v", first)
	}
	if second.Cause != (Cause{LeaderCrashed, 2}) || second.Begun != 100e6 || second.Detected != 130e6 ||
		second.Declared != 140e6 || second.Agreed != 150e6 || second.Leader != 1 || second.Highest != 1 {
		t.Errorf("the second: %+v", second)
	}
	if f.Leaderless != 46e6 || f.TwoLeaders != 0 || len(f.Flaps) != 0 {
		t.Errorf("leaderless for %s, two leaders for %s, %d flaps", ms(f.Leaderless), ms(f.TwoLeaders),
			len(f.Flaps))
	}
}

func TestTwoLeadersOfOneTermConflict(t *testing.T) {
	const first = "0 - begin\n0 2 elect 2 4\n0 1 elect 2 4\n0 0 elect 2 4\n"
	for text, want := range map[string]int{
		"10 1 elect 1 5\n30 2 elect 1 5\n40 - stop": 0,
		"10 1 elect 1 4\n30 2 elect 1 4\n40 - stop": 1,
		"10 2 crash\n20 1 elect 1 4\n40 - stop":     1, // node 2 led before it crashed
	} {
		if f := folded(t, &algorithm.Leadership{Terms: true}, first+text); len(f.Conflicts) != want {
			t.Errorf("%q: %v, want %d", text, f.Conflicts, want)
		}
	}
}

func TestWhoOnlyComesBackElectsNobody(t *testing.T) {
	f := folded(t, &algorithm.Leadership{}, `
		0 - begin
		0 2 elect 2
		0 1 elect 2
		0 0 elect 2
		10 0 crash
		20 0 restart
		25 0 elect 2
		40 - stop`)
	if f.Elected() != 1 || len(f.Elections) != 2 || !f.Elections[1].Again ||
		f.Elections[1].Cause != (Cause{nodeRestarted, 0}) {
		t.Errorf("%+v", f.Elections)
	}
}

func TestTermsThatGoBackwards(t *testing.T) {
	f := folded(t, &algorithm.Leadership{Terms: true}, "0 - begin\n1 0 elect 1 5\n2 0 crash\n3 0 restart\n"+
		"4 0 elect 1 4")
	if len(f.Backwards) != 1 || f.Backwards[0].Term != 4 {
		t.Errorf("%+v", f.Backwards)
	}
}

// A stopped node does not keep the others from agreeing, unless it is the leader.
func TestTheOthersAgree(t *testing.T) {
	f := folded(t, &algorithm.Leadership{}, `
		0 - begin
		1 0 pause
		5 1 elect 2
		6 2 elect 2
		50 2 pause
		60 2 resume
		70 0 resume
		75 0 elect 2
		100 - stop`)
	if len(f.Elections) == 0 || f.Elections[0].Agreed != 6e6 || f.Elections[0].Leader != 2 || f.Open != nil ||
		f.Elections[0].Lowest != 1 { // of the nodes that could have been elected
		t.Fatalf("%+v, %+v", f.Elections, f.Open)
	}
	if last := f.Elections[len(f.Elections)-1]; last.Agreed != 75e6 || !last.Again {
		t.Errorf("%+v", last)
	}
}

// In a run that was not told to stop, the leader leads until the last event of any kind.
func TestARunThatIsCutShort(t *testing.T) {
	f := folded(t, &algorithm.Leadership{}, `
		0 - begin
		5 0 elect 0
		5 1 elect 0
		5 2 elect 0
		90 1 suspect`)
	if f.End != 90e6 || f.Leaderless != 5e6 || len(f.Beliefs) != 3 || f.Stretches[0].To > f.End {
		t.Errorf("%+v", f)
	}
}

// Questions to a closed fold: the leaders at a time, how often they changed, and since when all running nodes
// agree at the end.
func TestAskedAtATime(t *testing.T) {
	const elected = "0 begin\n10 2 in 2 1\n20 0,1,3,4 in 2 1\n"
	for _, test := range []struct {
		name, text string
		agreed     int64 // in milliseconds; -1: not all do
		leaders    []nodes.ID
		changes    int
	}{
		{"once", elected + "100 stop", 20, []nodes.ID{2}, 0},
		{"another leads", elected + "40 1 in 1 2\n50 0,2,3,4 in 1 2\n100 stop", 50, []nodes.ID{1}, 1},
		{"two lead", elected + "40 1 in 1 2\n100 stop", -1, []nodes.ID{1, 2}, 1},
		{"from then on", elected + "60 1 in 1 2\n100 stop", -1, []nodes.ID{2}, 0},
		{"a node that is down at the end does not count", elected + "40 crash 3\n100 stop", 20, []nodes.ID{2}, 0},
		{"a restarted node counts", elected + "40 crash 3\n50 restart 3\n100 stop", -1, []nodes.ID{2}, 0},
		{"until it knows", elected + "40 crash 3\n50 restart 3\n70 3 in 2 1\n100 stop", 70, []nodes.ID{2}, 0},
		{"the leader is down", elected + "40 crash 2\n100 stop", -1, nil, 0},
		{"nobody said anything", "0 begin\n100 stop", -1, nil, 0},
	} {
		f := foldedUnder(t, algorithm.MajorityReached, 0, nil, test.text)
		last := f.AgreedAtEnd()
		if (last != nil) != (test.agreed >= 0) || last != nil && last.Agreed != test.agreed*1e6 {
			t.Errorf("%s: agreed at the end: %+v", test.name, last)
		}
		if got := f.LeadersAt(60e6); !slices.Equal(got, test.leaders) {
			t.Errorf("%s: %v led", test.name, got)
		}
		if got := f.ChangesIn(30e6, 60e6); got != test.changes {
			t.Errorf("%s: %d changes", test.name, got)
		}
	}
}

// A leader changes when a node comes to lead, or to lead in another term. Changes within a grace of what may
// cause them do not count, nor does that time.
func TestChangesInCalmTimes(t *testing.T) {
	const start = "0 begin\n0 0,1,2,3,4 in 4 1\n"
	for _, test := range []struct {
		name    string
		text    string
		changes int
		steady  time.Duration
	}{
		{"nothing happens", "1000 stop", 0, 900 * time.Millisecond},
		{"again and again", "300 0 in 0 2\n310 4 in 0 2\n500 4 in 4 3\n510 0 in 4 3\n700 0 in 0 4\n1000 stop",
			3, 900 * time.Millisecond},
		{"more than once in a grace", "150 0 in 0 2\n160 0 in 0 3\n170 0 in 0 4\n250 stop", 3,
			150 * time.Millisecond},
		{"the same, said again", "300 4 in 4 1\n400 4 in 4 1\n1000 stop", 0, 900 * time.Millisecond},
		{"after a cut", "200 cut 1\n250 0 in 0 2\n600 heal 1\n650 4 in 4 3\n1000 stop", 0,
			700 * time.Millisecond},
		{"during a cut", "200 cut 1\n250 0 in 0 2\n400 1 in 1 3\n600 heal 1\n1000 stop", 1,
			700 * time.Millisecond},
		{"after a crash", "200 crash 4\n250 0 in 0 2\n1000 stop", 0, 800 * time.Millisecond},
		{"no time is calm", "80 cut 1\n150 heal 1\n200 stop", 0, 0},
	} {
		f := foldedIn(t, 100*time.Millisecond, algorithm.MajorityReached, []Cut{sides(4)}, start+test.text)
		changes, length := f.Steady()
		if changes != test.changes || time.Duration(length) != test.steady {
			t.Errorf("%s: %d changes in %v", test.name, changes, time.Duration(length))
		}
	}
	f := foldedIn(t, 0, algorithm.MajorityReached, nil, start+"300 0 in 0 2\n1000 stop")
	if changes, length := f.Steady(); changes > 0 || length > 0 {
		t.Errorf("of a scheme without timeouts: %d changes in %v", changes, time.Duration(length))
	}
}
