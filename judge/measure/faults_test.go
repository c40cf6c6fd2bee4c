package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"

	"turnstile/internal/figure"
	"turnstile/internal/soak"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
)

// A plainFault is a fault as the naive measures see it; times are in microseconds, -1 is never.
type plainFault struct{ from, to int64 }

// randomFaults begin in the order of their numbers and may overlap; a few are never healed.
func randomFaults(r *rand.Rand, end int64) (faults []plainFault) {
	at := int64(0)
	for range r.IntN(6) {
		at += 1 + r.Int64N(300)
		f := plainFault{at, at + r.Int64N(400)}
		if f.to >= end || r.IntN(12) == 0 {
			f.to = -1
		}
		faults = append(faults, f)
	}
	return faults
}

// A plainPhase is [from, to), in microseconds; it is empty if to is not above from.
type plainPhase struct{ from, to int64 }

// phasesOf finds the phases of a fault from their definitions.
func phasesOf(faults []plainFault, i int, w section.Window) (before, during, after plainPhase) {
	f := faults[i]
	before = plainPhase{w.From, min(f.from, w.To)}
	for j, g := range faults {
		if g.to >= 0 && (g.to < f.from || g.to == f.from && j < i) {
			before.from = max(before.from, g.to)
		}
	}
	if f.from >= w.To {
		before = plainPhase{}
	}
	during = plainPhase{max(f.from, w.From), w.To}
	if f.to < 0 {
		return before, during, plainPhase{}
	}
	during.to = min(f.to, w.To)
	after = plainPhase{f.to, w.To}
	for j, g := range faults {
		if g.from > f.to || g.from == f.to && j > i {
			after.to = min(after.to, g.from)
		}
	}
	if f.to < w.From {
		after = plainPhase{}
	}
	return before, during, after
}

// says prints what happened in a phase: entries, messages, and the waits that touch it.
func (p plainPhase) says(visits []plainVisit, end int64, counts func(int64) (uint64, uint64)) string {
	if p.to <= p.from {
		return fmt.Sprintln("- - - - - - - - - - -")
	}
	w := section.Window{From: p.from, To: p.to}
	hist, open := hdrhistogram.NewPacked(1, 1e7, 3), hdrhistogram.NewPacked(1, 1e7, 3)
	entries, refused, overlap := 0, 0, int64(0)
	for _, v := range visits {
		if v.entered >= 0 && w.Has(v.entered) {
			if entries++; v.refused {
				refused++
			}
		}
		if !touches(w, v, end) {
			continue
		}
		if v.entered >= 0 {
			hist.RecordValue(1000 * (v.entered - v.due))
		} else {
			hist.RecordValue(1000 * (end - v.due))
			open.RecordValue(1000 * (end - v.due))
		}
	}
	for at := p.from; at < p.to; at++ {
		if holders(visits, at) > 1 {
			overlap++
		}
	}
	l := Latency{Hist: hist, open: open}
	if hist.TotalCount() == 0 {
		l = Latency{}
	}
	sent, dropped := counts(p.from)
	later, lost := counts(p.to)
	return fmt.Sprintln(entries, entries-refused, refused,
		figure.Ratio(float64(entries-refused), float64(p.to-p.from)/1e6),
		l.MicrosAt(0.5), l.MicrosAt(0.99), l.MicrosAt(1), later-sent, lost-dropped,
		figure.Number(float64(overlap)))
}

// saysOf prints the same figures of a phase, as the fold measured them.
func saysOf(row *OfFault, i int) string {
	if !row.Entries[i].Known() {
		return fmt.Sprintln("- - - - - - - - - - -")
	}
	waits := row.WaitUS[i]
	return fmt.Sprintln(row.Entries[i], row.Accepted[i], row.Refused[i], row.PerS[i], waits.P50, waits.P99,
		waits.Max, row.Messages[i], row.Dropped[i], row.OverlapUS[i])
}

// countsAt returns made-up numbers of messages sent and dropped until a time in microseconds.
func countsAt(at int64) (sent, dropped uint64) { return uint64(7 * at), uint64(at / 3) }

// faulty is a history of visits with faults.
func faulty(visits []plainVisit, faults []plainFault, w section.Window, end int64) *tape {
	tp := newTape().mark(w.From, history.Measuring).mark(w.To, history.Stopped).mark(end, history.Stalled)
	for _, v := range visits {
		tp.fenced(v)
	}
	for i, f := range faults {
		tp.add(nodes.None, f.from, history.FaultBegan, uint32(i+1), 0)
		if f.to >= 0 {
			tp.add(nodes.None, f.to, history.FaultHealed, uint32(i+1), 0)
		}
	}
	return tp
}

// faultsOf measures the faults of a history, and counts messages at each mark and at each edge of a fault.
func faultsOf(h *history.History) *FaultFold {
	var events []history.Event
	for _, e := range h.Events {
		events = append(events, e)
		if e.Kind == history.FaultBegan || e.Kind == history.FaultHealed || e.Kind == history.Marked {
			sent, dropped := countsAt(e.At / 1000)
			events = append(events, history.Event{At: e.At, Kind: history.Counted, Value: int64(sent), Fence: dropped,
				Node: nodes.None})
		}
	}
	h.Events = events
	s := section.New(h.Header().StampError, nil)
	f := NewFaults(s, nil)
	h.Run(s)
	return f
}

func TestFaultsAgainstNaiveMeasures(t *testing.T) {
	const end = 2000
	for seed := range soak.Pick[uint64](40, 120, 6000) {
		r := rand.New(rand.NewPCG(seed, 2))
		visits, faults := randomVisits(r), randomFaults(r, end)
		window := section.Window{From: 100, To: 101 + r.Int64N(900)}
		f := faultsOf(faulty(visits, faults, window, end).history())
		if len(f.faults) != len(faults) {
			t.Fatalf("seed %d: %d faults of %d", seed, len(f.faults), len(faults))
		}
		for i, x := range f.faults {
			row := f.row(x, "")
			got := saysOf(&row, Before) + saysOf(&row, During) + saysOf(&row, After)
			before, during, after := phasesOf(faults, i, window)
			want := before.says(visits, end, countsAt) + during.says(visits, end, countsAt) +
				after.says(visits, end, countsAt)
			got += fmt.Sprintln(row.NextEntryS, row.HealedNextEntryS, row.Unfinished, row.Healed)
			want += naiveNext(visits, faults[i], end)
			got += fmt.Sprintln(row.SilenceS)
			want += fmt.Sprintln(naiveSilence(accepted(visits), faults, i, window))
			if got != want {
				t.Fatalf("seed %d, fault %d of %v, window %v:\n got %s\nwant %s", seed, i+1, faults, window, got, want)
			}
		}
	}
}

// The next entry after a kill is counted from the signal: it may come before the process has ended, when the
// fault begins. An entry before the kill, or of the node itself, does not count.
func TestNextEntryAfterASignal(t *testing.T) {
	for want, x := range map[string]struct {
		entry int64
		by    nodes.ID
		more  int64 // another entry, of node 2
	}{"0.000005": {505, 1, 900}, "0.00039": {505, 0, 890}, "0.00003": {530, 1, 900}, "0.0004": {499, 1, 900}} {
		tp := newTape().mark(100, history.Measuring).mark(1000, history.Stopped).mark(2000, history.Stalled)
		tp.add(0, 500, history.Killed, 0, 0)
		tp.add(nodes.None, 510, history.FaultBegan, 1, int64(nodes.NoCrash))
		tp.visit(x.by, 300, 300, x.entry, x.entry+20)
		tp.visit(2, 300, 300, x.more, x.more+20)
		f := faultsOf(tp.history())
		if got := fmt.Sprint(f.row(f.faults[0], "").NextEntryS); got != want {
			t.Errorf("%v: the next entry comes after %s, not %s", x, got, want)
		}
	}
	// A signal counts for no later fault once its node is back.
	tp := newTape().mark(100, history.Measuring).mark(1000, history.Stopped).mark(2000, history.Stalled)
	tp.add(0, 200, history.Killed, 0, 0).add(0, 300, history.Restarted, 0, 0)
	tp.add(nodes.None, 510, history.FaultBegan, 1, int64(nodes.NoCrash)).visit(2, 300, 300, 530, 540)
	f := faultsOf(tp.history())
	if got := fmt.Sprint(f.row(f.faults[0], "").NextEntryS); got != "0.00002" {
		t.Errorf("the next entry after another signal comes after %s", got)
	}
	// Neither does the death of a node that killed itself, which comes after its fault has begun.
	tp = newTape().mark(100, history.Measuring).mark(1000, history.Stopped).mark(2000, history.Stalled)
	tp.add(nodes.None, 200, history.FaultBegan, 1, int64(nodes.NoCrash)).add(0, 201, history.Killed, 0, 0)
	events := tp.log(nodes.None).events
	events[len(events)-1].Entry = 1 // its victim is node 0
	tp.add(0, 202, history.Killed, 0, 0).add(0, 205, history.Crashed, 0, 0).visit(2, 210, 210, 250, 260)
	tp.add(1, 500, history.Killed, 0, 0).add(nodes.None, 510, history.FaultBegan, 2, int64(nodes.NoCrash))
	f = faultsOf(tp.visit(2, 300, 300, 530, 540).history())
	if got := fmt.Sprint(f.row(f.faults[1], "").NextEntryS); got != "0.00003" {
		t.Errorf("the next entry after a second signal comes after %s", got)
	}
}

// naiveNext prints the times to the next entry, and how many requests open at the heal never finished.
func naiveNext(visits []plainVisit, f plainFault, end int64) string {
	after := func(from int64) figure.Figure {
		next, waits := int64(math.MaxInt64), false
		for _, v := range visits {
			if v.entered >= from {
				next = min(next, v.entered)
			}
			waits = waits || v.entered < 0
		}
		switch {
		case next < math.MaxInt64:
			return figure.Number(float64(next-from) / 1e6)
		case waits:
			return figure.AtLeast(float64(end-from) / 1e6)
		}
		return figure.Figure{}
	}
	if f.to < 0 {
		return fmt.Sprintln(after(f.from), figure.Figure{}, figure.Figure{}, false)
	}
	unfinished := uint64(0)
	for _, v := range visits {
		if v.exited < 0 && v.asked < f.to {
			unfinished++
		}
	}
	return fmt.Sprintln(after(f.from), after(f.to), figure.Count(unfinished), true)
}

// The old rate is found where the definition says, or not at all.
func TestRecoveryAgainstNaiveMeasures(t *testing.T) {
	for seed := range soak.Pick[uint64](150, 400, 20_000) {
		r := rand.New(rand.NewPCG(seed, 3))
		before := phase{Window: section.Window{From: 0, To: 1e6 * (1 + r.Int64N(3000))}, entries: r.Uint64N(400)}
		until := 1e6 * r.Int64N(4000)
		x := recoveryFrom(0, &before)
		var entries []int64
		for at := int64(0); at < until; at += 1e5 * r.Int64N(1+r.Int64N(500)) {
			entries = append(entries, at)
			x.enter(at)
		}
		x.end(until)
		want := int64(-1)
		length := float64(before.To)
		width := max(int64(math.Ceil(length/20)), 50e6)
		if n := float64(before.entries); n >= 10 {
			width = max(width, int64(math.Ceil(10*length/n)))
		}
		for from := int64(0); before.entries >= 10 && width <= before.To && from+width <= until; from += width {
			n := 0
			for _, at := range entries {
				if from <= at && at < from+width {
					n++
				}
			}
			if float64(n)/float64(width) >= 0.9*float64(before.entries)/length {
				want = from
				break
			}
		}
		got := int64(-1)
		if x.found {
			got = x.after
		}
		if got != want {
			t.Fatalf("seed %d: the old rate is back after %d, not %d", seed, got, want)
		}
	}
}

// A Latency has the bars of an HdrHistogram of three significant figures, and the quantiles of the sorted
// durations, whether all have ended or not.
func TestLatency(t *testing.T) {
	for _, count := range []int{1, 2, 3, 7, 100, 999, 5000} {
		testLatency(t, count, 0)
		testLatency(t, count, 9)
	}
}

// testLatency adds count durations. One in openOf never ends; with 0, all end.
func testLatency(t *testing.T, count, openOf int) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 4))
	var l Latency
	full := hdrhistogram.New(1, longest, 3)
	var sorted, ended []int64
	for range count {
		ns := r.Int64N(1 << r.IntN(62))
		ends := openOf == 0 || r.IntN(openOf) > 0
		l.add(ns, ends)
		full.RecordValue(ns)
		_, to := BarOf(ns)
		if sorted = append(sorted, to); ends {
			ended = append(ended, to)
		}
	}
	slices.Sort(sorted)
	var bars []hdrhistogram.Bar
	for from, n := range l.Hist.ForEachBucket {
		low, to := BarOf(from)
		bars = append(bars, hdrhistogram.Bar{From: low, To: to, Count: n})
	}
	want := slices.DeleteFunc(full.Distribution(), func(b hdrhistogram.Bar) bool { return b.Count == 0 })
	if diff := cmp.Diff(want, bars); diff != "" {
		t.Error(diff)
	}
	for _, q := range []float64{0, 0.1, 0.25, 1.0 / 3, 0.5, 0.9, 0.99, 0.999, 1} {
		ns, atLeast := l.Quantile(q)
		rank := int(rankOf(q, uint64(count)))
		sure := slices.DeleteFunc(slices.Clone(ended), func(to int64) bool { return to > ns })
		if ns != sorted[rank-1] || atLeast != (len(sure) < rank) {
			t.Errorf("quantile %v of %d is %d, at least: %v; not %d", q, count, ns, atLeast, sorted[rank-1])
		}
	}
}

// However long a run is, its timeline keeps to mostIntervals, and counts each entry in the right interval.
func TestTimeline(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	line := timeline{from: 77}
	var entries []int64
	for at := int64(77); at < 5e9; at += r.Int64N(1e7) {
		line.enter(at, at%1000, at%3 == 0)
		entries = append(entries, at-77)
		if len(line.counts) > mostIntervals {
			t.Fatalf("%d intervals", len(line.counts))
		}
	}
	want := make([]entered, len(line.counts))
	for _, at := range entries {
		n := &want[at/line.length]
		if n.all++; (at+77)%3 == 0 {
			n.refused++
		}
		n.wait = max(n.wait, (at+77)%1000)
	}
	diff := cmp.Diff(want, line.counts, cmp.AllowUnexported(entered{}))
	if diff != "" || len(want) < mostIntervals/2 {
		t.Errorf("%d intervals: %s", len(want), diff)
	}
	rows := line.rows()
	wantFigure(t, "the end of the second", rows[1].ToS, figure.Number(2*float64(line.length)/1e9).String())
}

// oneFault returns a history with a window from 100 to 1100 us, and a fault from 300 to 500 us.
func oneFault() *tape {
	return marked().
		add(nodes.None, 300, history.FaultBegan, 1, 0).
		add(nodes.None, 500, history.FaultHealed, 1, 0)
}

// A phase has numbers of messages if they were counted at its beginning and its end, and not at other times.
func TestMessagesNobodyCounted(t *testing.T) {
	const began, stopped, stalled = 300_000, 1_100_000, 1_500_000
	for _, test := range []struct {
		missing               int64
		before, during, after string
	}{{-1, "200", "200", "600"}, {began, "", "", "600"}, {stopped, "200", "200", ""}} {
		s := section.New(0, nil)
		f := NewFaults(s, nil)
		for _, e := range oneFault().mark(stalled/1000, history.Stalled).history().Events {
			s.Add(e)
			if e.At != test.missing {
				s.Add(history.Event{At: e.At, Kind: history.Counted, Value: e.At / 1000, Node: nodes.None})
			}
		}
		s.Close(nil)
		row := f.Rows(func(int) string { return "x" }, nil)[0]
		wantFigure(t, "before", row.Messages[Before], test.before)
		wantFigure(t, "during", row.Messages[During], test.during)
		wantFigure(t, "after", row.Messages[After], test.after)
		wantFigure(t, "from", row.FromS, "0.0002")
		wantFigure(t, "to", row.ToS, "0.0004")
	}
}

// If a counter falls, the number of messages is unknown.
func TestMessagesWrongCounts(t *testing.T) {
	f := NewFaults(section.New(0, nil), nil)
	for _, last := range []counters{{true, 4, 9}, {true, 6, 0}} {
		p := phase{Window: section.Window{From: 0, To: 5}, first: counters{true, 5, 1}, last: last}
		x := &fault{phases: ByPhase[*phase]{During: &p}}
		row := f.row(x, "x")
		wantFigure(t, "messages", row.Messages[During], "")
		wantFigure(t, "dropped", row.Dropped[During], "")
	}
}

// An arrival that ended with a crash before a fault did not wait during the fault, though it is read later.
func TestArrivalsThatEndedBeforeTheFault(t *testing.T) {
	tp := oneFault().add(1, 200, history.Crashed, 0, 0).add(1, 1100, history.Unissued, 0, 150_000)
	f := faultsOf(tp.history())
	row := f.Rows(func(int) string { return "x" }, nil)[0]
	wantFigure(t, "before", row.WaitUS[Before].Max, ">50.015")
	wantFigure(t, "during", row.WaitUS[During].Max, "")
}

// If a run was interrupted, it is unknown how many requests would never have finished.
func TestUnfinishedOfAnInterruptedRun(t *testing.T) {
	for mark, want := range map[uint32]string{history.Interrupted: "", history.Stalled: "1"} {
		tp := oneFault().visit(0, 400, 400, -1, -1).visit(1, 600, 600, -1, -1).mark(2000, mark)
		row := faultsOf(tp.history()).Rows(func(int) string { return "x" }, nil)[0]
		wantFigure(t, "unfinished", row.Unfinished, want)
	}
}
