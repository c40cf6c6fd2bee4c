package mutex

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var centralAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name:        "central",
		New:         newCentralClient,
		Servers:     oneServer,
		NewServer:   newCoordinator,
		Coordinator: theServer,
		Edges: func(c nodes.Config, id nodes.ID) []nodes.ID {
			if tells(c) {
				return append(c.Others(id), theServer(c))
			}
			return onlyTheServer(c, id)
		},
		Messages: []nodes.MessageKind{{Zero: centralRequest{}, Only: byArrival},
			{Zero: causalRequest{}, Only: causally}, {Zero: centralGrant{}, Permit: true},
			{Zero: centralRelease{}}, {Zero: centralTold{}, Broadcast: true, Only: tells}},
		Options: []nodes.Option{deliveryOption},
		Safe:    nodes.NoAmnesia,
		Live:    nodes.NoLoss | nodes.NoCrash,
	},
	Aliases: []string{"coordinator", "server"}, Family: "centralized",
	Source: "folklore; Coulouris et al., Distributed Systems: Concepts and Design, 15.2",
	Summary: "A server outside the cluster grants the resource to one client at a time, in the order in " +
		"which requests arrive.",
	Mutex: &algorithm.Exclusion{
		Cost: centralCost,
		// The coordinator's queue holds each client once: a client ahead enters once.
		Bypass: peers,
		Identities: []algorithm.Identity{
			counts("request = entries"),
			counts("grant = request"),
			counts("release = request"),
			where(tells, counts("told = (N-1) entries", peers)),
		},
	},
	Published: slices.Concat([]algorithm.Claim{
		{Figure: algorithm.MessagesPerEntry, Source: textbook, Value: exactly(3)},
		{Figure: algorithm.SynchronizationDelayHops, Source: textbook, Sizes: nine, Value: exactly(2)},
		{Figure: algorithm.ClientDelayHops, Source: textbook, Load: "sequential", Sizes: nine, Value: exactly(2)},
		{Figure: algorithm.EntriesPerSecond, Source: "1/(W+3T), its release waited for", Load: "closed",
			Sizes: []int{1}, Hold: 2 * algorithm.Hop, Think: algorithm.Hop,
			Value: exactly(1 / (5 * algorithm.Hop.Seconds()))},
		{Figure: algorithm.EntriesPerSecond, Source: "1/(W+2T), its release not waited for",
			Sizes: []int{1}, Hold: 2 * algorithm.Hop, Value: exactly(1 / (4 * algorithm.Hop.Seconds()))},
	}, utilisation("W/(W+2T)", 2)),
	Faults: withoutTimeouts(
		askingOne,
		under(starves|blocks, "clients whose requests were lost wait (P); all do if a grant or a "+
			"release was lost (B)", "split-brain", "half-cut", "holder-in-majority"),
		under(unhit, "its clients send each other nothing, and reach the coordinator", "one-way",
			"bridge", "majority-ring"),
		under(starves|blocks, "a client that comes up again numbers its requests anew, so they "+
			"pass for copies (P, that client); all wait if one was granted (B)", comebacks...),
		under(recovers|starves|blocks|breaks, "a coordinator that has forgotten grants again while "+
			"a client is inside (X); clients whose requests it has forgotten, or missed while it was down, "+
			"wait (P), and they may be all (B)", "empty-coordinator"),
	),
}

// The folklore algorithm: one node, the coordinator, grants the resource. (Textbooks: Coulouris et al.,
// "Distributed Systems: Concepts and Design", section 15.2.)
//
// To enter, a client sends the coordinator a request and waits for its grant; to leave it sends a
// release. The coordinator grants to one client at a time, in the order in which requests arrive.
//
// Mutual exclusion holds because the coordinator grants again only when the release of its last grant has
// arrived. Requests, grants and releases have numbers, since copies would do harm otherwise: a copy of a
// release would free the grant that came after it; a copy of a grant would let a client in that has left and
// requested again; for a copy of a request the coordinator would grant to a client that will never leave.

type (
	centralRequest struct{ Number uint64 }         // asks to enter, for the Number-th time
	centralGrant   struct{ Number, Serial uint64 } // permits request Number, as the Serial-th grant of all
	centralRelease struct{ Serial uint64 }         // gives grant Serial back
)

// A centralClient asks the coordinator.
type centralClient = asker[centralRequest, centralGrant, centralRelease]

// A coordinator grants to one client at a time.
type coordinator struct {
	holder ticket  // of the last grant, zero once that is released
	serial uint64  // of the last grant
	queue  tickets // the others that wait
	seen   latest  // the latest request of each client
}

func (c *coordinator) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case centralRequest:
		if t := (ticket{from, m.Number}); c.seen.admit(env, t) {
			c.queue = append(c.queue, t)
			c.next(env)
		}
	case centralRelease:
		if m.Serial == c.serial { // else it is a copy, of the release of an earlier grant
			c.holder = ticket{}
			c.next(env)
		}
	default:
		nodes.Unexpected(c, m)
	}
}

// next grants to the first in the queue if nobody holds a grant.
func (c *coordinator) next(env *nodes.Env) {
	if c.holder != (ticket{}) || len(c.queue) == 0 {
		return
	}
	c.holder = c.queue.first()
	c.serial++
	env.Send(c.holder.Client, centralGrant{c.holder.Number, c.serial})
}

// LentTo returns the holder of the grant.
func (c *coordinator) LentTo() nodes.ID { return c.holder.client() }
