package measure

import (
	"slices"
	"testing"

	"turnstile/internal/figure"
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// naiveSilence returns the longest time without an accepted entry from the beginning of a fault to that of
// the next or the end of the window.
func naiveSilence(accepted []plainVisit, faults []plainFault, i int, window section.Window) figure.Figure {
	from, to := faults[i].from, window.To
	if from >= to {
		return figure.Figure{}
	}
	if i+1 < len(faults) {
		to = min(to, faults[i+1].from)
	}
	times := []int64{from, to}
	for _, v := range accepted {
		if v.entered >= from && v.entered < to {
			times = append(times, v.entered)
		}
	}
	slices.Sort(times)
	var longest int64
	for j := 1; j < len(times); j++ {
		longest = max(longest, times[j]-times[j-1])
	}
	return figure.Number(float64(longest) / 1e6)
}

// A refused entry is no throughput: it neither restores the old rate nor ends the silence.
func TestRefusedEntriesAreNoThroughput(t *testing.T) {
	const ms = 1000
	tp := newTape().mark(0, history.Began).mark(0, history.Measuring).mark(4000*ms, history.Stopped).
		mark(4001*ms, history.Rested)
	for at := int64(0); at < 4000; at += 10 {
		tp.fenced(plainVisit{node: 0, due: at * ms, asked: at * ms, entered: at*ms + 1, exited: at*ms + 5*ms,
			refused: at >= 2000 && at < 3000})
	}
	tp.add(nodes.None, 1500*ms, history.FaultBegan, 1, 0).add(nodes.None, 2000*ms, history.FaultHealed, 1, 0)
	h := tp.history()
	row := faultsOf(h).Rows(func(int) string { return "" }, nil)[0]
	m := of(h, workload.Closed).Columns()
	for name, want := range map[string]struct {
		got  figure.Figure
		want string
	}{
		"accepted before": {row.Accepted[Before], "150"}, "refused before": {row.Refused[Before], "0"},
		"entries after": {row.Entries[After], "200"}, "accepted after": {row.Accepted[After], "100"},
		"refused after": {row.Refused[After], "100"}, "rate after": {row.PerS[After], "50"},
		"silence":  {row.SilenceS, "1.01"},
		"old rate": {row.OldRateS, "1"}, "all": {m.Entries, "400"}, "accepted": {m.EntriesAccepted, "300"},
		"of the run refused": {m.EntriesRefused, "100"}, "in window": {m.EntriesInWindow, "400"},
		"accepted in window": {m.AcceptedInWindow, "300"}, "throughput": {m.EntriesPerS, "75"},
		"utilisation": {m.Utilisation, "0.374925"},
	} {
		wantFigure(t, name, want.got, want.want)
	}
}
