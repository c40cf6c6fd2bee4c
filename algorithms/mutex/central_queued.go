package mutex

import (
	"fmt"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var centralQueuedAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "central-queued",
		New: func(c nodes.Config) nodes.Machine {
			return &queuedClient{repeater: repeaterOf(c), server: theServer(c)}
		},
		Servers: oneServer,
		NewServer: func(c nodes.Config, _ nodes.ID) nodes.Machine {
			return &queuedServer{grantQueue: grantQueueOf(c.N), repeater: repeaterOf(c)}
		},
		Coordinator: theServer,
		Edges:       onlyTheServer,
		Timers:      []nodes.TimerName{{Kind: repeatTick.Kind, Name: "repeat"}},
		Messages: []nodes.MessageKind{{Zero: queuedRequest{}}, {Zero: queuedPlace{}},
			{Zero: queuedGrant{}, Permit: true}, {Zero: queuedRelease{}}},
		Options:   []nodes.Option{retryOfGrant},
		Detects:   "heartbeat",
		Fenced:    true,
		Safe:      nodes.NoAmnesia | nodes.PerfectDetector,
		Effective: nodes.NoAmnesia,
		Live:      nodes.NoCrash,
		Grace:     func(c nodes.Config) time.Duration { return 5 * c.Duration(retryOption) },
	},
	Aliases: []string{"queued"}, Family: "centralized",
	Source: "folklore; the remedy for what Kistijantoro, Mutual Exclusion (IF3130 lecture notes), names as " +
		"its problem: a client cannot tell a dead coordinator from a resource that is taken",
	Summary: "As central, but the server tells a client at once at which position it waits, messages are " +
		"repeated, and a failure detector tells clients of a dead server and the server of dead clients.",
	Mutex: &algorithm.Exclusion{
		Cost: func(c nodes.Config) algorithm.Cost {
			cost := always("3, or 4 if the client waits", algorithm.Exactly(3), algorithm.Exactly(2))
			if c.N > 1 {
				cost.Saturated, cost.Any = algorithm.Between(3, 4), algorithm.Between(3, 4)
			}
			return cost
		},
		Bypass: peers, // suspected clients are skipped, even wrongly
		Fair:   undisturbed,
		Identities: []algorithm.Identity{
			counts("request = entries"),
			counts("grant = request"),
			counts("release = request"),
			counts("place <= request"),
		},
	},
	Faults: suspecting(
		under(blocks, "no node takes the place of the coordinator, but its clients know that it is dead",
			"dead-coordinator"),
		under(recovers|starves|breaks, "a coordinator that has forgotten grants again while a client is inside, "+
			"under numbers that begin again (X); clients that it had told to wait are forgotten (P)",
			"empty-coordinator"),
	),
}

// The central algorithm with clients that can tell why they wait. The lecture notes of A. I. Kistijantoro
// name the problem: the client of a central server "cannot tell a dead coordinator from a blocked one".
//
// A coordinator that cannot grant at once says at which position the request is queued, and a failure
// detector tells the client whether the coordinator is up. So a waiting client knows one of these: it has no
// answer yet; it is queued at some position; the coordinator is suspected. That is no fail-over: if the
// coordinator crashes, waiting clients wait for ever, but they know why.
//
// Requests are sent again until they are answered. The coordinator repeats its grant while it is held, and a
// client that does not use it (any more) gives it back. That makes up for a lost grant, a lost release, and
// a release that never comes since its client has crashed and is up again. The coordinator skips requests of
// suspected clients, and takes their grant back.
//
// Mutual exclusion holds because the coordinator grants again only when its last grant was given back, or the
// holder has asked anew or is suspected. In the first two cases the holder has left: its numbers rise, and it
// gives back only what it does not use. In the third the holder is down, if the detector is right; and once
// it is up again it has another number, and uses no older grant. If the detector is wrong, two may be inside.
// A resource that demands fence numbers refuses the first then: the numbers of grants rise.
//
// A waiting client enters since each message is repeated until it has had its effect.

type (
	queuedRequest struct{ Number uint64 } // asks to enter, by the Number-th request
	queuedPlace   struct {                // says that request Number waits
		Number uint64
		Place  uint32 // 1: it is granted next
	}
	queuedGrant   struct{ Number, Serial uint64 } // permits request Number, as the Serial-th grant of all
	queuedRelease struct{ Number uint64 }         // the sender uses no grant of a request up to Number
)

// A repeater repeats what has not changed from one tick to the next. Its timer, once set, runs on while
// there is something to repeat, so that it need not be set for each entry.
type repeater struct {
	retry   time.Duration
	ticking bool
	last    uint64 // the number of what was to be repeated at the last tick
}

func repeaterOf(c nodes.Config) repeater { return repeater{retry: c.Duration(retryOption)} }

// repeatTick is the timer of a repeater.
var repeatTick = nodes.Timer{Kind: 1}

// tick starts the timer unless it runs.
func (r *repeater) tick(env *nodes.Env) {
	if !r.ticking {
		r.ticking = true
		env.SetTimer(repeatTick, r.retry, r.retry+r.retry/4)
	}
}

// again handles the end of the timer. open says whether there is something to repeat, number identifies it.
// again reports whether the same number was to be repeated at the last tick.
func (r *repeater) again(env *nodes.Env, open bool, number uint64) bool {
	if r.ticking = false; !open {
		return false
	}
	same := r.last == number
	r.last = number
	r.tick(env)
	return same
}

// A queuedClient asks the coordinator, until it is told that it waits.
type queuedClient struct {
	repeater
	server    nodes.ID // the coordinator
	number    uint64   // of our latest request
	state     nodes.ClientState
	place     uint32 // the position of our request in the queue; 0: unknown
	suspected bool   // the coordinator is suspected
}

// Recover ends all requests and grants of earlier incarnations.
func (c *queuedClient) Recover(env *nodes.Env, _ nodes.Message) { c.number = firstNumber(env) }

func (c *queuedClient) Request(env *nodes.Env) {
	c.number++
	c.state, c.place = nodes.Waiting, 0
	env.Send(c.server, queuedRequest{c.number})
	c.tick(env)
}

func (c *queuedClient) Release(env *nodes.Env) {
	c.state = nodes.Idle
	env.Send(c.server, queuedRelease{c.number})
}

func (c *queuedClient) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case queuedPlace:
		if c.state == nodes.Waiting && m.Number == c.number {
			c.place = m.Place
		}
	case queuedGrant:
		switch {
		case m.Number != c.number || c.state == nodes.Idle:
			env.Resend(c.server, queuedRelease{m.Number}) // we are done with it
		case c.state == nodes.Waiting:
			c.state = nodes.Inside
			env.GrantFenced(m.Serial)
		}
	default:
		nodes.Unexpected(c, m)
	}
}

// unanswered reports whether we are to ask again: our request has no answer, and the coordinator is not
// suspected.
func (c *queuedClient) unanswered() bool {
	return c.state == nodes.Waiting && c.place == 0 && !c.suspected
}

func (c *queuedClient) Timeout(env *nodes.Env, _ nodes.Timer) {
	if c.again(env, c.unanswered(), c.number) {
		env.Resend(c.server, queuedRequest{c.number})
	}
}

func (c *queuedClient) Suspect(_ *nodes.Env, peer nodes.ID) {
	c.suspected = c.suspected || peer == c.server
}

// Trust asks again a coordinator that may have forgotten us.
func (c *queuedClient) Trust(env *nodes.Env, peer nodes.ID) {
	if peer != c.server {
		return
	}
	c.suspected = false
	if c.state == nodes.Waiting {
		c.place = 0
		env.Resend(c.server, queuedRequest{c.number})
		c.tick(env)
	}
}

// Standing tells what we know of our request.
func (c *queuedClient) Standing() string {
	switch {
	case c.suspected:
		return fmt.Sprintf("suspects the coordinator, node %d", c.server)
	case c.place == 0:
		return "has no answer yet"
	case c.place == 1:
		return "queued, and granted next"
	}
	return fmt.Sprintf("queued at position %d", c.place)
}

// WaitsFor names the coordinator. Its LentTo names the client inside.
func (c *queuedClient) WaitsFor() nodes.Set { return nodes.SetOf(c.server) }

// A queuedServer is the coordinator.
type queuedServer struct {
	grantQueue
	repeater
	suspected nodes.Set
}

func (s *queuedServer) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case queuedRequest:
		s.request(env, claim{Client: from, Number: m.Number})
	case queuedRelease:
		s.finish(from, m.Number)
		s.next(env)
	default:
		nodes.Unexpected(s, m)
	}
}

// request takes a request, or its repetition, and answers it.
func (s *queuedServer) request(env *nodes.Env, c claim) {
	answer := env.Send
	if !s.claim(c) {
		answer = env.Resend
		if s.holds(c.Client, c.Number) {
			env.Resend(c.Client, queuedGrant{c.Number, s.serial})
		}
	}
	s.next(env)
	if place := s.place(c.Client, c.Number, &s.suspected); place > 0 {
		answer(c.Client, queuedPlace{c.Number, place})
	}
}

// next grants to the first in the queue if nobody holds a grant.
func (s *queuedServer) next(env *nodes.Env) {
	if s.grantQueue.next(&s.suspected) {
		env.Send(s.holder.Client, queuedGrant{s.holder.Number, s.serial})
		s.tick(env)
	}
}

// Timeout repeats a grant that was not given back since the last tick.
func (s *queuedServer) Timeout(env *nodes.Env, _ nodes.Timer) {
	if s.again(env, s.held(), s.serial) {
		env.Resend(s.holder.Client, queuedGrant{s.holder.Number, s.serial})
	}
}

func (s *queuedServer) Suspect(env *nodes.Env, peer nodes.ID) {
	s.suspected.Add(peer)
	s.takeBack(peer)
	s.next(env)
}

func (s *queuedServer) Trust(env *nodes.Env, peer nodes.ID) {
	s.suspected.Remove(peer)
	s.next(env)
}

// LentTo returns the holder of the grant.
func (s *queuedServer) LentTo() nodes.ID { return s.lentTo() }
