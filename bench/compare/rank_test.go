package compare

import (
	"fmt"
	"testing"

	"turnstile/internal/figure"
	"turnstile/results"
)

// trialsAt are valid trials of processes with such throughputs.
func trialsAt(rates ...float64) (all []Trial) {
	for i, r := range rates {
		t := Trial{Row: results.Row{Seed: uint64(i), Verdict: "valid"}}
		t.Kind, t.EntriesPerS, t.WaitUSP99 = "bench", figure.Number(r), figure.Number(1e6/r)
		all = append(all, t)
	}
	return all
}

// Neighbours tie unless they differ; what cannot be ranked comes last.
func TestRank(t *testing.T) {
	fast := trialsAt(110, 111, 112, 113, 114, 115)
	same := trialsAt(109, 110.5, 111.5, 112.5, 113.5, 114.5)
	slow := trialsAt(50, 51, 52, 53, 54, 55)
	bound := trialsAt(200, 201, 202, 203, 204, 205)
	for i := range bound {
		bound[i].CPUBusy = figure.Number(0.99)
	}
	broken := trialsAt(900)
	broken[0].Verdict = "violated"
	groups := []*Group{GroupOf("slow", slow), GroupOf("broken", broken), GroupOf("same", same),
		GroupOf("fast", fast), GroupOf("bound", bound)}
	for metric, want := range map[string]string{
		"entries_per_s": "[bound 1] [fast 2] [same 2] [slow 4] [broken 0]",
		"wait_us_p99":   "[fast 1] [same 1] [slow 3] [bound 0] [broken 0]",
	} {
		got := ""
		for _, p := range Rank(metric, groups) {
			got += fmt.Sprintf(" [%s %d]", p.Name, p.Rank)
		}
		if got[1:] != want {
			t.Errorf("by %s: %s, want %s", metric, got[1:], want)
		}
	}
}

// A group says how many trials its median is of.
func TestGroupMedian(t *testing.T) {
	median, low, high, trials := GroupOf("g", trialsAt(1, 2, 3, 4, 5, 6)).Median("entries_per_s")
	if median != figure.Number(3.5) || low != figure.Number(1) || high != figure.Number(6) || trials != 6 {
		t.Errorf("%v (%v to %v) of %d", median, low, high, trials)
	}
}
