package section

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/history"
)

// bound returns the event that bounds by err the error of a node's stamps; clock is the number of its clock.
func bound(at int64, id uint32, err int64, clock uint64) history.Event {
	return history.Event{At: at, Kind: history.ClockBound, Node: nodes.None, Count: id, Value: err, Entry: 2,
		Fence: clock}
}

func visit(id nodes.ID, from, to int64) []history.Event {
	in, out := happens(from, id, history.Entered), happens(to, id, history.Exited)
	in.Count, out.Value = 1, 1
	return []history.Event{request(from, id, 1), in, out}
}

func inOrder(events []history.Event) []history.Event {
	slices.SortStableFunc(events, func(a, b history.Event) int { return cmp.Compare(a.At, b.At) })
	return events
}

func TestOverlapsOfSeveralClocks(t *testing.T) {
	const err, other = 100, 30
	clocks := []history.Event{bound(0, 0, 2, 0), bound(0, 1, err, 1), bound(0, 2, err, 1), bound(0, 3, other, 2)}
	for name, test := range map[string]struct {
		a, b       nodes.ID
		overlap    int64
		violations uint64
		more       []history.Event
	}{
		"within the bound of one":       {0, 1, 102, 0, nil},
		"longer than that":              {0, 1, 103, 2, nil},
		"within the sum of two":         {1, 3, 130, 0, nil},
		"longer than the sum":           {1, 3, 131, 2, nil},
		"two of one host":               {1, 2, 6, 2, nil},
		"within what their logs err by": {1, 2, 5, 0, nil},
		"two of one host whose clock jumps": {1, 2, 150, 0,
			[]history.Event{bound(900, 1, 500, history.NoClock), bound(900, 2, 500, history.NoClock)}},
		"the entry is unknown": {0, 1, 450, 0,
			[]history.Event{bound(900, 1, 500, history.NoClock), bound(1100, 1, err, 1)}},
		"the exit is unknown": {3, 0, 450, 0,
			[]history.Event{bound(1200, 3, 500, history.NoClock), bound(2000, 3, other, 2)}},
		"the clock was unknown long before": {0, 1, 103, 2,
			[]history.Event{bound(100, 1, 500, history.NoClock), bound(400, 1, err, 1)}},
	} {
		events := append(slices.Concat(clocks, test.more), visit(test.a, 500, 1000+test.overlap)...)
		events = inOrder(append(events, visit(test.b, 1000, 3000)...))
		f, _ := folded(events, 1, 0)
		r := f.Resources[0]
		uncertain := uint64(0)
		if test.violations == 0 {
			uncertain = 1
		}
		if r.Violations != test.violations || r.UncertainOverlaps != uncertain {
			t.Errorf("%s: %d violations, %d uncertain", name, r.Violations, r.UncertainOverlaps)
		}
		paused := len(f.Pauses) > 0
		if paused != (test.more != nil) || paused && f.Pauses[0].From != test.more[0].At {
			t.Errorf("%s: nodes stand still while their clocks jump: %v", name, f.Pauses)
		}
		if f.ClockError() != err+other || f.Jumped() != (test.more != nil) {
			t.Errorf("%s: stamps of two nodes err by %d, jumped %v", name, f.ClockError(), f.Jumped())
		}
	}
}

// While its clock jumps, a node counts as paused.
func TestAJumpIsAPause(t *testing.T) {
	f := New(0, nil)
	for _, e := range []history.Event{bound(0, 1, history.Unknowable, history.NoClock), bound(50, 1, 100, 1),
		bound(200, 1, 500, history.NoClock), bound(600, 1, 120, 1), happens(900, nodes.None, history.Marked)} {
		f.Add(e)
	}
	f.Close(nil)
	if len(f.Pauses) != 1 || f.Pauses[0] != (Pause{1, 200, 600}) {
		t.Errorf("%+v", f.Pauses)
	}
}

// Under any error of clocks within their bounds: a reported violation is a real overlap, and of two nodes
// every overlap longer than twice the sum of their errors is reported.
func TestWhatSeveralClocksTell(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 5))
		type section struct{ from, to int64 }
		var really []section
		var events []history.Event
		var errs []int64
		n, hosts := nodes.ID(2+r.IntN(3)), make([]int64, 3)
		for i := range hosts[1:] {
			hosts[i+1] = r.Int64N(401) - 200
		}
		for id := range n {
			host := r.IntN(len(hosts))
			one := section{from: r.Int64N(1000)}
			one.to = one.from + 1 + r.Int64N(1000)
			really = append(really, one)
			err := int64(2)
			if host > 0 {
				err += 200
			}
			errs = append(errs, err)
			events = append(events, bound(-1000, uint32(id), err, uint64(host)))
			own := func() int64 { return hosts[host] + r.Int64N(5) - 2 }
			from := one.from + own()
			events = append(events, visit(id, from, max(from, one.to+own()))...)
		}
		_, all := folded(inOrder(events), 1, 0)
		for _, s := range all {
			was, must := false, false
			mine := really[s.Node]
			for id, other := range really {
				if nodes.ID(id) != s.Node {
					length := min(mine.to, other.to) - max(mine.from, other.from)
					was = was || length > 0
					must = must || length > 2*(errs[id]+errs[s.Node])
				}
			}
			if s.Violates && !was || must && n == 2 && !s.Violates {
				t.Fatalf("seed %d: node %d violates exclusion: %v; %v", seed, s.Node, s.Violates, really)
			}
		}
	}
}
