package explore

import (
	"strings"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/replay"
)

// A caller asks a server until it has an answer.
type caller struct{ calls, open uint8 }

// An answerer answers every message.
type answerer struct{}

var again = nodes.Timer{Kind: 1}

func (c *caller) Request(env *nodes.Env) {
	c.calls++
	c.open = c.calls
	env.Send(1, tyPing{c.open})
	env.SetTimer(again, ms, 2*ms)
}

func (c *caller) Release(*nodes.Env) {}

func (c *caller) Timeout(env *nodes.Env, t nodes.Timer) {
	env.Resend(1, tyPing{c.open})
	env.SetTimer(t, ms, 2*ms)
}

func (c *caller) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	if m.(tyPong).N == c.open {
		c.open = 0
		env.StopTimer(again)
		env.Grant()
	}
}

func (*answerer) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	env.Send(from, tyPong(m.(tyPing)))
}

func callers() Space {
	spec := &algorithm.Algorithm{Spec: nodes.Spec{
		Name:      "caller",
		Messages:  []nodes.MessageKind{{Zero: tyPing{}}, {Zero: tyPong{}}},
		New:       func(nodes.Config) nodes.Machine { return &caller{} },
		Servers:   func(nodes.Config) int { return 1 },
		NewServer: func(nodes.Config, nodes.ID) nodes.Machine { return &answerer{} },
	}}
	return Space{Spec: spec, Config: nodes.Config{N: 1}, Entries: 2, Losses: 1}
}

// The search ends for an algorithm that retries, and its result says that it is bounded by copies.
func TestCopiesAreBounded(t *testing.T) {
	states := uint64(0)
	for _, copies := range []int{0, 1, 2, 3} {
		o := callers()
		o.Copies = copies
		x := agree(t, o)
		if x.Exhausted || x.Bound != "copies" || !x.Progress || x.Violation != nil || x.Outside > 0 {
			t.Errorf("%d copies: %+v", copies, x)
		}
		if more := x.States > states; more != (copies != 1) { // without a number it is one
			t.Errorf("%d copies make %d states, after %d", copies, x.States, states)
		}
		states = x.States
	}
}

// For an algorithm that needs every message, only violations after a loss because of Copies are outside the
// model.
func TestLostCopiesAreOutsideTheModel(t *testing.T) {
	o := callers()
	o.Losses, o.Spec.Live, o.Copies = 0, nodes.NoLoss, 1
	o.Spec.New = func(nodes.Config) nodes.Machine { return &insister{} }
	o.Spec.NewServer = func(nodes.Config, nodes.ID) nodes.Machine { return &insister{} }
	x := agree(t, o)
	if x.Violation != nil || x.FirstOutside == nil || x.FirstOutside.OutsideModel != nodes.NoLoss {
		t.Fatalf("%+v", x)
	}
	replays(t, o.Spec, x.FirstOutside)
	for _, o.Copies = range []int{0, 2} {
		if x = agree(t, o); !x.Exhausted || !x.Progress || x.Outside > 0 {
			t.Errorf("with room for both: %+v", x)
		}
	}
}

// An insister asks twice at once, and answers every second time. It has timers, but sets none.
type insister struct{ asked uint8 }

func (*insister) Request(env *nodes.Env) {
	env.Send(1, tyPing{})
	env.Send(1, tyPing{})
}

func (*insister) Release(*nodes.Env)              {}
func (*insister) Timeout(*nodes.Env, nodes.Timer) {}

func (i *insister) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, answer := m.(tyPong); answer {
		env.Grant()
	} else if i.asked = 1 - i.asked; i.asked == 0 {
		env.Send(from, tyPong{})
	}
}

// With bounds on time, so few copies of a message are on their way that none is lost because of copies.
func TestCopiesInTime(t *testing.T) {
	o := callers()
	o.Timing = timing(0, 2*ms)
	if x := agree(t, o); !x.Exhausted || !x.Progress || x.Violation != nil {
		t.Errorf("%+v", x)
	}
}

// A schedule says how many copies there may be, and its story where one is lost.
func TestReplayOfCopies(t *testing.T) {
	const head = "turnstile schedule 1\nalgorithm caller\nn 1\ncopies 2\n"
	s, err := replay.Parse(strings.NewReader(head+"req 0; timeout 0 1 0; timeout 0 1 0; 0>1 ping"),
		alone(callers().Spec))
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.Play(s)
	if err != nil {
		t.Fatal(err)
	}
	const story = `node 0 asks and sends ping to server 1
node 0: timer 1 for 0 runs out and sends ping to server 1
node 0: timer 1 for 0 runs out and sends ping to server 1
the network drops a ping from node 0 to server 1, since an equal message is already on the link
server 1 gets ping from node 0 and sends pong to node 0`
	if got := strings.Join(r.Story, "\n"); got != story {
		t.Errorf("the story is\n%s", got)
	}
	if !strings.Contains(s.String(), "\ncopies 2\n") {
		t.Error(s)
	}
}
