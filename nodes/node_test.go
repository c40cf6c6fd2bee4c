package nodes

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

type (
	tySelf  struct{ Number int }
	tyOther struct{ List []int }
)

// A diarist notes all that it hears, and does what its tests tell it to.
type diarist struct {
	diary []string
	do    func(env *Env, event string)
}

func (d *diarist) note(env *Env, format string, args ...any) {
	event := fmt.Sprintf(format, args...)
	d.diary = append(d.diary, event)
	if d.do != nil {
		d.do(env, event)
	}
}

func (d *diarist) Receive(env *Env, from ID, m Message) { d.note(env, "receive %d %v", from, m) }
func (d *diarist) Request(env *Env)                     { d.note(env, "request") }
func (d *diarist) Release(env *Env)                     { d.note(env, "release") }
func (d *diarist) Start(env *Env)                       { d.note(env, "start") }
func (d *diarist) Timeout(env *Env, t Timer)            { d.note(env, "timeout %d %d", t.Kind, t.Peer) }

func (d *diarist) expect(t *testing.T, events ...string) {
	t.Helper()
	if !slices.Equal(d.diary, events) {
		t.Errorf("heard %q, want %q", d.diary, events)
	}
}

// A gossip hears of everything that a machine can hear of.
type gossip struct{ diarist }

func (g *gossip) Campaign(env *Env)                     { g.note(env, "campaign") }
func (g *gossip) Suspect(env *Env, peer ID)             { g.note(env, "suspect %d", peer) }
func (g *gossip) Trust(env *Env, peer ID)               { g.note(env, "trust %d", peer) }
func (g *gossip) Recover(env *Env, saved Message)       { g.note(env, "recover %v", saved) }
func (g *gossip) Lead(env *Env, leader ID, term uint64) { g.note(env, "lead %d %d", leader, term) }

// toys returns the stack of n nodes that each hold these machines.
func toys(n int, machines ...Machine) *Stack {
	var instances []Instance
	for _, m := range machines {
		spec := &Spec{Messages: []MessageKind{{Zero: tySelf{}}, {Zero: tyOther{}}},
			New:     func(Config) Machine { return m },
			Servers: func(Config) int { return 1 }, NewServer: func(Config, ID) Machine { return m }}
		instances = append(instances, Instance{spec, Config{N: n}})
	}
	s, err := Assemble(instances[0], instances[1:]...)
	if err != nil {
		panic(err)
	}
	return s
}

func nodeOf(machines ...Machine) *Node {
	return NewNode(toys(3, machines...), 1, 2, func(_ ID, _ int32, n int) int { return n - 1 })
}

func ops(effects []Effect) []Op {
	var all []Op
	for _, e := range effects {
		all = append(all, e.Op)
	}
	return all
}

// Messages of a machine to itself are handled before any other event, in the order sent, and are no effects.
func TestMessageToOneself(t *testing.T) {
	var d diarist
	d.do = func(env *Env, event string) {
		switch event {
		case "start":
			env.Send(1, tySelf{1})
			env.Send(0, tySelf{3})
			env.Resend(1, tySelf{2})
		case "receive 1 {1}":
			env.Send(1, tySelf{4})
		}
	}
	n := nodeOf(&d)
	effects := n.Handle(Input{Kind: Start})
	d.expect(t, "start", "receive 1 {1}", "receive 1 {2}", "receive 1 {4}")
	if len(effects) != 1 || effects[0].To != 0 {
		t.Errorf("effects are %+v", effects)
	}
}

func TestMessageToOneselfGoesToItsInstance(t *testing.T) {
	var a, b diarist
	b.do = func(env *Env, event string) {
		if event == "start" {
			env.Send(1, tySelf{7})
		}
	}
	nodeOf(&a, &b).Handle(Input{Kind: Start})
	a.expect(t, "start")
	b.expect(t, "start", "receive 1 {7}")
}

func TestEffects(t *testing.T) {
	list := []int{1}
	d := diarist{do: func(env *Env, event string) {
		if event != "request" {
			return
		}
		peers := env.Peers()
		if env.Self() != 1 || env.N() != 3 || env.Incarnation() != 2 || env.Choose(5) != 4 ||
			peers.String() != "{0 2}" {
			t.Errorf("env is %d of %d, up %d, peers %v", env.Self(), env.N(), env.Incarnation(), peers)
		}
		env.Broadcast(tyOther{list})
		env.Save(tyOther{list})
		env.Resend(2, tyOther{list})
		list[0] = 9 // after the calls: the effects must not change
		env.SetTimer(Timer{Kind: 3, Peer: 2}, time.Second, time.Minute)
		env.StopTimer(Timer{Kind: 4}) // this timer does not run
		env.StopTimer(Timer{Kind: 3, Peer: 2})
		env.GrantFenced(8)
		env.Elect(2, 6)
	}}
	n := nodeOf(&diarist{}, &d)
	got := n.Handle(Input{Kind: Request, Instance: 1})
	timer := Timer{Kind: 3, Peer: 2}
	want := []Effect{
		{Op: OpBroadcast, Kind: 1, Instance: 1, To: None, Message: tyOther{[]int{1}}},
		{Op: OpSave, Kind: 1, Instance: 1, Message: tyOther{[]int{1}}},
		{Op: OpSend, Kind: 1, Resend: true, Instance: 1, To: 2, Message: tyOther{[]int{1}}},
		{Op: OpSetTimer, Instance: 1, Timer: timer, Gen: 1, Min: time.Second, Max: time.Minute},
		{Op: OpGrant, Instance: 1, Number: 8},
		{Op: OpElect, Instance: 1, To: 2, Number: 6},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if n.Client(1) != Inside || n.Client(0) != Idle {
		t.Errorf("the clients are %v and %v", n.Client(0), n.Client(1))
	}
	if n.Machine(1) != Machine(&d) {
		t.Error("the machine of instance 1 is another")
	}
	if got := n.Handle(Input{Kind: Release, Instance: 1}); len(got) != 0 {
		t.Errorf("the next input has effects %+v", got)
	}
}

// An only client has nobody to broadcast to; a server beside it broadcasts to this client.
func TestBroadcastOfOne(t *testing.T) {
	for id, want := range []int{0, 1} {
		d := diarist{do: func(env *Env, _ string) { env.Broadcast(tySelf{}) }}
		n := NewNode(toys(1, &d), ID(id), 0, nil)
		if got := n.Handle(Input{Kind: Start}); len(got) != want {
			t.Errorf("node %d of 1 client: effects %+v", id, got)
		}
	}
}

// A timeout is ignored if its timer was stopped or set again since, whenever the timeout comes.
func TestTimers(t *testing.T) {
	a, b := Timer{Kind: 1}, Timer{Kind: 1, Peer: 2}
	var d diarist
	d.do = func(env *Env, event string) {
		switch event {
		case "start":
			env.SetTimer(a, 1, 1)
			env.SetTimer(b, 1, 1)
		case "request":
			env.SetTimer(a, 1, 1)
			env.StopTimer(b)
			env.Grant()
		}
	}
	n := nodeOf(&d)
	n.Handle(Input{Kind: Start})
	n.Handle(Input{Kind: Request})
	for _, gen := range []uint32{1, 2, 3, 3, 4} { // 3 is the second generation of a, which runs out once
		n.Handle(Input{Kind: Timeout, Timer: a, Gen: gen})
		n.Handle(Input{Kind: Timeout, Timer: b, Gen: gen})
	}
	d.expect(t, "start", "request", "timeout 1 0")
}

// The order in which timers were set is no part of a node's state.
func TestTimersHaveNoOrder(t *testing.T) {
	state := func(timers ...Timer) (running string) {
		n := nodeOf(&diarist{do: func(env *Env, _ string) {
			for _, at := range timers {
				env.SetTimer(at, 1, 1)
			}
		}})
		n.Handle(Input{Kind: Start})
		for timer := range n.Timers(0) {
			running += fmt.Sprint(timer)
		}
		return running
	}
	a, b, c := Timer{Kind: 1}, Timer{Kind: 1, Peer: 2}, Timer{Kind: 2, Peer: None}
	if one := state(a, b, c); one != state(c, b, a) || one != state(b, a, c, a) || one == state(a, b) {
		t.Error("the order shows, or the timers do not")
	}
}

func TestBrokenContractsPanic(t *testing.T) {
	type tyUnlisted struct{}
	grant := func(env *Env, _ string) { env.Grant() }
	twice := func(env *Env, _ string) { env.Grant(); env.Grant() }
	unlisted := func(env *Env, _ string) { env.Send(0, tyUnlisted{}) }
	timer := func(env *Env, _ string) { env.SetTimer(Timer{Kind: 7}, 1, 1) }
	echo := func(env *Env, _ string) { env.Send(1, tySelf{}) }
	for name, test := range map[string]struct {
		do   func(env *Env, event string)
		in   []InputKind
		says string
	}{
		"a grant nobody waits for":  {grant, []InputKind{Start}, "node 1: *nodes.diarist grants while"},
		"a second grant":            {twice, []InputKind{Request}, "client is inside"},
		"a grant at the release":    {grant, []InputKind{Request, Release}, "client is idle"},
		"a second request":          {nil, []InputKind{Request, Request}, "while the client is waiting"},
		"a release of nothing":      {nil, []InputKind{Release}, "while the client is idle"},
		"a message not listed":      {unlisted, []InputKind{Start}, "does not list"},
		"a timer not listed":        {timer, []InputKind{Start}, "sets a timer of kind 7, which the algorithm"},
		"an input that there isn't": {nil, []InputKind{99}, "no input is numbered 99"},
		"messages without end":      {echo, []InputKind{Start}, "causes in its own node never end"},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, test.says) {
					t.Errorf("panics with %q, want %q", said, test.says)
				}
			}()
			n := nodeOf(&diarist{do: test.do})
			n.stack.Instances()[0].Spec.Timers = []TimerName{{Name: "retry"}}
			for _, what := range test.in {
				n.Handle(Input{Kind: what})
			}
		})
	}
}

// Start, Recover, Suspect and Trust reach every machine with a method for them, elections every Led machine,
// and a call for an election every elector.
func TestDispatch(t *testing.T) {
	plain, all := &diarist{}, &gossip{}
	plain.do = func(env *Env, event string) {
		if event == "receive 0 {1}" {
			env.Campaign()
		}
	}
	all.do = func(env *Env, event string) {
		if event == "campaign" {
			env.Elect(2, 5)
		}
	}
	n := nodeOf(plain, all)
	n.Handle(Input{Kind: Start})
	n.Handle(Input{Kind: Recover, Message: Saved{tySelf{2}, tySelf{3}}})
	n.Handle(Input{Kind: Suspect, From: 2})
	n.Handle(Input{Kind: Trust, From: 2})
	effects := n.Handle(Input{Kind: Receive, From: 0, Message: tySelf{1}})
	if !slices.Equal(ops(effects), []Op{OpElect}) {
		t.Errorf("effects are %+v", effects)
	}
	n.Handle(Input{Kind: Campaign, Instance: 1})
	plain.expect(t, "start", "start", "receive 0 {1}") // it is amnesic: it starts again
	all.expect(t, "start", "recover {3}", "suspect 2", "trust 2",
		"campaign", "lead 2 5", "campaign", "lead 2 5")
}

func TestDescribe(t *testing.T) {
	type inner struct {
		A uint8
		b bool
	}
	state := struct {
		clock uint64
		peers Set
		list  []inner
		voter struct {
			locked inner
			asked  Set
		}
		name string
		wait time.Duration
	}{clock: 3, peers: SetOf(1, 70), list: []inner{{1, true}, {2, false}}, name: "x",
		wait: 1500 * time.Microsecond}
	state.voter.locked.A = 5
	const want = "clock=3 peers={1 70} list=[{A: 1 b: true} {A: 2 b: false}] " +
		"voter{locked{A: 5 b: false} asked: {}} name=x wait=1.5ms"
	if got := stateOf(&state); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := stateOf(7); got != "7" {
		t.Errorf("7 is described as %s", got)
	}
}
