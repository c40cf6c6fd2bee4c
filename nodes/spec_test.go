package nodes

import "testing"

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

func TestTimersHaveNames(t *testing.T) {
	spec := Spec{Timers: []TimerName{{Kind: 0, Name: "expiry", Server: true}, {Kind: 0, Name: "step"},
		{Kind: 1, Name: "silence", PerPeer: true}}}
	for _, test := range []struct {
		id    ID
		timer Timer
		want  string
	}{{0, Timer{}, "step"}, {3, Timer{}, "expiry"}, {0, Timer{1, 2}, "silence for 2"},
		{3, Timer{1, 2}, "silence for 2"}, {0, Timer{2, 1}, "2 for 1"}} {
		if got := spec.SayTimer(Config{N: 3}, test.id, test.timer); got != test.want {
			t.Errorf("%v of node %d is %q, not %q", test.timer, test.id, got, test.want)
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

func TestBrokenAssumptionsInWords(t *testing.T) {
	if len(brokenWords) != len(assumptionNames) {
		t.Fatalf("%d assumptions have words for their breach, and there are %d", len(brokenWords),
			len(assumptionNames))
	}
	for _, test := range []struct {
		broken Assumption
		known  bool
		want   string
	}{
		{NoLoss, true, "the algorithm assumes that no message is lost, and one was"},
		{NoLoss, false, "the algorithm assumes that no message is lost, and one may have been"},
		{NoCrash, false, "the algorithm assumes that no node crashes, and one did"},
		{NoLoss | FIFO | Timing, true, "the algorithm assumes that no message is lost, that messages of a link " +
			"arrive in order and that messages and handlers take bounded time, and that did not hold"},
	} {
		if got := test.broken.Broken(test.known); got != test.want {
			t.Errorf("%d is %q, want %q", test.broken, got, test.want)
		}
	}
}
