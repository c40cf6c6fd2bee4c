package measure

import (
	"testing"

	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// numbered gives the entries of a node a fence number.
func (t *tape) numbered(node nodes.ID, fence uint64) *tape {
	events := t.log(node).events
	for i := range events {
		if e := &events[i]; e.Kind == history.Entered {
			e.Fence = fence
		}
	}
	return t
}

// leaves has the last entry of a node revoked.
func (t *tape) leaves(node nodes.ID) *tape {
	events := t.log(node).events
	events[len(events)-1].Kind = history.Revoked
	return t
}

// informed measures a history. informs means that machines say what clients hear of the lock.
func informed(h *history.History, capacity int, informs bool) Figures {
	s := section.New(h.Header().StampError, func(uint16) int { return capacity })
	s.Informs = informs
	f := New(s, workload.Closed)
	h.Run(s)
	return f.Measures.Columns()
}

// Columns of want: entries told of the loss, clients that stayed, how long in all and at most, overlapped
// untold, told for nothing, refused tries, refused while free, violations despite fences, and the longest
// time from another entry until the client was told.
func TestWhatClientsAreTold(t *testing.T) {
	lost := func(tp *tape, node nodes.ID, at int64) *tape { return tp.add(node, at, history.ToldLost, 0, 0) }
	pair := func() *tape { return marked().visit(0, 200, 200, 210, 500).visit(1, 200, 200, 300, 400) }
	for name, x := range map[string]struct {
		tape     *tape
		capacity int
		informs  bool
		want     [10]string
	}{
		"machines that say nothing": {pair(), 1, false, [10]string{}},
		"nothing happens": {marked().visit(0, 200, 200, 210, 500), 1, true,
			[10]string{"0", "0", "0", "", "0", "0", "0", "0", ""}},
		"overlapped": {pair(), 1, true, [10]string{"0", "0", "0", "", "1", "0", "0", "0", "", ">200"}},
		"told in time": {lost(pair(), 0, 250), 1, true,
			[10]string{"1", "1", "250", "250", "0", "0", "0", "0", ""}},
		"it is enough that one says it": {lost(pair(), 0, 350), 1, false,
			[10]string{"1", "1", "150", "150", "1", "0", "0", "0", "", "50"}},
		"two told": {lost(lost(pair(), 0, 250), 1, 380), 1, true,
			[10]string{"2", "2", "270", "250", "0", "0", "0", "0", ""}},
		"leaves at once": {pair().leaves(0), 1, true, [10]string{"1", "0", "0", "", "1", "0", "0", "0", "", "200"}},
		"leaves at once, alone": {marked().visit(0, 200, 200, 210, 500).leaves(0), 1, true,
			[10]string{"1", "0", "0", "", "0", "0", "0", "0", ""}},
		"for nothing": {lost(marked().visit(0, 200, 200, 210, 500), 0, 400), 1, true,
			[10]string{"1", "1", "100", "100", "0", "1", "0", "0", ""}},
		"never left": {lost(marked().visit(0, 200, 200, 210, -1), 0, 400).mark(1300, history.Rested), 1, true,
			[10]string{"1", "1", ">900", ">900", "0", "1", "0", "0", ""}},
		"several may be inside": {lost(pair(), 0, 250), 2, true,
			[10]string{"1", "1", "250", "250", "", "", "0", "0", ""}},
		"refused": {pair().add(1, 205, history.TryRefused, 0, 200_000).add(1, 250, history.TryRefused, 0, 220_000),
			1, true, [10]string{"0", "0", "0", "", "1", "0", "2", "1", "", ">200"}},
		"numbers that rise":    {pair().numbered(0, 4).numbered(1, 5), 1, false, [10]string{8: "0"}},
		"the same number":      {pair().numbered(0, 4).numbered(1, 4), 1, false, [10]string{8: "2"}},
		"one without a number": {pair().numbered(0, 4), 1, false, [10]string{}},
		"numbers of several":   {pair().numbered(0, 4).numbered(1, 4), 2, false, [10]string{}},
		"the number is passed": {passed(), 1, false, [10]string{8: ">1"}},
		"perhaps together":     {perhaps(), 1, false, [10]string{}},
		"nobody ever entered":  {marked(), 1, true, [10]string{"0", "0", "0", "", "0", "0", "0", "0", ""}},
		"one died with the lock": {lost(pair(), 0, 250).add(0, 450, history.Crashed, 0, 0), 1, true,
			[10]string{"1", "1", "200", "200", "0", "0", "0", "0", ""}},
	} {
		m := informed(x.tape.history(), x.capacity, x.informs)
		for i, got := range []number{m.EntriesTold, m.ToldStayed, m.ToldInsideUS, m.ToldInsideUSMax,
			m.OverlappedUntold, m.ToldForNothing, m.RefusedTries, m.RefusedFree, m.ViolationsFenced,
			m.ToldAfterUSMax} {
			if got.String() != x.want[i] {
				t.Errorf("%s: figure %d is %q, not %q", name, i, got, x.want[i])
			}
		}
	}
}

// perhaps is a history of two clients under one fence number, together for less than the stamps may err.
func perhaps() *tape {
	tp := marked().visit(0, 200, 200, 210, 305).visit(1, 200, 200, 300, 400).numbered(0, 4).numbered(1, 4)
	tp.log(0).StampError = 10_000
	return tp
}

// passed is a history of two holders with one fence number. A third with a higher number overtakes one.
func passed() *tape {
	return marked().visit(0, 200, 200, 210, 500).visit(1, 200, 200, 300, 400).visit(2, 200, 200, 450, 600).
		numbered(0, 4).numbered(1, 4).numbered(2, 5)
}
