package plans

import (
	"slices"
	"strings"
	"testing"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/election"
	"turnstile/algorithms/mutex"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/workload"
)

// The plans of every second round stay inside the model of the algorithm or, for an elector, break none of
// its assumptions for good. Equal seeds draw equal cases, and all kinds of work and initiators occur.
func TestDraw(t *testing.T) {
	works, initiators := map[workload.Work]bool{}, map[string]bool{}
	for _, table := range [][]*algorithm.Algorithm{mutex.Table, election.Table} {
		for number := range 20 * len(table) {
			c, err := (&Source{Algorithms: table, Seed: 7}).Job(number, false)
			if err != nil {
				t.Fatal(err)
			}
			needs := c.Spec.SafeIn(c.Options.Config) | c.Spec.Live
			if c.Spec.Elector != nil {
				needs &^= nodes.Transient
			}
			inside := number/len(table)%2 == 0
			for i := range c.Options.Faults {
				f := &c.Options.Faults[i]
				if broken := f.Breaks() & needs; inside && broken != 0 {
					t.Errorf("%s: %v breaks %v", c.Spec.Name, f, broken)
				}
			}
			again, err := (&Source{Algorithms: table, Seed: 7}).Job(number, false)
			if err != nil || again.Options.Seed != c.Options.Seed || again.Options.Plan != c.Options.Plan {
				t.Errorf("%+v, and then %+v, %v", c, again, err)
			}
			works[c.Workload.Work], initiators[string(c.Workload.Initiators)] = true, true
		}
	}
	for _, which := range []string{"all", "lowest", "random:1", "random:3"} {
		if !initiators[which] {
			t.Errorf("nowhere %s campaign: %v", which, initiators)
		}
	}
	if len(works) != 4 {
		t.Errorf("the works are %v", works)
	}
}

// The plans of one algorithm in a campaign use each value of each enumerated option, and each detector,
// inside the model and outside it.
func TestEachOptionAndDetectorIsDrawn(t *testing.T) {
	for _, spec := range (catalog.Table{}).Algorithms() {
		if spec.Flaw != nil {
			continue
		}
		s := Source{Algorithms: []*algorithm.Algorithm{spec}, Seed: 1}
		for kind := range 2 { // 0: plans inside the model; 1: any plans
			drawn := map[string]bool{}
			for number := kind; number < 60; number += 2 {
				j, err := s.Job(number, false)
				if err != nil {
					t.Fatalf("%s: %v", spec.Name, err)
				}
				for i := range spec.Options {
					o := &spec.Options[i]
					drawn[o.Name+"="+j.Config.Value(*o)] = true
				}
				for _, d := range detectors() {
					drawn[d] = drawn[d] || matches(j.Detector, d)
				}
			}
			for i := range spec.Options {
				o := &spec.Options[i]
				for _, value := range o.Values {
					if !drawn[o.Name+"="+value] {
						t.Errorf("%s: no plan of kind %d has --%s %s", spec.Name, kind, o.Name, value)
					}
				}
			}
			for _, d := range detectors() {
				if spec.Detects != "" && !drawn[d] {
					t.Errorf("%s: no plan of kind %d has the detector %s", spec.Name, kind, d)
				}
			}
		}
	}
}

// matches reports whether the detector of a run has a given name and option.
func matches(runs, text string) bool {
	name, option, _ := strings.Cut(text, ":")
	is, options, _ := strings.Cut(runs, ":")
	return name == is && (option == "" || slices.Contains(strings.Split(options, ","), option))
}
