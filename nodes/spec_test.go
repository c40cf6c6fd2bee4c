package nodes

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestNeedInWords(t *testing.T) {
	for need, want := range map[Assumption]string{
		0: "nothing", NoLoss: "no loss", FIFO | NoLoss: "no loss, FIFO links",
		NoDuplication | Timing: "no duplication, bounded delays",
	} {
		if need.String() != want {
			t.Errorf("%d is %q, want %q", need, need, want)
		}
	}
}

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

func TestSpecMachines(t *testing.T) {
	served := Spec{
		New:       func(Config) Machine { return &diarist{} },
		Servers:   func(Config) int { return 2 },
		NewServer: func(_ Config, id ID) Machine { return &gossip{} },
	}
	c := Config{N: 3}
	if served.ServerCount(c) != 2 || (&Spec{}).ServerCount(c) != 0 {
		t.Error("the servers are miscounted")
	}
	if _, ok := served.Machine(c, 2).(*diarist); !ok {
		t.Error("node 2 of 3 is no client")
	}
	if _, ok := served.Machine(c, 3).(*gossip); !ok {
		t.Error("node 3 of 3 is no server")
	}
}

// What a row lacks is said by the name of the field, before anything is made of it.
func TestRowsLackNothing(t *testing.T) {
	whole := Spec{Info: Info{"toy", []string{"t"}, "token", "a test", "It works."},
		New: func(Config) Machine { return &diarist{} }, Live: NoLoss, Cost: func(Config) Cost { return Cost{} },
		Timers: []TimerName{{Name: "retry"}},
		Faults: []FaultCell{{"dead-holder", Blocks, "nobody acts on silence"}}}
	if err := whole.Check(); err != nil {
		t.Error(err)
	}
	for field, spoil := range map[string]func(s *Spec){
		"New":              func(s *Spec) { s.New = nil },
		"NewServer":        func(s *Spec) { s.Servers = func(Config) int { return 1 } },
		"Messages[1].Zero": func(s *Spec) { s.Messages = []Kind{{Zero: Timer{}}, {}} },
		"Source":           func(s *Spec) { s.Source = "" },
		"Live, Cost":       func(s *Spec) { s.Live, s.Cost = 0, nil },
		"Faults":           func(s *Spec) { s.Faults = nil },
		"Timers":           func(s *Spec) { s.Timers = nil },
		"BrokenAt":         func(s *Spec) { s.Broken = "progress" },
	} {
		s := whole
		spoil(&s)
		says := `the row "toy" lacks ` + field + ": "
		if err := s.Check(); err == nil || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("without %s: %v", field, err)
		}
		needed := field == "New" || field == "NewServer" || strings.HasPrefix(field, "Messages")
		if err := s.Validate(Config{N: 1}); (err != nil) != needed {
			t.Errorf("without %s, a run: %v", field, err)
		}
	}
}

func TestTimersHaveNames(t *testing.T) {
	row := Spec{Timers: []TimerName{{Kind: 0, Name: "expiry", Server: true}, {Kind: 0, Name: "step"},
		{Kind: 1, Name: "silence", PerPeer: true}}}
	for _, test := range []struct {
		id    ID
		timer Timer
		want  string
	}{{0, Timer{}, "step"}, {3, Timer{}, "expiry"}, {0, Timer{1, 2}, "silence for 2"},
		{3, Timer{1, 2}, "silence for 2"}, {0, Timer{2, 1}, "2 for 1"}} {
		if got := row.SayTimer(Config{N: 3}, test.id, test.timer); got != test.want {
			t.Errorf("%v of node %d is %q, not %q", test.timer, test.id, got, test.want)
		}
	}
}

func TestFind(t *testing.T) {
	table := []*Spec{
		{Info: Info{Name: "bakery", Aliases: []string{"tickets"}}},
		{Info: Info{Name: "ring", Aliases: []string{"r"}}},
	}
	for name, want := range map[string]string{"bakery": "bakery", "Tickets": "bakery", "R": "ring"} {
		if row, err := Find("algorithm", table, name); err != nil || row.Name != want {
			t.Errorf("Find(%q) = %v, %v", name, row, err)
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
	even := func(c Config, value string) error {
		if value == "pairs" && c.N%2 == 1 {
			return errors.New("it takes an even number")
		}
		return nil
	}
	dance := &Spec{Info: Info{Name: "dance"}, New: func(Config) Machine { return &diarist{} }, Options: []Option{
		{Name: "order", Values: []string{"circle", "pairs"}, Default: "circle", Check: even},
		{Name: "tune"},
	}}
	for _, test := range []struct {
		row  *Spec
		c    Config
		want string
	}{
		{dance, Config{N: 1}, ""},
		{dance, Config{N: 2}.With("order", "pairs").With("tune", "reel"), ""},
		{dance, Config{N: 3}.With("order", "pairs"), "order: it takes an even number"},
		{dance, Config{N: 3}.With("order", "circel"),
			`order: "circel" is none of circle, pairs: did you mean circle?`},
		{dance, Config{N: 3}.With("order", "x"), `order: "x" is none of circle, pairs`},
		{dance, Config{N: 3}.With("tun", "x"), "dance has no option tun: did you mean tune? " +
			"It has order (circle, pairs), tune"},
		{dance, Config{N: 3}.With("x", "x"), "dance has no option x: it has order (circle, pairs), tune"},
		{&Spec{Info: Info{Name: "nap"}}, Config{N: 3}.With("x", "x"), "nap has no option x: it has none"},
		{dance, Config{}, "0 nodes: it takes at least one"},
		{dance, Config{N: 1, Units: -1}, "-1 units: the resource has at least one"},
	} {
		err := test.row.Validate(test.c)
		if got := fmt.Sprint(err); got != test.want && (err != nil || test.want != "") {
			t.Errorf("%+v: %v, want %q", test.c, err, test.want)
		}
	}
}

func TestConfigsShareNoOptions(t *testing.T) {
	a := Config{N: 1}.With("tune", "reel")
	b := a.With("tune", "jig")
	if o := (Option{Name: "tune", Default: "air"}); a.Value(o) != "reel" || b.Value(o) != "jig" ||
		(Config{}).Value(o) != "air" {
		t.Errorf("%v and %v", a, b)
	}
}

func TestOptionsOfATable(t *testing.T) {
	table := []*Spec{
		{Options: []Option{{Name: "order", Values: []string{"circle", "pairs"}}}},
		{Options: []Option{{Name: "tune"}, {Name: "order", Values: []string{"line", "pairs"}}}},
	}
	var all []string
	for _, o := range Options(table) {
		all = append(all, o.form())
	}
	if got := strings.Join(all, "; "); got != "order (circle, pairs, line); tune" {
		t.Errorf("the options are %s", got)
	}
	if got := table[0].Options[0].form(); got != "order (circle, pairs)" {
		t.Errorf("those of the first row have become %s", got)
	}
}
