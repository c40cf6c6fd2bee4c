package mutex

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var ticketAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name:    "ticket",
		New:     func(c nodes.Config) nodes.Machine { return &customer{roll: theServer(c)} },
		Servers: oneServer,
		NewServer: func(c nodes.Config, _ nodes.ID) nodes.Machine {
			return newTicketRoll(c)
		},
		Coordinator: theServer,
		Edges:       onlyTheServer,
		Messages: []nodes.MessageKind{{Zero: rollTake{}}, {Zero: rollNumber{}}, {Zero: rollAwait{}},
			{Zero: rollTurn{}, Permit: true}, {Zero: rollAdvance{}}},
		Units: nodes.Units{Most: nodes.AnyUnits},
		Safe:  nodes.NoAmnesia,
		Live:  nodes.NoLoss | nodes.NoCrash,
	},
	Aliases: []string{"sequencer", "ticket-roll"}, Family: "centralized",
	Source: "Reed and Kanodia, Synchronization with eventcounts and sequencers, CACM 22(2), 1979; the roll of " +
		"tickets of Jones, Mutual exclusion in distributed systems, notes of 22C:116, University of Iowa, 2002",
	Summary: "A server hands out rising numbers, and each of k units serves every k-th of them; a " +
		"client waits until its number is served, and passes the turn on when it leaves.",
	Mutex: &algorithm.Exclusion{
		Cost: func(c nodes.Config) algorithm.Cost {
			delay := algorithm.Exactly(2)
			if c.Capacity() > 1 {
				delay = algorithm.Between(0, 2) // the next client to enter may be served by another clerk
			}
			return always("5", algorithm.Exactly(5), delay)
		},
		// A client has one number at a time. A peer with a lower number enters once before us. Of its next k
		// numbers, k-1 belong to other clerks and may be served before ours; the remaining one belongs to our
		// clerk, and is served after ours. So each peer enters at most k times.
		Bypass: func(c nodes.Config) int { return c.Capacity() * peers(c) },
		Identities: []algorithm.Identity{
			counts("take = entries"),
			counts("number = take"),
			counts("await = take"),
			counts("turn = take"),
			counts("advance = take"),
		},
	},
	Published: []algorithm.Claim{
		{Figure: algorithm.MessagesPerEntry, Source: "a ticket, its turn, and the advance", Value: exactly(5)},
		{Figure: algorithm.SynchronizationDelayHops, Source: "the advance, and the turn", Sizes: nine,
			Value: exactly(2)},
		{Figure: algorithm.ClientDelayHops, Source: "a ticket, and its turn", Load: "sequential", Sizes: nine,
			Value: exactly(4)},
		{Figure: algorithm.MessagesPerEntry, Source: "a ticket, its turn, and the advance, with two units",
			Units: 2,
			Value: exactly(5)},
	},
	Faults: withoutTimeouts(
		without("lost-request", askingOne), // the algorithm has no message called request
		under(starves|blocks, "a client whose request or number is lost waits (P); all do, once a number is not "+
			"advanced, since numbers are served in order (B)", "split-brain", "half-cut", "holder-in-majority"),
		reachingServer,
		under(starves|blocks, "a client that comes up again counts its requests anew, so they pass for copies "+
			"(P, that client); all wait for its number if it had one (B)", comebacks...),
		under(recovers|starves|blocks|breaks, "a server that has forgotten hands out the first number again, and "+
			"serves it while a client is inside (X); clients whose numbers are no longer served wait (P), and they "+
			"may be all (B)", "empty-coordinator"),
	),
}

// The ticket lock is mutual exclusion after D. P. Reed and R. K. Kanodia, "Synchronization with eventcounts
// and sequencers", CACM 22(2), 1979: await(E, ticket(S)), the critical section, advance(E). A server has the
// sequencer S, which hands out each number once, and the eventcount E, which only grows.
//
// To enter, a client takes a number and waits until the eventcount has reached it; to leave it advances the
// eventcount. Numbers are handed out once and without gaps, so one client at a time has the served number,
// and all are served in order.
//
// A resource of k units is k clerks in D. W. Jones's notes, or the k slots of a bounded buffer: the number
// modulo k chooses the unit. Each unit has an eventcount of its own and serves its numbers in order, so
// number t has its turn when the client with number t-k has left. No unit is taken again before it is left,
// and the units are taken equally often, to within one. The price is that a client that waits for one clerk
// does not go to another one that is free.
//
// Each message names its request or number, so a copy is recognized.

type (
	rollTake    struct{ Request uint64 }         // asks for a number for the client's Request-th request
	rollNumber  struct{ Request, Number uint64 } // hands out Number for that request
	rollAwait   struct{ Number uint64 }          // asks to be told when Number is served
	rollTurn    struct{ Number uint64 }          // Number is served
	rollAdvance struct{ Number uint64 }          // the client with Number has left: serve the next number
)

// A customer takes numbers.
type customer struct {
	roll    nodes.ID // the server
	request uint64   // number of our latest request
	number  uint64   // the number handed out for this request, from 1; 0: not yet known
	waiting bool
}

func (c *customer) Request(env *nodes.Env) {
	c.request++
	c.number, c.waiting = 0, true
	env.Send(c.roll, rollTake{c.request})
}

func (c *customer) Release(env *nodes.Env) { env.Send(c.roll, rollAdvance{c.number}) }

func (c *customer) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case rollNumber:
		if c.waiting && c.number == 0 && m.Request == c.request {
			c.number = m.Number
			env.Send(c.roll, rollAwait{m.Number})
		}
	case rollTurn:
		if c.waiting && m.Number == c.number {
			c.waiting = false
			env.Grant()
		}
	default:
		nodes.Unexpected(c, m)
	}
}

// WaitsFor names the server, while the client waits.
func (c *customer) WaitsFor() nodes.Set { return waitsFor(c.roll, c.waiting) }

// A ticketRoll is the server.
type ticketRoll struct {
	last    uint64       // the latest number handed out
	served  []uint64     // by clerk: the number that it serves now
	taken   []rollNumber // by client: its latest request and the number for it
	waiting []rollWait   // clients that await a number
}

// A rollWait is a client that awaits a number.
type rollWait struct {
	Client nodes.ID
	Number uint64
}

func newTicketRoll(c nodes.Config) *ticketRoll {
	r := &ticketRoll{served: make([]uint64, c.Capacity()), taken: make([]rollNumber, c.N)}
	for first := range uint64(c.Capacity()) {
		*r.clerk(first + 1) = first + 1
	}
	return r
}

// clerk returns the number that is served now by the clerk of the given number.
func (r *ticketRoll) clerk(number uint64) *uint64 { return &r.served[number%uint64(len(r.served))] }

func (r *ticketRoll) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case rollTake:
		if m.Request > r.taken[from].Request { // otherwise the message is a copy
			r.last++
			r.taken[from] = rollNumber{m.Request, r.last}
			env.Send(from, r.taken[from])
		}
	case rollAwait:
		wait := rollWait{from, m.Number}
		if !r.over(wait) && !slices.Contains(r.waiting, wait) {
			r.waiting = append(r.waiting, wait)
			r.serve(env, wait)
		}
	case rollAdvance:
		if served := r.clerk(m.Number); m.Number == *served { // otherwise the message is a copy
			*served += uint64(len(r.served))
			r.waiting = slices.DeleteFunc(r.waiting, r.over)
			for _, wait := range r.waiting {
				if r.clerk(wait.Number) == served {
					r.serve(env, wait)
				}
			}
		}
	default:
		nodes.Unexpected(r, m)
	}
}

// over reports whether the client with the awaited number has left.
func (r *ticketRoll) over(w rollWait) bool { return w.Number < *r.clerk(w.Number) }

// serve tells a waiting client if its number is served. The wait stays listed until it is over, so that a
// copy of rollAwait is recognized.
func (r *ticketRoll) serve(env *nodes.Env, wait rollWait) {
	if wait.Number == *r.clerk(wait.Number) {
		env.Send(wait.Client, rollTurn{wait.Number})
	}
}

// LentTo returns the client with the lowest served number.
func (r *ticketRoll) LentTo() nodes.ID {
	lowest := slices.Min(r.served)
	for id, t := range r.taken {
		if t.Number == lowest {
			return nodes.ID(id)
		}
	}
	return nodes.None
}
