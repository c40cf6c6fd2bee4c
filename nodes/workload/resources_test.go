package workload

import (
	"math"
	"strings"
	"testing"

	"turnstile/internal/chance"
)

// Each node names the resources in an order of its own, as often as their shares say.
func TestRequestsNameResources(t *testing.T) {
	const requests, resources = 20_000, 4
	for _, zipf := range []float64{0, 1.1} {
		w := Workload{Load: Saturated, Zipf: zipf}
		var named [resources]float64
		alike := 0
		for count := uint64(1); count <= requests; count++ {
			r := w.Names(3, 1, count, resources)
			named[r]++
			if r == w.Names(3, 2, count, resources) {
				alike++
			}
		}
		for r, times := range named {
			if want := requests * w.Share(r, resources); math.Abs(times-want) > 5*math.Sqrt(want) {
				t.Errorf("zipf %v: resource %d is named %v times, want about %.0f", zipf, r, times, want)
			}
		}
		if alike > requests/2 {
			t.Errorf("zipf %v: two nodes name the same resource %d times of %d", zipf, alike, requests)
		}
	}
	if w := (Workload{}); w.Names(3, 1, 5, 1) != 0 || w.TakesTurns(1) {
		t.Error("a run of one resource draws which")
	}
}

// Under an open load the resources share the rate of a node; under others its clients ask one at a time.
func TestResourcesShareTheRate(t *testing.T) {
	w := Workload{Load: Open, Rate: 100, Zipf: 1}
	sum := 0.0
	for r := range 3 {
		sum += w.Of(r, 3).Rate
	}
	if first := w.Of(0, 3).Rate; math.Abs(sum-100) > 1e-9 || first < w.Of(2, 3).Rate || w.TakesTurns(3) {
		t.Errorf("rates of %v in all, %v of the first", sum, first)
	}
	if w.Load = Closed; w.Of(1, 3) != &w || !w.TakesTurns(3) {
		t.Error("clients of a closed load do not take turns")
	}
	if w.Of(0, 1) != &w {
		t.Error("one resource has another load than the run")
	}
}

func TestCheckZipf(t *testing.T) {
	for _, x := range []struct {
		zipf      float64
		resources int
		says      string
	}{{0, 1, ""}, {1.1, 4, ""}, {-1, 4, "from 0"}, {11, 4, "to 10"}, {math.NaN(), 4, "from 0"},
		{1.1, 1, "--resources 4"}} {
		err := (&Workload{Zipf: x.zipf}).CheckZipf(x.resources)
		if (err == nil) != (x.says == "") || err != nil && !strings.Contains(err.Error(), x.says) {
			t.Errorf("%v of %d: %v", x.zipf, x.resources, err)
		}
	}
	if (&Workload{}).Names(chance.Dice(1), 0, 1, 1) != 0 {
		t.Error("the only resource is not the first")
	}
}
