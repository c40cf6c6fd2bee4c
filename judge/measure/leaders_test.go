package measure

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"turnstile/internal/figure"
	"turnstile/internal/soak"
	"turnstile/judge/leadership"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
)

// beliefs is a history of nodes that declare, crash and come up again as they like, with faults. No two
// things happen at once; times are in microseconds.
func beliefs(r *rand.Rand, n int, faults []plainFault, w section.Window, end int64) *tape {
	tp := newTape().mark(w.From, history.Began).mark(w.From, history.Measuring).mark(w.To, history.Stopped).
		mark(end, history.Rested)
	down := make([]bool, n)
	for at := int64(1); at < end; at += 4 * (1 + r.Int64N(20)) {
		id := r.IntN(n)
		switch {
		case down[id]:
			tp.add(nodes.ID(id), at, history.Restarted, 1, 0)
			down[id] = false
		case r.IntN(8) == 0:
			tp.add(nodes.ID(id), at, history.Crashed, 0, 0)
			down[id] = true
		default:
			none := nodes.None
			leader := []uint32{uint32(none), uint32(id), 0, 0, 0, 1}[r.IntN(6)]
			tp.add(nodes.ID(id), at, history.Elected, leader, int64(r.IntN(2)))
		}
	}
	for i, f := range faults {
		tp.add(nodes.None, f.from, history.FaultBegan, uint32(i+1), 0)
		if f.to >= 0 {
			tp.add(nodes.None, f.to, history.FaultHealed, uint32(i+1), 0)
		}
	}
	return tp
}

// leadersSay prints what happened to leaders in a phase, looked at moment by moment.
func (p plainPhase) leadersSay(m *leadership.Fold) string {
	if p.to <= p.from {
		return fmt.Sprintln(figure.Figure{}, figure.Figure{}, figure.Figure{}, figure.Figure{},
			figure.Figure{}, figure.Figure{})
	}
	w := section.Window{From: 1000 * p.from, To: 1000 * p.to}
	elections, flaps, leaderless, two := 0, 0, 0, 0
	var took Latency
	for _, e := range m.Elections {
		if !e.Again && w.Has(e.Agreed) {
			elections++
		}
		if !e.Again && !e.Takeover && e.Begun < w.To && e.Agreed >= w.From {
			took.add(e.Agreed-e.Begun, true)
		}
	}
	if m.Open != nil && m.Open.Begun < w.To { // it lasts to the end of the window
		took.add(m.End-m.Open.Begun, false)
	}
	for at := w.From; at < w.To; at += 1000 {
		for _, v := range m.Vacancies {
			if v.From <= at && at < v.To {
				leaderless++
			}
		}
		for _, v := range m.Overlaps {
			if v.From <= at && at < v.To {
				two++
			}
		}
	}
	for _, x := range m.Flaps {
		if w.Has(x.At) {
			flaps++
		}
	}
	return fmt.Sprintln(elections, took.MicrosAt(0.5), took.MicrosAt(1), leaderless, two, flaps)
}

// naiveAgreed returns how long after a heal all agreed: until the first moment at which no election goes on.
func naiveAgreed(m *leadership.Fold, f plainFault) figure.Figure {
	if f.to < 0 || 1000*f.to < m.Begun || 1000*f.to >= m.End {
		return figure.Figure{}
	}
	for at := 1000 * f.to; at < m.End; at += 1000 {
		open := m.Open != nil && m.Open.Begun <= at
		for _, e := range m.Elections {
			open = open || e.Begun <= at && at < e.Agreed
		}
		if !open {
			return figure.Number(float64(at-1000*f.to) / 1e9)
		}
	}
	return figure.AtLeast(float64(m.End-1000*f.to) / 1e9)
}

func TestLeadersAroundFaultsAgainstNaiveMeasures(t *testing.T) {
	const end = 1200
	for seed := range soak.Pick[uint64](50, 150, 7500) {
		r := rand.New(rand.NewPCG(seed, 7))
		n, faults := 1+r.IntN(3), randomFaults(r, end)
		window := section.Window{From: 100, To: 301 + r.Int64N(800)}
		h := beliefs(r, n, faults, window, end).history()
		leaders := leadership.New(nodes.Config{N: n}, &algorithm.Leadership{Terms: true})
		h.Run(leaders)
		m := NewLeaders(leaders)
		m.Only = seed%2 == 0
		f := faultsOf(h)
		for i, row := range f.Rows(func(int) string { return "x" }, m) {
			got := fmt.Sprintln(row.Elections[Before], row.ElectUS[Before].P50, row.ElectUS[Before].Max,
				row.LeaderlessUS[Before], row.TwoLeadersUS[Before], row.Flaps[Before]) +
				fmt.Sprintln(row.Elections[During], row.ElectUS[During].P50, row.ElectUS[During].Max,
					row.LeaderlessUS[During], row.TwoLeadersUS[During], row.Flaps[During]) +
				fmt.Sprintln(row.Elections[After], row.ElectUS[After].P50, row.ElectUS[After].Max,
					row.LeaderlessUS[After],
					row.TwoLeadersUS[After], row.Flaps[After]) + fmt.Sprintln(row.HealedAgreedS)
			before, during, after := phasesOf(faults, i, window)
			want := before.leadersSay(leaders) + during.leadersSay(leaders) + after.leadersSay(leaders) +
				fmt.Sprintln(naiveAgreed(leaders, faults[i]))
			if got != want {
				t.Fatalf("seed %d, fault %d of %v, window %v:\n got %s\nwant %s", seed, i+1, faults, window, got, want)
			}
			asks := row.Entries[During].Known() || row.Entries[Before].Known() || row.SilenceS.Known() ||
				row.OverlapUS[During].Known() || row.Unfinished.Known() || row.PerS[During].Known()
			if asks == m.Only && (asks || faults[i].from < window.To) { // a fault after the window may have no figures
				t.Fatalf("seed %d: entries are known: %v, though only leaders count: %v", seed, asks, m.Only)
			}
		}
	}
}

func TestLeadersHaveTheirLatencies(t *testing.T) {
	tp := newTape().mark(0, history.Began).mark(0, history.Measuring).mark(1000, history.Stopped)
	elect := func(at int64, node, leader nodes.ID) {
		tp.add(node, at, history.Elected, uint32(leader), 0)
	}
	elect(10, 1, 1)
	elect(30, 0, 1)
	tp.add(1, 100, history.Crashed, 0, 0)
	elect(150, 0, 0)
	tp.add(1, 200, history.Restarted, 1, 0)
	elect(205, 1, 1)
	elect(225, 0, 1)
	tp.add(1, 900, history.Crashed, 0, 0)
	leaders := leadership.New(nodes.Config{N: 2}, &algorithm.Leadership{})
	tp.history().Run(leaders)
	var m Measures
	m.AddLeaders(leaders, false)
	for _, l := range Latencies {
		of := l.in(&m)
		got := fmt.Sprint(of.Count(), of.MicrosAt(0.5), of.MicrosAt(1), of.Censored())
		want, known := map[string]string{
			ElectTag:       "3 50.015 >100.031 1", // from the beginning, the first crash, and the second crash
			DetectionTag:   "2 10.007 50.015 0",
			DeclarationTag: "2 0 0 0",
			AgreementTag:   "2 0 20.015 0",
			TakeoverTag:    "1 25.007 25.007 0", // until all agree on the restarted node
			leaderlessTag:  "3 50.015 >100.031 1",
			twoLeadersTag:  "1 20.015 20.015 0",
		}[l.Tag]
		if known && got != want {
			t.Errorf("%s: %s, not %s", l.Tag, got, want)
		}
	}
	wantFigure(t, "elections", m.Elections, "3")
	wantFigure(t, "elections per crash", m.ElectionsPerCrash, "0.5")
	wantFigure(t, "take-overs", m.Takeovers, "1")
	wantFigure(t, "the time of a take-over", m.Columns().TakeoverUSP50, "25.007")
}
