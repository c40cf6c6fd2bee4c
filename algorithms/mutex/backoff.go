package mutex

import (
	"slices"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var backoffAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "backoff",
		New: func(c nodes.Config) nodes.Machine {
			return &backoff{slot: c.Duration(slotOption), retry: c.Duration(retryOption)}
		},
		Timers: []nodes.TimerName{{Kind: nextAttempt.Kind, Name: "backoff"},
			{Kind: missingAnswer.Kind, Name: "retry"}},
		Messages: []nodes.MessageKind{{Zero: backoffAttempt{}, Broadcast: true},
			{Zero: backoffClear{}, Permit: true}, {Zero: backoffJam{}}},
		Options: []nodes.Option{slotOption, retryOfCensus},
		Live:    nodes.NoCrash,
	},
	Aliases: []string{"random-backoff", "contention"}, Family: "permission",
	Source: "after the medium access control of Ethernet (Metcalfe and Boggs, Ethernet: distributed packet " +
		"switching for local computer networks, CACM 19(7), 1976; IEEE 802.3), which the lecture notes of Lozes " +
		"and Henrio name as an example",
	Summary: "A node tells every peer that it tries and enters when all have said that they do not; if two " +
		"try at once both give up, and each tries again after a random time that doubles with every failure.",
	Mutex: &algorithm.Exclusion{
		Cost: func(c nodes.Config) algorithm.Cost {
			// An attempt costs 2(N-1) messages, and under contention an entry may take any number of attempts.
			least := float64(2 * (c.N - 1))
			cost := always("2(N-1), unbounded if others try", algorithm.Exactly(least), algorithm.Unbounded(0))
			cost.Saturated, cost.Any = algorithm.Unbounded(least), algorithm.Unbounded(least)
			return cost
		},
		// A node that has just left tries again at once, while others still wait out their longer times.
		Chance: true,
		Identities: []algorithm.Identity{
			counts("attempt >= (N-1) entries", peers),
			counts("clear + jam = attempt"),
			counts("clear >= (N-1) entries", peers),
		},
	},
	Published: slices.Concat([]algorithm.Claim{
		{Figure: algorithm.MessagesPerEntry, Source: "derived: 2(N-1), if nobody else tries", Load: "sequential",
			Value: formula(func(n float64) float64 { return 2 * (n - 1) })},
		{Figure: algorithm.PublishesPerEntry, Source: "derived: one on the shared medium, N-1 answers",
			Load: "sequential", Multicast: true, Value: formula(func(n float64) float64 { return n })},
		{Figure: algorithm.ClientDelayHops, Source: "derived: one hop of an attempt, and one of its answers",
			Load: "sequential", Sizes: nine, Value: exactly(2)},
	}),
	Faults: beside(slices.Concat(
		under(blocks, "every entry needs an answer of the dead node", "dead-idle", "dead-waiter", "dead-holder"),
	), slices.Concat(
		under(recovers, "a peer that has not answered is asked again", "lost-reply"),
		under(recovers, "a peer that has not answered is asked again", losses...),
		under(recovers, "an attempt waits for the answers of all, and is repeated until after the heal", cuts...),
		under(recovers, "a node that comes up again answers, and its attempts name its incarnation, so that no "+
			"answer to an earlier one counts", comebacks...),
		under(recovers, "silence only makes a node ask again, so the others wait until it goes on",
			"stopped-holder", "stopped-idle", "slow-node", "stalled-connection"),
		under(recovers, "silence only makes a node ask again, so a late message is in time",
			"slow-links", "slow-network", "overtaking"),
		under(recovers, "attempts are numbered, and answers name the attempt", "copies"),
		under(recovers, "a wrong clock makes waits longer or shorter, and they are random anyway",
			"skewed-clocks"),
	)),
}

var slotOption = nodes.Option{Name: "slot", Default: "2ms",
	Usage: "longest wait after the first failed attempt; it doubles after each further one",
	Check: func(_ nodes.Config, value string) error {
		return algorithm.CheckTime(value, time.Microsecond, time.Minute, "2ms")
	},
	Shows: []nodes.Shown{{Value: "20ms", Than: "2ms", Figure: "messages per entry", Least: 0.1, Most: 0.8}},
	// The slot has to be longer than the time in which two attempts may collide, as in Ethernet.
	Bound: &nodes.TimeoutBound{Answer: "2T",
		Answers: func(_ nodes.Config, d nodes.Delays) time.Duration { return 2 * d.Message },
		Suits:   func(_ nodes.Config, d nodes.Delays) time.Duration { return min(2*d.Message/4*5, time.Minute) }}}

// mostDoublings bounds how often the wait doubles, as in Ethernet: up to 1024 slots.
const mostDoublings = 10

// backoff is contention for a shared medium, as stations of an Ethernet contend for it (R. M. Metcalfe and
// D. R. Boggs, "Ethernet: distributed packet switching for local computer networks", CACM 19(7), 1976). A
// message to all peers models a frame on the medium (with --multicast it is one published message), and a JAM
// models a collision.
//
// To enter, a node tells all peers of its attempt. A peer that neither tries nor is inside answers CLEAR; any
// other peer answers JAM, even if its own attempt is later. With CLEAR from all the node enters; with a JAM
// it gives the attempt up and makes the next after a random time. That time is at most a slot after the first
// failure, and twice as long after each further one, up to 1024 slots (truncated binary exponential backoff).
// After an entry the limit is a slot again. Nobody keeps a queue or sends anything on leaving. A station of
// an Ethernet gives up after 16 attempts, and its times are whole slots; here it never gives up, and any time
// within the limit is drawn. A station that senses a carrier waits until it ends; here it backs off, since
// silence sends no message.
//
// Mutual exclusion: of two nodes inside, each would have had CLEAR from the other. A node that answers CLEAR
// is not trying, so its own attempt begins after that; and the attempt that it answers has begun. So each
// attempt would have begun before the other. Answers name the attempt, and an attempt the incarnation of the
// node, so no answer to an earlier attempt counts. This assumes nothing about time or order.
//
// Progress is by chance, and has no bound: the fewer nodes try at a time, the likelier an attempt succeeds,
// and the more attempts have failed, the fewer nodes try at a time. A node that has just left tries again at
// once, while the others wait for longer and longer: one node may enter many times in a row (the capture
// effect of Ethernet).
type backoff struct {
	slot, retry time.Duration
	number      uint64    // of our latest attempt
	busy        bool      // we try or are inside
	failed      uint32    // failed attempts of this request
	awaiting    nodes.Set // the peers that have yet to answer our attempt
}

type (
	backoffAttempt struct { // announces attempt Number of the sender's life
		Life   uint32
		Number uint64
	}
	backoffClear struct { // says that its sender neither tries nor is inside
		Life   uint32
		Number uint64
	}
	backoffJam struct { // says that its sender tries or is inside
		Life   uint32
		Number uint64
	}
)

var (
	nextAttempt   = nodes.Timer{Kind: 1} // runs after a failed attempt
	missingAnswer = nodes.Timer{Kind: 2} // runs during an attempt
)

func (b *backoff) Request(env *nodes.Env) {
	b.failed = 0
	b.attempt(env)
}

// attempt announces the next attempt.
func (b *backoff) attempt(env *nodes.Env) {
	b.number++
	b.busy = true
	b.awaiting = env.Peers()
	if b.awaiting.Empty() {
		env.Grant() // there are no peers
		return
	}
	env.Broadcast(backoffAttempt{env.Incarnation(), b.number})
	env.SetTimer(missingAnswer, b.retry, b.retry)
}

func (b *backoff) Release(*nodes.Env) { b.busy = false }

func (b *backoff) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case backoffAttempt:
		// Between its failed attempts a node does not try: it lets others in.
		if b.busy {
			env.Send(from, backoffJam(m))
			return
		}
		env.Send(from, backoffClear(m))
	case backoffClear:
		if b.ours(env, backoffAttempt(m)) && b.awaiting.Remove(from) && b.awaiting.Empty() {
			env.StopTimer(missingAnswer)
			env.Grant()
		}
	case backoffJam:
		// A peer that answered an attempt with CLEAR may answer a copy of it with JAM; the CLEAR counts.
		if b.ours(env, backoffAttempt(m)) && b.awaiting.Has(from) {
			b.giveUp(env)
		}
	default:
		nodes.Unexpected(b, m)
	}
}

// ours reports whether an answer is to our latest attempt. Once that is given up nobody is awaited.
func (b *backoff) ours(env *nodes.Env, m backoffAttempt) bool {
	return m.Life == env.Incarnation() && m.Number == b.number
}

// giveUp ends our attempt, after a collision. The next follows after a random time.
func (b *backoff) giveUp(env *nodes.Env) {
	env.StopTimer(missingAnswer)
	b.busy = false
	b.awaiting = nodes.Set{}
	longest := b.slot << min(b.failed, mostDoublings)
	b.failed++
	env.SetTimer(nextAttempt, 0, longest)
}

func (b *backoff) Timeout(env *nodes.Env, t nodes.Timer) {
	switch t {
	case nextAttempt:
		b.attempt(env)
	case missingAnswer:
		for peer := range b.awaiting.All() {
			env.Resend(peer, backoffAttempt{env.Incarnation(), b.number})
		}
		env.SetTimer(missingAnswer, b.retry, b.retry)
	}
}

// WaitsFor names the peers that have yet to answer; none while the next attempt is put off.
func (b *backoff) WaitsFor() nodes.Set { return b.awaiting.Clone() }
