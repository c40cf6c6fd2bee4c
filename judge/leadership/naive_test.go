package leadership

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
)

// A naive is the state of one node at a time, found from all events up to that time.
type naive struct {
	up, stopped bool
	says        bool // it has declared something since it came up
	leader      nodes.ID
	term        uint64
	since       int64 // when it declared this
	restarted   int64 // when it came up last
}

func (x *naive) leads(id nodes.ID) bool { return x.up && x.says && x.leader == id }

// at returns the states of the nodes at a time. No two events have the same time.
func at(n int, events []history.Event, time int64) []naive {
	all := make([]naive, n)
	for id := range all {
		all[id] = naive{up: true, restarted: -1}
	}
	for _, e := range events {
		if e.At > time {
			break
		}
		switch e.Kind {
		case history.Elected:
			if x := &all[e.Node]; x.up {
				x.says, x.leader, x.term, x.since = true, nodes.ID(int32(e.Count)), uint64(e.Value), e.At
			}
		case history.Killed, history.Crashed:
			all[e.Node] = naive{restarted: all[e.Node].restarted}
		case history.Restarted:
			all[e.Node] = naive{up: true, restarted: e.At}
		case history.Paused:
			all[e.Count].stopped = true
		case history.Resumed:
			all[e.Count].stopped = false
		}
	}
	return all
}

// agree returns the leader that all running nodes follow, in its term, and that says so too. A node that
// names no leader counts as following if only one leads.
func agree(all []naive) standing {
	for id := range all {
		l := nodes.ID(id)
		if !all[id].leads(l) || all[id].stopped {
			continue
		}
		agreed, vague, others := true, false, false
		for other := range all {
			x := &all[other]
			others = others || other != id && x.leads(nodes.ID(other))
			if x.up && !x.stopped {
				agreed = agreed && x.says && (x.leader == l || x.leader == nodes.Somebody)
				vague = vague || x.leader == nodes.Somebody
			}
		}
		if agreed && !(vague && others) {
			return standing{l, all[id].term}
		}
	}
	return standing{leader: nodes.None}
}

// naiveTimes prints for how long no node led, and for how long several did. It looks at each moment.
func naiveTimes(n int, events []history.Event, begun, end int64) string {
	var leaderless, two, inTerm, twoStopped int
	var vacancies, overlaps []Span
	grow := func(spans []Span, t int64) []Span {
		if last := len(spans) - 1; last >= 0 && spans[last].To == t {
			spans[last].To++
			return spans
		}
		return append(spans, Span{t, t + 1})
	}
	for t := begun; t < end; t++ {
		terms := map[uint64]int{}
		running, stopped := 0, 0
		for id, x := range at(n, events, t) {
			switch {
			case !x.leads(nodes.ID(id)):
			case x.stopped:
				stopped++
			default:
				running++
				terms[x.term]++
			}
		}
		switch {
		case running == 0:
			leaderless++
			vacancies = grow(vacancies, t)
		case running > 1:
			two++
			overlaps = grow(overlaps, t)
		}
		for _, count := range terms {
			if count > 1 {
				inTerm++
				break
			}
		}
		if running < 2 && running+stopped > 1 {
			twoStopped++
		}
	}
	return fmt.Sprintln(leaderless, two, inTerm, twoStopped, vacancies, overlaps)
}

// naiveElections lists the elections: stretches in which not all agreed on a leader, and moments at which
// they came to agree on another.
func naiveElections(n int, events []history.Event, begun, end int64) string {
	var b strings.Builder
	settled, ledSince := standing{leader: nodes.None}, int64(0)
	from := begun // beginning of the current election; -1: no election goes on
	for t := begun; t < end; t++ {
		all := at(n, events, t)
		agreed := agree(all)
		if from < 0 && agreed != settled {
			from = t
		}
		if from < 0 || agreed.leader == nodes.None {
			continue
		}
		first := settled.leader == nodes.None
		if first {
			from = naiveCampaign(n, events, begun, t)
		}
		detected, declared := naiveDeclared(n, events, from, t), max(from, all[agreed.leader].since)
		if detected < 0 {
			detected = declared
		}
		again := agreed == settled
		takeover := !first && !again && agreed.leader != settled.leader &&
			all[agreed.leader].restarted > ledSince && !leaderCrashed(n, events, from, t)
		if !again || from < t {
			fmt.Fprintln(&b, from, detected, declared, t, agreed, again, takeover)
		}
		settled, ledSince, from = agreed, all[agreed.leader].since, -1
	}
	if from >= 0 && settled.leader == nodes.None {
		from = naiveCampaign(n, events, begun, end-1)
	}
	fmt.Fprintln(&b, "open", from)
	return b.String()
}

// naiveCampaign returns when the first election began, by a time: when somebody was told to campaign, unless
// somebody had declared anything before.
func naiveCampaign(n int, events []history.Event, begun, by int64) int64 {
	for _, e := range events {
		if e.At < begun || e.At > by {
			continue
		}
		switch e.Kind {
		case history.Campaigned:
			return e.At
		case history.Elected:
			if at(n, events, e.At)[e.Node].up {
				return begun
			}
		}
	}
	return begun
}

// naiveDeclared returns when a node that was up first declared anything in a stretch of time, ends included;
// -1: none did.
func naiveDeclared(n int, events []history.Event, from, to int64) int64 {
	for _, e := range events {
		if e.Kind == history.Elected && e.At >= from && e.At <= to && at(n, events, e.At)[e.Node].up {
			return e.At
		}
	}
	return -1
}

// leaderCrashed reports whether a node that led went down in a stretch of time, ends included.
func leaderCrashed(n int, events []history.Event, from, to int64) bool {
	for _, e := range events {
		down := e.Kind == history.Killed || e.Kind == history.Crashed
		if down && e.At >= from && e.At <= to && at(n, events, e.At-1)[e.Node].leads(e.Node) {
			return true
		}
	}
	return false
}

// naiveFlaps lists the leaders that gave way while they were up, and those whose crash left no leader that
// all agreed on.
func naiveFlaps(n int, events []history.Event, begun, end int64) string {
	var flaps, lost []string
	for i, e := range events {
		if e.At < begun || e.At >= end {
			continue
		}
		before, after := at(n, events, e.At-1), at(n, events, e.At)
		switch e.Kind {
		case history.Elected:
			if x := before[e.Node]; x.leads(e.Node) && !after[e.Node].leads(e.Node) {
				flaps = append(flaps, fmt.Sprint(e.Node, e.At, naiveTakeover(n, events[i:], before, events, x.since)))
			}
		case history.Killed, history.Crashed:
			if before[e.Node].leads(e.Node) && agree(after).leader == nodes.None {
				lost = append(lost, fmt.Sprint(e.Node, e.At))
			}
		}
	}
	return fmt.Sprintln(flaps, lost)
}

// naiveTakeover reports whether a leader gave way to a node that had come up again since the leader began to
// lead. rest is the end of all, from the event on by which the leader gave way.
func naiveTakeover(n int, rest []history.Event, before []naive, all []history.Event, since int64) bool {
	gave := rest[0]
	returned := func(id int) bool { return before[id].restarted > since && before[id].restarted < gave.At }
	others, is := false, false
	for id := range before {
		if nodes.ID(id) != gave.Node && before[id].leads(nodes.ID(id)) {
			others, is = true, is || returned(id)
		}
	}
	if others {
		return is
	}
	for _, e := range rest[1:] {
		if e.Kind == history.Elected && at(n, all, e.At)[e.Node].leads(e.Node) {
			return at(n, all, e.At)[e.Node].restarted == before[e.Node].restarted && returned(int(e.Node))
		}
	}
	return false
}

// anything is a random history of nodes that declare, crash, come back and stand still as they like. No two
// events have the same time.
func anything(r *rand.Rand, n int) (events []history.Event, begun, end int64) {
	down, killed := make([]bool, n), make([]bool, n)
	steps := 20 + r.IntN(60)
	begunAt, endAt := r.IntN(4), steps-1-r.IntN(8)
	term := uint64(1)
	for step := range steps {
		t := int64(1 + 3*step + r.IntN(3))
		id := r.IntN(n)
		e := history.Event{At: t, Node: nodes.ID(id)}
		switch {
		case step == begunAt || step == endAt:
			e.Kind, e.Node, e.Count = history.Marked, nodes.None, history.Began
			if begun = t; step == endAt {
				begun, end, e.Count = events[begunAt].At, t, history.Stopped
			}
		case r.IntN(20) == 0:
			e.Kind = history.Campaigned
		case killed[id] && r.IntN(2) == 0: // and it may still say something
			e.Kind, killed[id] = history.Crashed, false
		case down[id] && !killed[id] && r.IntN(2) == 0:
			e.Kind, down[id] = history.Restarted, false
		case !down[id] && r.IntN(8) == 0:
			down[id], killed[id] = true, r.IntN(2) == 0
			if e.Kind = history.Crashed; killed[id] {
				e.Kind = history.Killed
			}
		case !down[id] && r.IntN(8) == 0:
			e.Kind, e.Node, e.Count = []history.Kind{history.Paused, history.Resumed}[r.IntN(2)], nodes.None,
				uint32(id)
		case down[id] && !killed[id]:
			e.Kind = history.Campaigned // the node is told to campaign while it is down
		default:
			e.Kind = history.Elected
			term += uint64(r.IntN(2) * r.IntN(2))
			leader := []nodes.ID{nodes.None, nodes.Somebody, e.Node, nodes.ID(r.IntN(n)), nodes.ID(n - 1),
				nodes.ID(n - 1), 0}[r.IntN(7)]
			e.Count, e.Value = uint32(leader), int64(term)
		}
		events = append(events, e)
	}
	return events, begun, end
}

// electionsSay prints elections as naiveElections does.
func electionsSay(all []Election, open *Election) string {
	var b strings.Builder
	for _, e := range all {
		fmt.Fprintln(&b, e.Begun, e.Detected, e.Declared, e.Agreed, standing{e.Leader, e.Term}, e.Again, e.Takeover)
	}
	since := int64(-1)
	if open != nil {
		since = open.Begun
	}
	fmt.Fprintln(&b, "open", since)
	return b.String()
}

// says prints what a fold found as the naive functions do.
func (f *Fold) says() string {
	var overlaps []Span
	for i := range f.Overlaps {
		overlaps = append(overlaps, f.Overlaps[i].Span)
	}
	var b strings.Builder
	fmt.Fprintln(&b, f.Leaderless, f.TwoLeaders, f.TwoInTerm, f.TwoStopped, f.Vacancies, overlaps)
	b.WriteString(electionsSay(f.Agreements, f.Apart))
	var flaps, lost []string
	for _, x := range f.Flaps {
		flaps = append(flaps, fmt.Sprint(x.Node, x.At, x.Takeover))
	}
	for _, x := range f.Lost {
		lost = append(lost, fmt.Sprint(x.Node, x.At))
	}
	fmt.Fprintln(&b, flaps, lost)
	return b.String()
}

// The fold finds what is found by looking at each moment of the run by itself.
func TestAgainstNaive(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(soak.Pick(100, 400, 20_000)) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 1 + r.IntN(4)
		events, begun, end := anything(r, n)
		f := New(nodes.Config{N: n}, &algorithm.Leadership{Terms: true})
		for _, e := range events {
			f.Add(e)
		}
		f.Close(nil)
		want := naiveTimes(n, events, begun, end) + naiveElections(n, events, begun, end) +
			naiveFlaps(n, events, begun, end)
		if got := f.says(); got != want {
			t.Fatalf("seed %d, %d nodes, %d to %d:\n%+v\n got %s\nwant %s", seed, n, begun, end, events, got, want)
		}
		// Where nothing is cut, a leader can reach all, so an election is over when all agree.
		if got, all := electionsSay(f.Elections, f.Open), electionsSay(f.Agreements, f.Apart); got != all {
			t.Fatalf("seed %d, %d nodes:\n%+v\nelected %s\nagreed %s", seed, n, events, got, all)
		}
		seen["elections"] += f.Elected()
		seen["rejoins"] += len(f.Elections) - f.Elected()
		seen["overlaps"] += len(f.Overlaps)
		seen["flaps"] += len(f.Flaps)
		seen["take-overs"] += f.Takeovers()
		seen["losses"] += len(f.Lost)
		for _, e := range f.Elections {
			if e.Takeover {
				seen["elections by take-over"]++
			}
		}
	}
	t.Log(seen)
	for what, n := range seen {
		if n < 10 {
			t.Errorf("only %d %s: that shows little", n, what)
		}
	}
}
