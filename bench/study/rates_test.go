package study

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/bench"
	"turnstile/bench/option"
	"turnstile/internal/chance"
	"turnstile/internal/figure"
	"turnstile/nodes/workload"
	"turnstile/results"
)

const (
	lockHold  = 5 * time.Millisecond
	lockDelay = time.Millisecond
)

// ratesOf returns a search for the highest rate of a central lock. Its clients enter at least a hold and two
// delays apart, which bounds the rate.
func ratesOf(t *testing.T, trials int) *RateSweep {
	t.Helper()
	s := &RateSweep{WaitBound: time.Second}
	s.Trials, s.Command, s.Seed = trials, "orchestrator sweep", 3
	s.Setup.Results, s.Setup.Set = t.TempDir(), "rates"
	s.Setup.Versions = map[string]string{"turnstile": "v1", "revision": "abc"}
	spec, err := (catalog.Table{}).Find("central")
	if err != nil {
		t.Fatal(err)
	}
	o := option.Defaults()
	o.Config.N, o.Duration, o.Warmup, o.WarmupLimit = 4, 2*time.Second, 200*time.Millisecond, 0
	o.Latency = chance.Constant(lockDelay)
	o.Workload = workload.Workload{Load: workload.Open, Rate: 1, Hold: chance.Constant(lockHold)}
	j, err := bench.Resolve(catalog.Table{}, o, spec, true)
	if err != nil {
		t.Fatal(err)
	}
	s.Cells = []*bench.Job{j}
	return s
}

// searchRates makes all probes, and returns the only row.
func searchRates(t *testing.T, s *RateSweep) results.RateRow {
	t.Helper()
	if _, _, err := s.Prepare(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Make(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows := s.Rates()
	if len(rows) != 1 {
		t.Fatalf("%d rows", len(rows))
	}
	return rows[0]
}

func TestTheHighestRateIsThatOfTheTextbook(t *testing.T) {
	row := searchRates(t, ratesOf(t, 6))
	most := float64(time.Second / (lockHold + 2*lockDelay))
	got, _ := row.TotalPerS.Value()
	// The lock serves 95% of a load that is 1/0.95 of its capacity. Neighbouring rates differ by one step, and
	// arrivals are random.
	if low, high := most/RateStep, most/ServedShare*RateStep; got < low || got > high ||
		row.TotalPerS.IsBound() || row.LimitedBy != LimitShare || row.Trials != 6 ||
		row.Interval != IntervalOfMedian {
		t.Errorf("%s served, limited by %s, %s, in %d trials; want %.0f to %.0f", row.TotalPerS, row.LimitedBy,
			row.Interval, row.Trials, low, high)
	}
	low, _ := row.TotalLowPerS.Value()
	high, _ := row.TotalHighPerS.Value()
	if low > got || got > high || high > 1.3*low {
		t.Errorf("%s, and the interval is %s to %s", row.TotalPerS, row.TotalLowPerS, row.TotalHighPerS)
	}
	s := ratesOf(t, 2)
	s.WaitBound = 25 * time.Millisecond
	waits := searchRates(t, s)
	if x, _ := waits.TotalPerS.Value(); x < 0.3*got || x > 0.9*got || waits.LimitedBy != LimitWait ||
		waits.Interval != IntervalOfAll {
		t.Errorf("with a bound of waits %s served, limited by %s, %s", waits.TotalPerS, waits.LimitedBy,
			waits.Interval)
	}
}

func TestASearchOfRatesGoesOnWhereItStopped(t *testing.T) {
	s := ratesOf(t, 2)
	_, most, err := s.Prepare()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.Progress = func(done, all int, r *Result) {
		if done == 3 {
			cancel()
		}
		if all != most {
			t.Errorf("%d of %d, and %d were said", done, all, most)
		}
	}
	if _, err := s.Make(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	s.Progress = nil
	if made, _, err := s.Prepare(); err != nil || made < 2 || made > 3 {
		t.Fatalf("%d probes were kept: %v", made, err)
	}
	resumed := searchRates(t, s)
	made, left, err := s.Prepare()
	if err != nil || left != 0 || made > most {
		t.Fatalf("%d made and %d left: %v", made, left, err)
	}
	if again, err := s.Make(t.Context()); err != nil || len(again) != 0 {
		t.Errorf("%d probes were made again: %v", len(again), err)
	}
	if whole := searchRates(t, ratesOf(t, 2)); !reflect.DeepEqual(whole, resumed) {
		t.Errorf("in one go %+v, and resumed %+v", whole, resumed)
	}
	if _, err := os.Stat(filepath.Join(s.Setup.Results, "rates", results.RatesFile)); err != nil {
		t.Error(err)
	}
}

func TestWhatAProbeSays(t *testing.T) {
	s := &RateSweep{WaitBound: 100 * time.Millisecond}
	at := func(verdict string, issued, served, waitUS, cpu figure.Figure) *results.Row {
		r := &results.Row{Verdict: verdict}
		r.IssuedShare, r.ServedShare, r.WaitUSP99, r.CPUBusy = issued, served, waitUS, cpu
		return r
	}
	one, few, none := figure.Number(1), figure.Number(0.94), figure.Figure{}
	short, long := figure.Number(1e5), figure.Number(1.1e5)
	for name, c := range map[string]struct {
		row    *results.Row
		answer answer
		limit  string
	}{
		"all is well":                {at("valid", one, one, short, none), passes, ""},
		"too few issued":             {at("overloaded", few, one, short, none), fails, LimitShare},
		"too few served":             {at("valid", one, few, short, none), fails, LimitShare},
		"long waits":                 {at("valid", one, one, long, none), fails, LimitWait},
		"waits of at least that":     {at("valid", one, one, figure.AtLeast(1.1e5), none), fails, LimitWait},
		"waits of at least less":     {at("valid", one, one, figure.AtLeast(5e4), none), passes, ""},
		"waits not known":            {at("valid", one, one, none, none), unsure, LimitUnknown},
		"share not known":            {at("valid", none, none, short, none), unsure, LimitUnknown},
		"inconclusive":               {at("inconclusive", one, one, short, none), unsure, LimitUnknown},
		"no verdict":                 {at("", one, one, short, none), unsure, LimitUnknown},
		"processes were late":        {at("under-loaded", few, one, short, none), unsure, LimitUnknown},
		"processes late for the CPU": {at("under-loaded", few, one, short, figure.Number(0.95)), fails, LimitCPU},
		"bound by the CPU":           {at("valid", one, one, short, figure.Number(0.95)), passes, ""},
		"violated":                   {at("violated", one, one, short, none), violates, LimitViolation},
	} {
		if p := s.judgeProbe(c.row); p.answer != c.answer || p.limit != c.limit {
			t.Errorf("%s: %d, %q", name, p.answer, p.limit)
		}
	}
}

func TestRowsOfRates(t *testing.T) {
	s := &RateSweep{WaitBound: time.Second}
	// over returns a finished search, with its probes at the found power and at the next.
	over := func(at int, here, next *rateProbe) *rateSearch {
		r := &rateSearch{over: true, probes: map[int]*rateProbe{}}
		if r.at = at; here != nil {
			r.probes[at] = here
		}
		if r.next = passes; next != nil {
			r.probes[at+1], r.next = next, next.answer
		}
		return r
	}
	pass := &rateProbe{answer: passes}
	share := &rateProbe{answer: fails, limit: LimitShare}
	busy := &rateProbe{answer: fails, limit: LimitShare, cpu: true}
	unknown := &rateProbe{answer: unsure, limit: LimitUnknown, reason: "a process died"}
	bad := over(50, &rateProbe{answer: violates, limit: LimitViolation, reason: "two inside"}, nil)
	bad.stopped, bad.next = true, violates
	for name, c := range map[string]struct {
		searches              []*rateSearch
		rate, low, high, says string
	}{
		"one":              {[]*rateSearch{over(0, pass, share)}, "1", "1", "1", LimitShare},
		"CPU":              {[]*rateSearch{over(0, pass, share), over(0, pass, busy)}, "1", "1", "1", LimitCPU},
		"none serves":      {[]*rateSearch{over(-9, nil, share)}, "", "0", "0", LimitShare},
		"no end":           {[]*rateSearch{over(0, pass, nil)}, ">1", "1", ">1", LimitCap},
		"unknown":          {[]*rateSearch{over(0, pass, unknown)}, ">1", "1", ">1", LimitUnknown},
		"unknown at once":  {[]*rateSearch{over(-9, nil, unknown)}, "", "0", ">0", LimitUnknown},
		"a broken promise": {[]*rateSearch{over(0, pass, share), bad}, "", "", "", LimitViolation},
		"one is missing":   {[]*rateSearch{over(0, pass, share), nil}, "1", "1", "1", LimitShare},
		"three": {[]*rateSearch{over(0, pass, share), over(1, pass, share), over(2, pass, unknown)}, "1.05", "1",
			">1.103", LimitShare},
	} {
		row := s.rateRow(c.searches)
		got := [4]string{row.Number(option.RateColumn).String(), row.LowPerS.String(), row.HighPerS.String(),
			row.LimitedBy}
		if got != [4]string{c.rate, c.low, c.high, c.says} {
			t.Errorf("%s: %q", name, got)
		}
	}
	if row := s.rateRow([]*rateSearch{nil}); row != nil {
		t.Errorf("of no search: %+v", row)
	}
}

// A summary of several trials also names the trials that serve the next rate.
func TestTrialsThatServeTheNextRateAreNamed(t *testing.T) {
	found := func(power int) *rateSearch {
		r := &rateSearch{over: true, probes: map[int]*rateProbe{power: {answer: passes},
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

// searched runs a search from 0 to 99 over answers, and returns the result and the number of probes.
func searched(t *testing.T, start, stride int, answers func(at int) answer) (found, int) {
	t.Helper()
	asked := map[int]bool{}
	s := &search{least: 0, most: 99, start: start, stride: stride, widest: 32}
	s.probe = func(at int) answer {
		if at < 0 || at > 99 || asked[at] {
			t.Errorf("from %d by %d: %d is asked for, after %v", start, stride, at, asked)
		}
		asked[at] = true
		return answers(at)
	}
	got := s.run()
	if len(asked) > s.mostProbes() {
		t.Errorf("from %d by %d: %d probes, and at most %d were said", start, stride, len(asked), s.mostProbes())
	}
	return got, len(asked)
}

func TestASearchFindsTheStep(t *testing.T) {
	for _, start := range []int{-5, 0, 1, 40, 98, 99, 200} {
		for _, stride := range []int{1, 4, 32} {
			for step := -1; step <= 99; step++ {
				got, _ := searched(t, start, stride, func(at int) answer {
					if at <= step {
						return passes
					}
					return fails
				})
				next := fails
				if step == 99 {
					next = passes
				}
				if want := (found{step, next, false}); got != want {
					t.Errorf("a step at %d, from %d by %d: %+v", step, start, stride, got)
				}
			}
		}
	}
}

func TestASearchNearTheStepTakesFewProbes(t *testing.T) {
	step := func(at int) answer {
		if at <= 50 {
			return passes
		}
		return fails
	}
	if _, probes := searched(t, 51, 4, step); probes > 4 {
		t.Errorf("%d probes from beside the step", probes)
	}
	if _, probes := searched(t, 0, 32, step); probes > 8 {
		t.Errorf("%d probes from the least", probes)
	}
}

func TestASearchOfOtherAnswers(t *testing.T) {
	all := func(a answer) func(int) answer { return func(int) answer { return a } }
	for name, c := range map[string]struct {
		answers func(at int) answer
		want    found
	}{
		"never passes":  {all(fails), found{-1, fails, false}},
		"never says":    {all(unsure), found{-1, unsure, false}},
		"always passes": {all(passes), found{99, passes, false}},
		"violates":      {all(violates), found{20, violates, true}},
		"cannot be":     {all(unanswered), found{20, unanswered, true}},
		"an unknown is no pass": {func(at int) answer {
			if at < 30 {
				return passes
			}
			return unsure
		}, found{29, unsure, false}},
		"violates above": {func(at int) answer {
			if at < 30 {
				return passes
			}
			return violates
		}, found{52, violates, true}},
	} {
		if got, _ := searched(t, 20, 32, c.answers); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// If answers go up and down, the search still ends, at a number that passes before one that does not.
func TestASearchOfNoisyAnswersEnds(t *testing.T) {
	for seed := range 500 {
		noisy := func(at int) answer {
			switch x := (at*at*31 + at*17 + seed*7919) % 101; {
			case at < 30 || at < 70 && x < 50:
				return passes
			case x%3 == 0:
				return unsure
			}
			return fails
		}
		got, _ := searched(t, seed%100, 1+seed%32, noisy)
		if got.stopped || got.at < 0 || got.at > 69 || noisy(got.at) != passes || noisy(got.at+1) != got.next {
			t.Errorf("seed %d: %+v", seed, got)
		}
	}
}
