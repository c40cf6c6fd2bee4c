package mutex

import (
	"slices"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var centralLeaseAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "central-lease",
		New: func(c nodes.Config) nodes.Machine {
			return &leaseClient{server: theServer(c), repeat: repeatOf(c)}
		},
		Servers: oneServer,
		NewServer: func(c nodes.Config, _ nodes.ID) nodes.Machine {
			return &leaseServer{lasts: c.Duration(leaseOption), leases: leases{Over: make([]uint64, c.N)}}
		},
		Coordinator: theServer,
		Edges:       onlyTheServer,
		Timers: []nodes.TimerName{{Kind: leaseRepeat.Kind, Name: "repeat"},
			{Kind: leaseEnd.Kind, Name: "expiry"}},
		Messages: []nodes.MessageKind{{Zero: leaseRequest{}}, {Zero: leaseGrant{}, Permit: true},
			{Zero: leaseRenewal{}}, {Zero: leaseRelease{}}, {Zero: leaseNumber{}}, {Zero: leases{}}},
		Options: []nodes.Option{leaseOption},
		// A holder that is silent for longer than a lease lasts is taken for dead.
		Safe:      nodes.NoLoss | nodes.NoAmnesia | nodes.Timing,
		Live:      nodes.ServersUp | nodes.NoAmnesia,
		Fenced:    true,
		Effective: nodes.NoAmnesia,
		Grace:     func(c nodes.Config) time.Duration { return 2 * c.Duration(leaseOption) },
	},
	Aliases: []string{"lease-unfenced"}, Family: "centralized",
	Source: "Gray and Cheriton, Leases: an efficient fault-tolerant mechanism for distributed file cache " +
		"consistency, SOSP 1989; sequencers after Burrows, The Chubby lock service, OSDI 2006",
	Summary: "As central, but a grant ends by itself unless it is renewed: a dead holder stops nobody, and " +
		"a paused holder may be inside beside the next.",
	Mutex: &algorithm.Exclusion{
		Cost: func(c nodes.Config) algorithm.Cost {
			cost := always("3 + floor(hold / (lease/3))", algorithm.Exactly(3), algorithm.Exactly(2))
			cost.Renewal = repeatOf(c)
			return cost
		},
		Bypass:     peers, // a client whose lease ends before it hears of the grant is queued anew
		Fair:       undisturbed,
		Identities: []algorithm.Identity{counts("release = entries"), counts("grant >= entries")},
	},
	Faults: beside(slices.Concat(
		under(recovers, "its lease ends, and the next is granted", "dead-holder", "dead-waiter"),
		under(recovers, "the server does not wait for an idle client", "dead-idle"),
		under(recovers, refused, "stopped-holder", "stopped-idle", "slow-node", "stalled-connection"),
	), slices.Concat(
		under(recovers, "requests are repeated until they are granted, and a lease ends whose release is lost",
			slices.Concat([]string{"lost-request", "lost-reply"}, losses, []string{"split-brain", "half-cut",
				"holder-in-minority", "holder-in-majority"})...),
		reachingServer,
		under(recovers, "no effect, since requests and grants are numbered", "slow-links", "slow-network",
			"overtaking", "copies", "skewed-clocks"),
		under(recovers, "a client saves its number, and the server its leases", "each-in-turn",
			"restarts"),
		under(recovers|starves, "a client that has forgotten its numbers begins them again, so its requests "+
			"pass for copies (P, that client)", "amnesia"),
		under(recovers|starves|blocks, "as under the plan amnesia; all clients wait if all have forgotten (B)",
			"empty-restarts"),
		under(recovers|starves|blocks|breaks, "a server with amnesia reuses fence numbers, so the resource "+
			"cannot tell an old holder from a new one (X)", "empty-coordinator"),
		under(blocks, "all clients ask the server, and none takes its place", "dead-coordinator"),
	)),
}

// leaseOption is how long leases last.
var leaseOption = nodes.Option{Name: "lease", Default: "500ms",
	Usage: "how long a grant lasts unless it is renewed",
	Check: func(_ nodes.Config, value string) error {
		return algorithm.CheckTime(value, time.Microsecond, time.Hour, "500ms")
	},
	Shows: []nodes.Shown{{Value: "1500ms", Than: "500ms", Figure: "longest pause", Least: 2.5, Most: 3.5,
		For: 4 * time.Second, Load: "saturated", Hold: 50 * time.Millisecond,
		Faults: []string{"kill: holder, at: 500ms"}}},
	Bound: &nodes.TimeoutBound{Formula: "3T", Covers: leaseCovers, Answer: "3N(2T+hold)",
		Answers: func(c nodes.Config, d nodes.Delays) time.Duration { return repeats * queued(c, d) },
	}}

// leaseCovers is the least length of a lease: in that time the grant travels and, a third of a lease later,
// the first renewal.
func leaseCovers(_ nodes.Config, d nodes.Delays) time.Duration { return repeats * d.Message }

// repeats is how often in a lease a client repeats its latest message.
const repeats = 3

// repeatOf returns the time between two repeats.
func repeatOf(c nodes.Config) time.Duration { return c.Duration(leaseOption) / repeats }

// A lease ends by itself. (C. Gray and D. Cheriton, "Leases: an efficient fault-tolerant mechanism for
// distributed file cache consistency", SOSP 1989. Fence numbers are the sequencers of M. Burrows, "The Chubby
// lock service for loosely-coupled distributed systems", OSDI 2006, section 2.4.)
//
// As in the algorithm of the central server, a client sends a request and waits for its grant, and sends a
// release when it leaves. But the server takes a grant back when the lease is over. Three times in a lease a
// client sends again: while it waits, its request, in case the request or the grant was lost; while it is
// inside, a renewal, which starts the lease again. A client reads no clock, so it does not know when its
// lease is over.
//
// Mutual exclusion holds while the holder is heard of in time. A holder that stands still for longer than its
// lease goes on inside when it wakes up, though the next client is inside: no server can prevent that. But
// grants are numbered, and a resource that demands the number (--fenced) refuses what the late holder writes.

type (
	leaseRequest struct{ Number uint64 }         // asks to enter, for the Number-th time
	leaseGrant   struct{ Number, Serial uint64 } // permits request Number, as the Serial-th lease of all
	leaseRenewal struct{ Serial uint64 }         // begins lease Serial anew
	leaseRelease struct{ Serial uint64 }         // ends lease Serial
	leaseNumber  struct{ Number uint64 }         // saved by a client
)

var (
	leaseRepeat = nodes.Timer{Kind: 0}
	leaseEnd    = nodes.Timer{Kind: 1}
)

// A leaseClient asks the server.
type leaseClient struct {
	server nodes.ID
	repeat time.Duration // between two repeats
	number uint64        // of our latest request
	serial uint64        // of our lease; 0: we are not inside
	waits  bool
}

// Recover goes on with the saved number: older grants end by themselves.
func (l *leaseClient) Recover(_ *nodes.Env, saved nodes.Message) {
	if n, ok := saved.(leaseNumber); ok {
		l.number = n.Number
	}
}

func (l *leaseClient) Request(env *nodes.Env) {
	l.number++
	l.waits = true
	env.Save(leaseNumber{l.number})
	env.Send(l.server, leaseRequest{l.number})
	env.SetTimer(leaseRepeat, l.repeat, l.repeat)
}

func (l *leaseClient) Release(env *nodes.Env) {
	env.StopTimer(leaseRepeat)
	env.Send(l.server, leaseRelease{l.serial})
	l.serial = 0
}

func (l *leaseClient) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case leaseGrant:
		if l.waits && m.Number == l.number { // else it is a copy
			l.waits, l.serial = false, m.Serial
			env.SetTimer(leaseRepeat, l.repeat, l.repeat)
			env.GrantFenced(m.Serial)
		}
	default:
		nodes.Unexpected(l, m)
	}
}

func (l *leaseClient) Timeout(env *nodes.Env, _ nodes.Timer) {
	if l.waits {
		env.Resend(l.server, leaseRequest{l.number})
	} else {
		env.Send(l.server, leaseRenewal{l.serial})
	}
	env.SetTimer(leaseRepeat, l.repeat, l.repeat)
}

// WaitsFor names the server. Its LentTo names the client inside.
func (l *leaseClient) WaitsFor() nodes.Set { return waitsFor(l.server, l.waits) }

// A leaseServer grants to one client at a time, for as long as a lease lasts.
type leaseServer struct {
	lasts time.Duration
	leases
}

// leases is the state of a server, which it saves.
type leases struct {
	Holder ticket   // of the current lease; zero: no lease
	Serial uint64   // of the last lease
	Queue  tickets  // waiting requests
	Over   []uint64 // by client: the number of its latest request that was granted and released
}

// Recover begins the current lease anew.
func (l *leaseServer) Recover(env *nodes.Env, saved nodes.Message) {
	if s, ok := saved.(leases); ok {
		l.leases = s
		if l.Holder != (ticket{}) {
			env.SetTimer(leaseEnd, l.lasts, l.lasts)
		}
	}
}

func (l *leaseServer) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case leaseRequest:
		switch asked := (ticket{from, m.Number}); {
		case m.Number <= l.Over[from] || slices.Contains(l.Queue, asked):
			return // it is a copy, or repeated
		case asked == l.Holder: // its grant may be lost
			env.Resend(from, leaseGrant{m.Number, l.Serial})
			return
		default: // the request is new, or its lease has ended before the client knew of it
			l.forget(from)
			l.Queue = append(l.Queue, asked)
		}
	case leaseRenewal:
		if l.Holder != (ticket{}) && m.Serial == l.Serial {
			env.SetTimer(leaseEnd, l.lasts, l.lasts)
		}
		return
	case leaseRelease:
		if l.Holder == (ticket{}) || m.Serial != l.Serial { // the release is of a lease that has ended
			return
		}
		l.Over[l.Holder.Client] = l.Holder.Number
		l.Holder = ticket{}
	default:
		nodes.Unexpected(l, m)
	}
	l.next(env)
}

// Timeout ends the lease that was not renewed.
func (l *leaseServer) Timeout(env *nodes.Env, _ nodes.Timer) {
	l.Holder = ticket{}
	l.next(env)
}

// forget removes an earlier request of a client from the queue: the client has been down meanwhile.
func (l *leaseServer) forget(client nodes.ID) {
	l.Queue = slices.DeleteFunc(l.Queue, func(t ticket) bool { return t.Client == client })
}

// next grants to the first in the queue if no lease is on, and saves what has changed: before the grant,
// since a server that crashed between the two would hand out the number of the lease again.
func (l *leaseServer) next(env *nodes.Env) {
	free := l.Holder == (ticket{})
	if free && len(l.Queue) > 0 {
		l.Holder = l.Queue.first()
		l.Serial++
	}
	env.Save(l.leases)
	switch {
	case !free:
	case l.Holder == (ticket{}):
		env.StopTimer(leaseEnd)
	default:
		env.Send(l.Holder.Client, leaseGrant{l.Holder.Number, l.Serial})
		env.SetTimer(leaseEnd, l.lasts, l.lasts)
	}
}

// LentTo returns the holder of the lease.
func (l *leaseServer) LentTo() nodes.ID { return l.Holder.client() }
