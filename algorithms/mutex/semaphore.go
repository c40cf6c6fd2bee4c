package mutex

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var semaphoreAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name:        "semaphore",
		New:         func(c nodes.Config) nodes.Machine { return &semaphoreClient{server: theServer(c)} },
		Servers:     oneServer,
		NewServer:   func(c nodes.Config, _ nodes.ID) nodes.Machine { return &semaphore{count: c.Capacity()} },
		Coordinator: theServer,
		Edges:       onlyTheServer,
		Messages: []nodes.MessageKind{{Zero: semaphoreP{}}, {Zero: semaphoreReply{}, Permit: true},
			{Zero: semaphoreV{}}},
		Units: nodes.Units{Most: nodes.AnyUnits, Usual: 3},
		Safe:  nodes.NoAmnesia,
		Live:  nodes.NoLoss | nodes.NoCrash,
	},
	Aliases: []string{"sem"}, Family: "centralized",
	Source: "semaphores: Dijkstra, Cooperating sequential processes, 1965; as a server with a count and a " +
		"queue of return addresses: folklore of operating systems",
	Summary: "A server outside the cluster counts the units that are free: P takes one, or waits in a queue; " +
		"V gives one back.",
	// No Bypass: while the reply to one client is on its way, others may take and give back the other units any
	// number of times.
	Mutex: &algorithm.Exclusion{
		Cost: func(nodes.Config) algorithm.Cost {
			return always("3", algorithm.Exactly(3), algorithm.Exactly(2))
		},
		Identities: []algorithm.Identity{
			counts("p = entries"),
			counts("reply = p"),
			counts("v = reply"),
		},
	},
	Published: []algorithm.Claim{
		{Figure: algorithm.MessagesPerEntry, Source: "a P, its reply and a V", Value: exactly(3)},
		{Figure: algorithm.MessagesPerEntry, Source: "a P, its reply and a V, with one unit", Units: 1,
			Value: exactly(3)},
		{Figure: algorithm.ClientDelayHops, Source: "a P and its reply", Load: "sequential", Sizes: nine,
			Value: exactly(2)},
	},
	// These cells are for three units, the default number.
	Faults: withoutTimeouts(
		under(recovers, "the server does not wait for clients that are not inside, and the other units stay in "+
			"use", "dead-idle", "dead-waiter"),
		under(recovers, "the unit of the dead client is lost, and the others stay in use", "dead-holder"),
		under(blocks, "all clients ask the server, and none takes its place", "dead-coordinator"),
		under(starves, "the client whose reply is lost waits for ever, and keeps its unit; the others stay in use",
			"lost-reply"),
		under(recovers|starves|blocks, "a client whose request or reply is lost waits (P); each lost reply or "+
			"release costs a unit, and all wait without units (B); one lost release leaves the other units (L)",
			losses...),
		under(starves|blocks, "clients whose request or reply was lost wait (P); all do if no unit is left (B)",
			"split-brain", "half-cut", "holder-in-minority", "holder-in-majority"),
		reachingServer,
		under(starves|blocks, "a client that restarts numbers its requests anew, so each passes for a "+
			"copy (P, that client); a unit that it held is lost, and all wait once no unit is left (B)", comebacks...),
		under(recovers|starves|blocks|breaks, "a server that has forgotten has all units again while clients are "+
			"inside (X, if more enter than there are units; L, if not); clients whose request it has forgotten or "+
			"missed wait (P), and they may be all (B)", "empty-coordinator"),
	),
}

// A semaphore as a server: the folklore of operating systems, in which the server counts and keeps a queue
// of return addresses. (Semaphores: E. W. Dijkstra, "Cooperating sequential processes", 1965.)
//
// To enter, a client sends P and waits for the reply; to leave it sends V. If its count is above zero, the
// server takes one off it and replies at once; otherwise it queues the client. A V lets the first of the
// queue have the unit, by a delayed reply, or adds one to the count.
//
// No more clients are inside than the initial count, since a unit is either counted, or out under one reply
// until the V of that reply has come. P, reply and V have numbers, for the same reason as the messages of
// central.

type (
	semaphoreP     struct{ Number uint64 }         // asks for a unit, for the Number-th time
	semaphoreReply struct{ Number, Serial uint64 } // grants the P with this Number; Serial counts all replies
	semaphoreV     struct{ Serial uint64 }         // gives back the unit of the reply with this Serial
)

// A semaphoreClient asks the server.
type semaphoreClient = asker[semaphoreP, semaphoreReply, semaphoreV]

// A semaphore is the server.
type semaphore struct {
	count  int      // free units
	serial uint64   // serial number of the latest reply
	out    []ticket // the replies whose V has not come: by client, with their serials
	queue  tickets  // waiting clients
	seen   latest   // the latest P of each client
}

func (s *semaphore) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case semaphoreP:
		if t := (ticket{from, m.Number}); s.seen.admit(env, t) {
			s.queue = append(s.queue, t)
			s.next(env)
		}
	case semaphoreV:
		if s.back(from, m.Serial) {
			s.next(env)
		}
	default:
		nodes.Unexpected(s, m)
	}
}

// back takes a unit back if it was out under that reply, and reports whether it was. Otherwise the V is a
// copy.
func (s *semaphore) back(from nodes.ID, serial uint64) bool {
	at := slices.Index(s.out, ticket{from, serial})
	if at < 0 {
		return false
	}
	s.out = slices.Delete(s.out, at, at+1)
	s.count++
	return true
}

// next gives free units to the first in the queue.
func (s *semaphore) next(env *nodes.Env) {
	for s.count > 0 && len(s.queue) > 0 {
		first := s.queue.first()
		s.count--
		s.serial++
		s.out = append(s.out, ticket{first.Client, s.serial})
		env.Send(first.Client, semaphoreReply{first.Number, s.serial})
	}
}

// LentTo returns the client that has had a unit for longest.
func (s *semaphore) LentTo() nodes.ID {
	if len(s.out) == 0 {
		return nodes.None
	}
	return s.out[0].Client
}
