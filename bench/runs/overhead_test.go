package runs

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
)

func TestOverheadConcludes(t *testing.T) {
	r := &OverheadResult{}
	for i := range 7 { // ratios 0.80, 0.81, ... 0.86
		r.Pairs = append(r.Pairs, Pair{Testbed: 80 + float64((i*3)%7), Bare: 100})
	}
	r.conclude()
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %v, not %v", what, got, want)
		}
	}
	near("the median ratio", r.Ratio, 0.83)
	near("the testbed's median", r.Testbed, 83)
	near("the bare loop's median", r.Bare, 100)
	// The true median lies between the extremes of seven pairs unless all pairs fall on one side of it: 2/128.
	near("the low end", r.Low, 0.80)
	near("the high end", r.High, 0.86)
	near("the coverage", r.Coverage, 1-2.0/128)
}

// A failed run costs only its pair.
func TestOverheadSurvivesAFailure(t *testing.T) {
	calls := 0
	fails := func(at ...int) [2]func() (float64, error) {
		calls = 0
		bare := func() (float64, error) {
			calls++
			for _, n := range at {
				if n == calls || n < 0 {
					return 0, errors.New("no luck")
				}
			}
			return 2, nil
		}
		return [2]func() (float64, error){func() (float64, error) { return 1, nil }, bare}
	}
	r, shown := &OverheadResult{}, 0
	err := r.measure(t.Context(), 7, fails(1, 4), func(int, Pair) { shown++ })
	if err != nil || len(r.Pairs) != 7 || shown != 7 || r.Unlucky != 2 || r.LastFailure != "no luck" {
		t.Errorf("%+v, %v", r, err)
	}
	r = &OverheadResult{Algorithm: "ring"}
	if err := r.measure(t.Context(), 7, fails(-1), nil); err == nil || calls != 7 ||
		!strings.HasPrefix(err.Error(), "given up, since 7 pairs of ring failed; the last: no luck") {
		t.Errorf("after %d calls: %v", calls, err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	err = r.measure(ctx, 7, fails(), func(i int, _ Pair) {
		if i == 3 {
			interrupt()
		}
	})
	if err == nil || err.Error() != "interrupted after 3 of 7 pairs of ring" {
		t.Errorf("%v", err)
	}
}
