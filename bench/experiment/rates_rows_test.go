package experiment

import (
	"testing"

	"turnstile/bench/option"
	"turnstile/internal/figure"
)

// A summary of several trials names the trials that serve the next rate, too.
func TestTrialsThatServeTheNextRateAreNamed(t *testing.T) {
	found := func(power int) *rateSearch {
		r := &rateSearch{over: true, said: map[int]*rateProbe{power: {answer: passes},
			power + 1: {answer: fails, limit: LimitShare}}}
		r.at, r.next = power, fails
		return r
	}
	for _, c := range []struct {
		powers []int
		want   string
	}{
		{[]int{100}, ""},
		{[]int{100, 100, 100}, ""},
		{[]int{100, 101}, ""},
		{[]int{100, 103}, "2"}, // 7% above their median
		{[]int{101, 100, 100}, "1"},
		{[]int{99, 102, 100, 103, 100}, "2 4"},
	} {
		var searches []*rateSearch
		for _, power := range c.powers {
			searches = append(searches, found(power))
		}
		row := new(RateSweep).rateRow(searches)
		if row.ServedNext != c.want || row.Trials != len(c.powers) {
			t.Errorf("%v: trials %q of %d serve more than %v, not %q", c.powers, row.ServedNext, row.Trials,
				row.Number(option.RateColumn), c.want)
		}
	}
	if got := servedNext(figure.Figure{}, []figure.Figure{figure.Number(1)}, []int{1}); got != "" {
		t.Errorf("of no rate, %q", got)
	}
}
