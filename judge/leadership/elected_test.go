package leadership

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
)

// sides is a cut between some nodes and all others, both ways.
func sides(some ...nodes.ID) Cut {
	return func(from, to, _ nodes.ID) bool { return slices.Contains(some, from) != slices.Contains(some, to) }
}

// foldedUnder folds a history of five nodes, a line for each event as in folded; "cut 1" and "heal 1" are the
// beginning and the end of fault 1.
func foldedUnder(t *testing.T, rule algorithm.Following, servers int, cuts []Cut, text string) *Fold {
	t.Helper()
	f := New(nodes.Config{N: 5}, &algorithm.Leadership{Terms: rule == algorithm.MajorityReached, Follow: rule})
	f.Cuts, f.Servers = cuts, servers
	return f.told(t, text)
}

// foldedIn is foldedUnder of a scheme with a grace.
func foldedIn(t *testing.T, grace time.Duration, rule algorithm.Following, cuts []Cut, text string) *Fold {
	t.Helper()
	f := New(nodes.Config{N: 5}, &algorithm.Leadership{Terms: true, Follow: rule})
	f.Cuts, f.Grace = cuts, grace
	return f.told(t, text)
}

// told folds what happens, line by line.
func (f *Fold) told(t *testing.T, text string) *Fold {
	t.Helper()
	kinds := map[string]history.Kind{"crash": history.Crashed, "restart": history.Restarted,
		"cut": history.FaultBegan, "heal": history.FaultHealed, "begin": history.Marked, "stop": history.Marked}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		var at int64
		var what, arg string
		var leader, term int64
		if n, _ := fmt.Sscan(line, &at, &what, &arg, &leader, &term); n < 2 {
			t.Fatalf("%q is no event", line)
		}
		e := history.Event{At: at * 1e6, Kind: kinds[what], Node: nodes.None}
		switch what {
		case "begin":
			e.Count = history.Began
		case "stop":
			e.Count = history.Stopped
		case "cut", "heal":
			fmt.Sscan(arg, &e.Count)
		case "crash", "restart":
			fmt.Sscan(arg, &e.Node)
		default: // beliefs: nodes 0,1 believe in 4 in term 7: "10 0,1 in 4 7"
			for word := range strings.SplitSeq(what, ",") {
				x := history.Event{At: at * 1e6, Kind: history.Elected, Count: uint32(leader), Value: term}
				fmt.Sscan(word, &x.Node)
				f.Add(x)
			}
			continue
		}
		f.Add(e)
	}
	f.Close(nil)
	return f
}

// An election is over when enough nodes, by the rule of the algorithm, follow a leader despite cuts and
// crashes; all may agree later.
func TestElectionsEndByTheRuleOfTheAlgorithm(t *testing.T) {
	const all, most = algorithm.AllReached, algorithm.MajorityReached
	const fourLeads = "0 begin\n0 0,1,2,3,4 in 4 %d\n"
	for _, test := range []struct {
		name    string
		rule    algorithm.Following
		servers int
		cuts    []Cut
		text    string
		elected string // leader, beginning, end (in ms) and cause of each election; then the open one
		agreed  string // leader and end of each agreement
	}{
		{"the majority elects another", most, 0, []Cut{sides(4)},
			"100 cut 1\n130 0,1,2,3 in -1 1\n150 2 in 2 2\n152 0 in 2 2\n153 1,3 in 2 2\n200 heal 1\n" +
				"210 4 in 2 2\n300 stop",
			"4 0-0 the run began; 2 100-153 nodes were cut off", "4 0; 2 210"},
		{"of a majority, one may be late", most, 0, nil,
			"100 crash 4\n130 0,1,2,3 in -1 1\n150 2 in 2 2\n152 0 in 2 2\n153 1 in 2 2\n190 3 in 2 2\n300 stop",
			"4 0-0 the run began; 2 100-153 the leader crashed", "4 0; 2 190"},
		{"a majority of all, not of the nodes that are up", most, 0, nil,
			"100 crash 4\n110 crash 3\n111 crash 2\n130 0,1 in 1 2\n300 stop",
			"4 0-0 the run began; open 100", "4 0; 1 130"},
		{"in one term", most, 0, nil,
			"100 crash 4\n130 0,1 in 2 2\n135 2 in 2 3\n140 0 in 2 3\n141 1 in 2 3\n142 3 in 2 3\n300 stop",
			"4 0-0 the run began; 2 100-141 the leader crashed", "4 0; 2 142"},
		{"the leader keeps its majority", most, 0, []Cut{sides(0, 1)},
			"100 cut 1\n200 heal 1\n300 stop", "4 0-0 the run began", "4 0"},
		{"a group each", all, 0, []Cut{sides(3, 4)},
			"100 cut 1\n130 2 in 2 0\n132 0,1 in 2 0\n200 heal 1\n220 2 in 4 0\n221 0,1 in 4 0\n300 stop",
			"4 0-0 the run began; 2 100-132 nodes were cut off; 4 200-221 a cut was healed, again",
			"4 0; 4 221 again"},
		{"a node that it cannot reach one way", all, 0, // and so node 0 has no leader in the end
			[]Cut{func(from, to, _ nodes.ID) bool { return from == 0 && to == 4 }},
			"100 cut 1\n110 4 in 3 0\n112 3,1,2 in 3 0\n120 0 in 3 0\n130 4 in 4 0\n132 1,2,3 in 4 0\n300 stop",
			"4 0-0 the run began; 3 110-120 a node declared; 4 130-132 a node declared; open 130", "4 0; 3 120"},
		{"a node that does not hear it", all, 0, // and so node 0 has no leader in the end
			[]Cut{func(from, to, _ nodes.ID) bool { return from == 4 && to == 0 }},
			"100 cut 1\n110 4 in 3 0\n112 3,1,2 in 3 0\n120 0 in 3 0\n130 4 in 4 0\n132 1,2,3 in 4 0\n300 stop",
			"4 0-0 the run began; 3 110-120 a node declared; 4 130-132 a node declared; open 130", "4 0; 3 120"},
		{"by way of a server", all, 1, []Cut{func(from, to, _ nodes.ID) bool {
			return from < 5 && to < 5 && (from < 3) != (to < 3)
		}}, "100 cut 1\n200 heal 1\n300 stop", "4 0-0 the run began", "4 0"},
		{"which is down", all, 1, []Cut{func(from, to, _ nodes.ID) bool {
			return from < 5 && to < 5 && (from < 3) != (to < 3)
		}}, "50 crash 5\n100 cut 1\n300 stop", "4 0-0 the run began; open 100", "4 0"},
	} {
		f := foldedUnder(t, test.rule, test.servers, test.cuts,
			fmt.Sprintf(fourLeads, test.rule)+test.text)
		var elected, agreed []string
		again := func(e *Election) string { return map[bool]string{true: " again"}[e.Again] }
		for i := range f.Elections {
			e := &f.Elections[i]
			elected = append(elected, strings.TrimSuffix(fmt.Sprintf("%d %d-%d %v,%s", e.Leader, e.Begun/1e6,
				e.Agreed/1e6, e.Cause.What, again(e)), ","))
		}
		if f.Open != nil {
			elected = append(elected, fmt.Sprintf("open %d", f.Open.Begun/1e6))
		}
		for i := range f.Agreements {
			e := &f.Agreements[i]
			agreed = append(agreed, fmt.Sprintf("%d %d%s", e.Leader, e.Agreed/1e6, again(e)))
		}
		if got := strings.Join(elected, "; "); got != test.elected {
			t.Errorf("%s: elected\n%s, not\n%s", test.name, got, test.elected)
		}
		if got := strings.Join(agreed, "; "); got != test.agreed {
			t.Errorf("%s: agreed\n%s, not\n%s", test.name, got, test.agreed)
		}
	}
}

// The highest and lowest rank count only among nodes that all reach each other: on a side of a cut, but not
// if some links are cut, or while links change.
func TestWhoCouldHaveBeenElected(t *testing.T) {
	const start = "0 begin\n0 0,1,2,3,4 in 4 1\n%s\n150 0,1,2 in 2 2\n300 stop"
	oneLink := func(from, to, _ nodes.ID) bool { return min(from, to) == 0 && max(from, to) == 3 }
	for _, test := range []struct {
		name, text      string
		cut             Cut
		highest, lowest nodes.ID
	}{
		{"all", "100 crash 4", nil, 3, 0},
		{"on a side", "90 cut 1\n100 crash 4", sides(0, 1, 2), 2, 0},
		{"in a cluster that lacks a link", "90 cut 1\n100 crash 4", oneLink, nodes.None, nodes.None},
		{"while links are cut", "100 crash 4\n110 cut 1", sides(0, 1, 2), nodes.None, nodes.None},
	} {
		f := foldedUnder(t, algorithm.MajorityReached, 0, []Cut{test.cut}, fmt.Sprintf(start, test.text))
		if len(f.Elections) != 2 {
			t.Errorf("%s: %+v", test.name, f.Elections)
			continue
		}
		if e := &f.Elections[1]; e.Leader != 2 || e.Highest != test.highest || e.Lowest != test.lowest {
			t.Errorf("%s: %+v", test.name, e)
		}
	}
}

// A crash of a leader that a majority has replaced already takes no leader from anybody.
func TestALeaderThatWasReplacedIsNotLost(t *testing.T) {
	const text = "0 begin\n0 0,1,2,3,4 in 4 1\n100 cut 1\n150 0,1,2,3 in 2 2\n%d crash 4\n300 stop"
	for at, lost := range map[int]int{120: 1, 200: 0} {
		f := foldedUnder(t, algorithm.MajorityReached, 0, []Cut{sides(4)}, sorted(fmt.Sprintf(text, at)))
		if len(f.Lost) != lost {
			t.Errorf("a crash at %d ms: %d leaders are lost, not %d", at, len(f.Lost), lost)
		}
	}
}

// sorted returns lines in the order of their times.
func sorted(text string) string {
	lines := strings.Split(text, "\n")
	slices.SortStableFunc(lines, func(a, b string) int {
		var x, y int
		fmt.Sscan(a, &x)
		fmt.Sscan(b, &y)
		return x - y
	})
	return strings.Join(lines, "\n")
}

// naiveParties returns the leaders that enough nodes follow at a time, with the followers.
func naiveParties(all []naive, rule algorithm.Following, cut Cut) map[standing][]nodes.ID {
	parties := map[standing][]nodes.ID{}
	for l, leader := range all {
		id := nodes.ID(l)
		if !leader.leads(id) || leader.stopped {
			continue
		}
		var follow []nodes.ID
		missing, alone, vague := false, true, false
		for o, x := range all {
			other := nodes.ID(o)
			reached := x.up && !x.stopped && (cut == nil || o == l || !cut(id, other, 0) && !cut(other, id, 0))
			alone = alone && (o == l || !x.leads(other))
			switch in := rule == algorithm.AllReached || x.term == leader.term; {
			case !reached:
			case x.says && in && (x.leader == id || x.leader == nodes.Somebody):
				follow, vague = append(follow, other), vague || x.leader == nodes.Somebody
			default:
				missing = true
			}
		}
		if (rule == algorithm.AllReached && !missing || rule == algorithm.MajorityReached &&
			2*len(follow) > len(all)) &&
			(alone || !vague) {
			parties[standing{id, leader.term}] = follow
		}
	}
	return parties
}

// A cutHistory is a random history in which some nodes are cut off from the others for a time. The cut begins
// and ends at moments at which nothing else happens.
type cutHistory struct {
	n          int
	rule       algorithm.Following
	events     []history.Event
	begun, end int64
	some       []nodes.ID // that are cut off
	from, to   int64
}

func newCutHistory(r *rand.Rand) (h cutHistory, usable bool) {
	h = cutHistory{n: 2 + r.IntN(4), rule: algorithm.Following(r.IntN(2))}
	h.events, h.begun, h.end = anything(r, h.n)
	for id := range nodes.ID(h.n) {
		if r.IntN(2) == 0 {
			h.some = append(h.some, id)
		}
	}
	h.from = h.begun + r.Int64N(h.end-h.begun)
	h.to = h.from + 1 + r.Int64N(h.end-h.from)
	at := func(e history.Event) bool { return e.At == h.from || e.At == h.to }
	return h, !slices.ContainsFunc(h.events, at)
}

// folded folds the history.
func (h *cutHistory) folded() *Fold {
	f := New(nodes.Config{N: h.n}, &algorithm.Leadership{Terms: true, Follow: h.rule})
	f.Cuts = []Cut{sides(h.some...)}
	all := append(slices.Clone(h.events), history.Event{Kind: history.FaultBegan, At: h.from, Node: nodes.None,
		Count: 1}, history.Event{Kind: history.FaultHealed, At: h.to, Node: nodes.None, Count: 1})
	slices.SortStableFunc(all, func(a, b history.Event) int { return int(a.At - b.At) })
	for _, e := range all {
		f.Add(e)
	}
	f.Close(nil)
	return f
}

// parties returns the leaders that enough nodes followed at a time.
func (h *cutHistory) parties(time int64) map[standing][]nodes.ID {
	var cut Cut
	if h.from <= time && time < h.to {
		cut = sides(h.some...)
	}
	return naiveParties(at(h.n, h.events, time), h.rule, cut)
}

// elected lists the leaders that came to be elected, moment by moment.
func (h *cutHistory) elected() (all []string) {
	var was map[standing][]nodes.ID
	for time := h.begun; time < h.end; time++ {
		now := h.parties(time)
		for s := range now {
			if _, held := was[s]; !held {
				all = append(all, fmt.Sprint(time, s))
			}
		}
		was = now
	}
	slices.Sort(all)
	return all
}

// Elections end when enough nodes follow a leader, as a search moment by moment finds. During an election, no
// node that follows the new leader at its end follows an elected leader.
func TestElectionsAgainstNaive(t *testing.T) {
	elected, during := 0, 0
	for seed := range uint64(soak.Pick(100, 400, 20_000)) {
		h, usable := newCutHistory(rand.New(rand.NewPCG(seed, 2)))
		if !usable {
			continue
		}
		var got []string
		for _, e := range h.folded().Elections {
			s := standing{e.Leader, e.Term}
			got = append(got, fmt.Sprint(e.Agreed, s))
			followers := h.parties(e.Agreed)[s]
			for time := e.Begun; time < e.Agreed; time++ {
				for other, follow := range h.parties(time) {
					if slices.ContainsFunc(follow, func(id nodes.ID) bool { return slices.Contains(followers, id) }) {
						t.Fatalf("seed %d: some of %+v followed %v at %d", seed, e, other, time)
					}
				}
			}
			if !e.Again {
				elected++
			}
			if h.from <= e.Agreed && e.Agreed < h.to {
				during++
			}
		}
		slices.Sort(got)
		if want := h.elected(); !slices.Equal(want, got) {
			t.Fatalf("seed %d, %v: %v are elected, not %v\n%+v", seed, h.rule, got, want, h)
		}
	}
	if elected < 50 || during < 10 {
		t.Errorf("%d elections, %d during cuts: that shows little", elected, during)
	}
}
