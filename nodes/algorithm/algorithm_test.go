package algorithm

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"turnstile/nodes"
)

// A sleeper sets timers.
type sleeper struct{}

func (*sleeper) Receive(*nodes.Env, nodes.ID, nodes.Message) {}
func (*sleeper) Timeout(*nodes.Env, nodes.Timer)             {}

func TestRange(t *testing.T) {
	for _, test := range []struct {
		r       Range
		prints  string
		in, out float64
	}{
		{Exactly(62), "62", 62, 62.001},
		{Between(6, 12), "6-12", 12, 12.5},
		{Between(1.0/3, 2), "0.33-2", 1, .2},
		{Unbounded(1), ">=1", 1e9, .5},
	} {
		if test.r.String() != test.prints || !test.r.Has(test.in) || test.r.Has(test.out) {
			t.Errorf("%v: want %s with %v and without %v", test.r, test.prints, test.in, test.out)
		}
	}
	if !Exactly(2.0 / 3 * 3).Has(2) {
		t.Error("rounding counts")
	}
}

// Check names the fields that an algorithm lacks. A run is refused only if machines or messages are missing.
func TestAlgorithmsLackNothing(t *testing.T) {
	whole := Algorithm{Spec: nodes.Spec{Name: "toy", New: func(nodes.Config) nodes.Machine { return &sleeper{} },
		Live: nodes.NoLoss, Timers: []nodes.TimerName{{Name: "retry"}}},
		Aliases: []string{"t"}, Family: "token", Source: "a test", Summary: "It works.",
		Mutex:  &Exclusion{Cost: func(nodes.Config) Cost { return Cost{} }},
		Faults: []FaultCell{{"dead-holder", Blocks, "nobody acts on silence"}}}
	if err := whole.Check(); err != nil {
		t.Error(err)
	}
	for field, spoil := range map[string]func(a *Algorithm){
		"New":              func(a *Algorithm) { a.New = nil },
		"NewServer":        func(a *Algorithm) { a.Servers = func(nodes.Config) int { return 1 } },
		"Messages[1].Zero": func(a *Algorithm) { a.Messages = []nodes.MessageKind{{Zero: nodes.Timer{}}, {}} },
		"Source":           func(a *Algorithm) { a.Source = "" },
		"Live, Cost":       func(a *Algorithm) { a.Live, a.Mutex = 0, &Exclusion{} },
		"Faults":           func(a *Algorithm) { a.Faults = nil },
		"Timers":           func(a *Algorithm) { a.Timers = nil },
		"Flaw.At":          func(a *Algorithm) { a.Flaw = &Flaw{Check: "progress"} },
		"Elector, Kind":    func(a *Algorithm) { a.Kind = nodes.Election },
	} {
		algo := whole
		spoil(&algo)
		says := `the algorithm "toy" lacks ` + field + ": "
		if err := algo.Check(); err == nil || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("without %s: %v", field, err)
		}
		needed := field == "New" || field == "NewServer" || strings.HasPrefix(field, "Messages")
		if err := algo.Validate(nodes.Config{N: 1}); (err != nil) != needed {
			t.Errorf("without %s, a run: %v", field, err)
		}
	}
}

func TestFind(t *testing.T) {
	table := []*Algorithm{
		{Spec: nodes.Spec{Name: "bakery"}, Aliases: []string{"tickets"}},
		{Spec: nodes.Spec{Name: "ring"}, Aliases: []string{"r"}},
	}
	for name, want := range map[string]string{"bakery": "bakery", "Tickets": "bakery", "R": "ring"} {
		if algo, err := Find("algorithm", table, name); err != nil || algo.Name != want {
			t.Errorf("Find(%q) = %v, %v", name, algo, err)
		}
	}
	for name, want := range map[string]string{
		"bakrey": `did you mean bakery? There are: bakery, ring`,
		"ticket": `did you mean bakery?`,
		"rign":   `did you mean ring?`,
		"x":      `unknown algorithm "x"; there are: bakery, ring`,
	} {
		if _, err := Find("algorithm", table, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Find(%q): %v, want %s", name, err, want)
		}
	}
}

func TestValidate(t *testing.T) {
	even := func(c nodes.Config, value string) error {
		if value == "pairs" && c.N%2 == 1 {
			return errors.New("it takes an even number")
		}
		return nil
	}
	dance := &Algorithm{Spec: nodes.Spec{Name: "dance",
		New: func(nodes.Config) nodes.Machine { return &sleeper{} }, Options: []nodes.Option{
			{Name: "order", Values: []string{"circle", "pairs"}, Default: "circle", Check: even},
			{Name: "tune"},
		}}}
	for _, test := range []struct {
		algorithm *Algorithm
		c         nodes.Config
		want      string
	}{
		{dance, nodes.Config{N: 1}, ""},
		{dance, nodes.Config{N: 2}.With("order", "pairs").With("tune", "reel"), ""},
		{dance, nodes.Config{N: 3}.With("order", "pairs"), "order: it takes an even number"},
		{dance, nodes.Config{N: 3}.With("order", "circel"),
			`order: "circel" is not one of circle, pairs: did you mean circle?`},
		{dance, nodes.Config{N: 3}.With("order", "x"), `order: "x" is not one of circle, pairs`},
		{dance, nodes.Config{N: 3}.With("tun", "x"), "dance has no option tun: did you mean tune? " +
			"It has order (circle, pairs), tune"},
		{dance, nodes.Config{N: 3}.With("x", "x"), "dance has no option x: it has order (circle, pairs), tune"},
		{&Algorithm{Spec: nodes.Spec{Name: "nap"}}, nodes.Config{N: 3}.With("x", "x"),
			"nap has no option x: it has none"},
		{dance, nodes.Config{}, "0 nodes: it takes at least one"},
		{dance, nodes.Config{N: 1, Units: -1}, "-1 units: the resource has at least one"},
	} {
		err := test.algorithm.Validate(test.c)
		if got := fmt.Sprint(err); got != test.want && (err != nil || test.want != "") {
			t.Errorf("%+v: %v, want %q", test.c, err, test.want)
		}
	}
}

func TestOptionsOfATable(t *testing.T) {
	table := []*Algorithm{
		{Spec: nodes.Spec{Options: []nodes.Option{{Name: "order", Values: []string{"circle", "pairs"}}}}},
		{Spec: nodes.Spec{Options: []nodes.Option{{Name: "tune"},
			{Name: "order", Values: []string{"line", "pairs"}}}}},
	}
	var all []string
	for _, o := range Options(table) {
		all = append(all, o.Form())
	}
	if got := strings.Join(all, "; "); got != "order (circle, pairs, line); tune" {
		t.Errorf("the options are %s", got)
	}
	if got := table[0].Options[0].Form(); got != "order (circle, pairs)" {
		t.Errorf("the values of the first algorithm have become %s", got)
	}
}
