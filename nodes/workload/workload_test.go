package workload

import (
	"math"
	"strings"
	"testing"
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
)

func TestNextByLoad(t *testing.T) {
	think := chance.Constant(5)
	for _, test := range []struct {
		name string
		w    Workload
		id   nodes.ID
		want int64 // of Next after a request due at 100 that was over at 200
	}{
		{"saturated", Workload{Load: Saturated}, 3, 200},
		{"one, the one", Workload{Load: One}, 0, 200},
		{"one, another", Workload{Load: One}, 3, Never},
		{"sequential", Workload{Load: Sequential}, 0, Never},
		{"closed", Workload{Load: Closed, Think: think}, 3, 205},
		{"open, evenly", Workload{Load: Open, Rate: 1e9 / 7, Evenly: true}, 3, 107},
		{"open, beyond all time", Workload{Load: Open, Rate: 1e-12, Evenly: true}, 3, Never},
	} {
		if got := test.w.Next(1, test.id, 2, 100, 200); got != test.want {
			t.Errorf("%s: %d, not %d", test.name, got, test.want)
		}
	}
}

func TestOpenScheduleDoesNotDependOnTheSystem(t *testing.T) {
	w := Workload{Load: Open, Rate: 1000}
	for count := uint64(1); count < 100; count++ {
		if w.Next(1, 0, count, 500, 500) != w.Next(1, 0, count, 500, 1<<40) {
			t.Fatalf("arrival %d moves when the one before takes longer", count)
		}
	}
}

func TestOpenArrivalsComeAtTheirRate(t *testing.T) {
	const arrivals = 100_000
	for _, evenly := range []bool{false, true} {
		w := Workload{Load: Open, Rate: 1000, Evenly: evenly}
		due, squares := int64(0), 0.0
		for count := uint64(1); count <= arrivals; count++ {
			next := w.Next(7, 2, count, due, 0)
			gap := float64(next-due) / float64(time.Millisecond)
			squares, due = squares+gap*gap, next
		}
		mean := float64(due) / arrivals / float64(time.Millisecond)
		if math.Abs(mean-1) > 5/math.Sqrt(arrivals) {
			t.Errorf("evenly %v: the mean gap is %v ms, not 1", evenly, mean)
		}
		// Gaps of a Poisson process have a variance of the mean squared; even gaps have none.
		want := map[bool]float64{false: 2, true: 1}[evenly]
		if got := squares / arrivals; math.Abs(got-want) > 0.05 {
			t.Errorf("evenly %v: the mean squared gap is %v, not %v", evenly, got, want)
		}
	}
}

func TestParseLoad(t *testing.T) {
	for _, l := range loads {
		if got, err := ParseLoad(string(l)); err != nil || got != l {
			t.Errorf("%q is read as %q (%v)", l, got, err)
		}
	}
	if _, err := ParseLoad("heavy"); err == nil || !strings.Contains(err.Error(), "saturated, one, sequential") {
		t.Errorf("an unknown load gives %v", err)
	}
}

// Initiators campaign just after the run has begun and, if CampaignEvery is set, then periodically, Campaigns
// times in all.
func TestNextCampaign(t *testing.T) {
	const first, every = int64(CampaignAfter), int64(100 * time.Millisecond)
	again := Workload{Load: Campaign, CampaignEvery: 100 * time.Millisecond, Campaigns: 3}
	for _, test := range []struct {
		w           Workload
		after, want int64
	}{
		{Workload{Load: Campaign}, -1, first}, {Workload{Load: Campaign}, first, Never},
		{again, -1, first}, {again, first - 1, first}, {again, first, first + every},
		{again, first + every - 1, first + every}, {again, first + every, first + 2*every},
		{again, first + 2*every, Never}, {again, first + 50*every, Never},
	} {
		if got := test.w.NextCampaign(test.after); got != test.want {
			t.Errorf("every %v, after %v: %v, want %v", test.w.CampaignEvery, test.after, got, test.want)
		}
	}
}

// Each node requests the resources in an order of its own, each as often as its share says.
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

// Under an open load the resources share the rate of a node; under other loads its clients take turns.
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
