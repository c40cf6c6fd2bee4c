package workload

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"turnstile/internal/chance"
	"turnstile/nodes"
)

// A Take is written in the form in which it is read, in flags, in run.yaml and for node programs.
func TestTakeIsWrittenAsItIsRead(t *testing.T) {
	for text, want := range map[string]struct {
		Take
		sizes []int // of three units
		whole float64
	}{
		"1":           {Take{}, []int{1}, 0},
		"1..1":        {Take{}, []int{1}, 0},
		"2":           {Take{Least: 2, Most: 2}, []int{2}, 0},
		"1..3":        {Take{Least: 1, Most: 3}, []int{1, 2, 3}, 1.0 / 3},
		"all":         {Take{Whole: 1}, []int{3}, 1},
		"writers:0.2": {Take{Whole: 0.2}, []int{1, 3}, 0.2},
		"writers:0":   {Take{}, []int{1}, 0},
		"writers:1":   {Take{Whole: 1}, []int{3}, 1},
	} {
		got, err := ParseTake(text)
		if err != nil || got != want.Take || !slices.Equal(got.Sizes(3), want.sizes) ||
			got.WholeShare(3) != want.whole {
			t.Errorf("%s: %+v, %v of 3, %v whole, %v", text, got, got.Sizes(3), got.WholeShare(3), err)
		}
		if again, err := ParseTake(got.String()); err != nil || again != got {
			t.Errorf("%s: %q is read as %+v, %v", text, got, again, err)
		}
		w := Workload{Load: Saturated, Take: got}
		var fromJSON, fromYAML Workload
		inJSON, err1 := json.Marshal(w)
		inYAML, err2 := yaml.Marshal(w)
		if err1 != nil || err2 != nil || json.Unmarshal(inJSON, &fromJSON) != nil ||
			yaml.Unmarshal(inYAML, &fromYAML) != nil || fromJSON != w || fromYAML != w {
			t.Errorf("%s: %s\n%s", text, inJSON, inYAML)
		}
		if strings.Contains(string(inJSON)+string(inYAML), "take") == got.IsZero() {
			t.Errorf("%s: %s\n%s", text, inJSON, inYAML)
		}
	}
}

func TestTakesThatAreRefused(t *testing.T) {
	for text, says := range map[string]string{
		"0":           "at least one unit",
		"-1..2":       "at least one unit",
		"3..1":        "goes backwards: write 1..3",
		"":            "write 2 (units of each request), 1..3",
		"1..":         "does not say how many",
		"some":        "does not say how many",
		"writers:2":   "no share of requests: write one from 0 to 1",
		"writers:NaN": "no share of requests",
	} {
		if _, err := ParseTake(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// All numbers of a range are drawn equally often, and writers as often as their share says.
func TestUnitsAreDrawn(t *testing.T) {
	const draws = 30_000
	for text, want := range map[string][4]float64{"1..3": {0, 1. / 3, 1. / 3, 1. / 3}, "2": {0, 0, 1, 0},
		"writers:0.2": {0, 0.8, 0, 0.2}, "all": {0, 0, 0, 1}} {
		w := Workload{Load: Saturated}
		if err := w.Take.Set(text); err != nil {
			t.Fatal(err)
		}
		var counts [4]float64
		for i := range uint64(draws) {
			counts[w.Units(7, nodes.ID(i%5), i/5+1, 3)]++
		}
		for units, share := range want {
			if got := counts[units] / draws; got < share-0.01 || got > share+0.01 {
				t.Errorf("%s: %v of requests take %d, want %v", text, got, units, share)
			}
		}
		if got := w.Units(chance.Dice(7), 0, 1, 1); got != 1 {
			t.Errorf("%s: a request takes %d of one unit", text, got)
		}
	}
}

// A request has to be one that the algorithm serves, and the clients together have to be able to take all
// units.
func TestTakesAreChecked(t *testing.T) {
	single := &nodes.Spec{Name: "single"}
	one := &nodes.Spec{Name: "one", Units: nodes.Units{Most: nodes.AnyUnits}}
	several := &nodes.Spec{Name: "several", Units: nodes.Units{Most: nodes.AnyUnits, Take: nodes.AnyUnits}}
	for _, test := range []struct {
		spec  *nodes.Spec
		n     int
		units int
		take  string
		says  string // empty: it is accepted
	}{
		{single, 1, 0, "1", ""},
		{single, 3, 0, "2", "take 2: single gives each request one unit: leave it out"},
		{single, 3, 0, "all", "take all: the resource has one unit"},
		{one, 3, 3, "1", ""},
		{one, 3, 3, "1..2", "take 2: one gives each request one unit"},
		{one, 3, 4, "1", "4 units: 3 clients at 1 unit each never take more than 3: make it 2"},
		{several, 3, 3, "1..3", ""},
		{several, 3, 3, "writers:0.5", ""},
		{several, 3, 3, "4", "take 4: the resource has 3 units: take fewer, or give it 4"},
		{several, 2, 9, "4", "never take more than 8"},
		{several, 1, 9, "all", ""},
	} {
		var take Take
		if err := take.Set(test.take); err != nil {
			t.Fatal(err)
		}
		err := take.Check(test.spec, nodes.Config{N: test.n, Units: test.units})
		if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s, %d nodes, %d units, take %s: %v", test.spec.Name, test.n, test.units, test.take, err)
		}
	}
}
