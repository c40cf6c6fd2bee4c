package experiment

import (
	"slices"
	"strings"
	"testing"

	"turnstile/nodes/catalog"
)

// In as many plans as a campaign has of each row, each value of each enumerated option comes, and each
// detector, inside the model and outside it.
func TestEachOptionAndDetectorIsDrawn(t *testing.T) {
	for _, spec := range catalog.All() {
		if spec.Flaw != nil {
			continue
		}
		e := Experiment{Seed: 1}
		e.Rows = append(e.Rows, spec)
		for kind := range 2 { // of plans
			drawn := map[string]bool{}
			for number := kind; number < rarely; number += 2 {
				j, err := e.draw(number, false)
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

// matches reports whether the detector of a run has the name and the option that a text has.
func matches(runs, text string) bool {
	name, option, _ := strings.Cut(text, ":")
	is, options, _ := strings.Cut(runs, ":")
	return name == is && (option == "" || slices.Contains(strings.Split(options, ","), option))
}
