package mutex

import (
	"math/bits"
	"slices"
	"time"

	"turnstile/algorithms/register"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var petersonAlgorithm = algorithm.Algorithm{
	Spec:    petersonSpec("peterson", newPeterson),
	Aliases: []string{"tournament"}, Family: "registers",
	Source: "Peterson, Myths about the mutual exclusion problem, Information Processing Letters 12(3), 1981, " +
		"for two; for more, a tournament as in Peterson and Fischer, STOC 1977",
	Summary: "In each match of a tournament tree a client raises its flag, then writes that it came last; " +
		"it wins once the other's flag is down or the other came last.",
	Mutex: petersonExclusion,
	Published: []algorithm.Claim{
		{Figure: algorithm.MessagesPerEntry, Source: "three writes and two reads a match, each answered",
			Load: "sequential", Sizes: []int{2, 4, 8, 16, 32}, Value: formula(func(n float64) float64 {
				return 10 * float64(bits.Len(uint(n))-1)
			})},
		{Figure: algorithm.ClientDelayHops, Source: "two writes and two reads a match, one after the other",
			Load: "sequential", Sizes: []int{8}, Value: exactly(24)},
	},
	Faults: petersonFaults,
}

// petersonSpec returns the Spec of a form of Peterson's algorithm.
func petersonSpec(name string, client func(nodes.Config) *peterson) nodes.Spec {
	return nodes.Spec{
		Name:    name,
		New:     func(c nodes.Config) nodes.Machine { return client(c) },
		Servers: func(nodes.Config) int { return 3 },
		Edges: func(c nodes.Config, _ nodes.ID) []nodes.ID {
			server := theServer(c)
			return []nodes.ID{server, server + 1, server + 2}
		},
		NewServer: func(c nodes.Config, _ nodes.ID) nodes.Machine {
			return &registerServer{register.MemoryOf(c.N)}
		},
		Messages: []nodes.MessageKind{{Zero: register.Read{}}, {Zero: register.Value{}, Permit: true},
			{Zero: register.Write{}}, {Zero: register.Written{}}},
		Timers:  []nodes.TimerName{{Kind: petersonReread.Kind, Name: "reread"}},
		Options: []nodes.Option{rereadOption},
		Safe:    nodes.NoAmnesia,
		Live:    nodes.NoLoss | nodes.NoCrash,
	}
}

// petersonExclusion has the published figures. A client that finds nobody else interested takes three writes
// and two reads in a match, all answered.
var petersonExclusion = &algorithm.Exclusion{
	Cost: func(c nodes.Config) algorithm.Cost {
		least, most := 10*matches(c, 0), 10*matches(c, nodes.ID(c.N-1))
		cost := always("(8 to 10) log2 N, plus 2 for each repeated read",
			algorithm.Between(float64(least), float64(most)), algorithm.Unbounded(2))
		// A client that reads that the other side is the last need not read whether that side is interested.
		cost.Saturated = algorithm.Unbounded(float64(least) / 10 * 8)
		cost.Any = cost.Saturated
		return cost
	},
	Exact: func(c nodes.Config, alone bool) algorithm.EntryCost {
		if !alone {
			return nil
		}
		return func(entrant nodes.ID) int { return 10 * matches(c, entrant) }
	},
	Identities: []algorithm.Identity{
		counts("value = read"),
		counts("written = write"),
	},
}

var petersonFaults = withoutTimeouts(
	under(recovers|starves|blocks, "a client that had withdrawn from all matches is not missed (L); in others "+
		"its side stays interested, and the other side waits for ever (P, or B if all play it there)",
		"dead-idle"),
	under(starves|blocks, "the side of the dead client stays interested, and a client that plays it waits for "+
		"ever (P, or B if all do)", "dead-waiter"),
	under(starves|blocks, "a client whose write or read is lost waits for ever, and so does any that plays its "+
		"side (P, or B if all do)", slices.Concat([]string{"lost-reply", "split-brain", "half-cut",
		"holder-in-minority", "holder-in-majority"}, losses)...),
	under(unhit, "clients send each other nothing, and reach the servers", "one-way", "bridge", "majority-ring"),
	under(recovers, "a client that comes up again asks again, plays the same matches, and withdraws from them",
		"each-in-turn", "restarts", "amnesia"),
	under(recovers|breaks, "as restarts (L), unless a write of its former life comes after a write of another "+
		"client of its side (X)", "empty-restarts"),
	under(recovers, "at any clock rate, a variable is read again in the end", "skewed-clocks"),
)

// matches returns how many matches a client has to win.
func matches(c nodes.Config, id nodes.ID) int { return bits.Len(uint(c.N+int(id))) - 1 }

// peterson is the algorithm of G. L. Peterson, "Myths about the mutual exclusion problem", Information
// Processing Letters 12(3), 1981, for two. Servers hold its shared variables: whether each side is
// interested, and which side was the last to say so.
//
// More than two play a tournament: the clients are the leaves of a binary tree, and its other nodes are
// matches between two sides. A client wins the matches on its way to the root one after the other, each by
// the algorithm for two. It is inside when it has won the match at the root. To leave, it withdraws from all
// of them, from the root on. So only one client of a side is in a match at a time.
//
// In a match a client writes that its side is interested and, when that is done, that its side is the last.
// It then reads which side is the last. If that is its own, it reads whether the other side is interested;
// if so, it reads both again after some time.
//
// Mutual exclusion: suppose that sides A and B have both won a match, and that A was the later one to write
// that it is the last. A then found itself the last, so it read that B was not interested. But B had written
// its interest before it wrote that B is the last, and that was before the write of A. So each write has to
// be done before the next is sent. A client waits for the acknowledgement, which is its fence; otherwise
// writes to two servers may be done in the other order.
//
// Nobody waits for ever at a match: a side that waits there passes as soon as the other comes again.
type peterson struct {
	reread    time.Duration
	reordered bool   // the last side is written before the interest
	buffered  bool   // it does not wait until writes are done
	match     uint32 // the number of the match in the tree: 1 is the root
	side      uint32 // ours in the match: 0 or 1
	client    register.Client
	step      petersonStep
	again     bool // our client has asked while we still withdrew
}

// The servers come after the clients. Each has a variable for each match.
const (
	petersonInterested = 0 // whether side 0 is interested; variable 1 is that of side 1
	petersonLast       = 2 // the number of the last side, from 1
)

// A petersonStep is what a client does.
type petersonStep uint8

const (
	petersonOutside petersonStep = iota
	petersonSays                 // writes that its side is interested
	petersonYields               // writes that its side is the last
	petersonLooks                // reads which side is the last
	petersonWatches              // reads whether the other side is interested
	petersonInside
	petersonWithdraws // writes that its side is not interested any more
)

// petersonReread is the timer of a client that waits.
var petersonReread = nodes.Timer{}

func newPeterson(c nodes.Config) *peterson { return &peterson{reread: c.Duration(rereadOption)} }

func (p *peterson) Request(env *nodes.Env) {
	if p.step == petersonWithdraws {
		p.again = true
		return
	}
	p.play(env, uint32(env.N())+uint32(env.Self()))
}

// play begins the match above a node of the tree, or enters above the root.
func (p *peterson) play(env *nodes.Env, below uint32) {
	p.match, p.side = below/2, below%2
	if p.match == 0 {
		p.step = petersonInside
		env.Grant()
		return
	}
	first, _ := p.order()
	p.do(env, first)
}

// order returns the two writes of a match in their order.
func (p *peterson) order() (first, second petersonStep) {
	if p.reordered {
		return petersonYields, petersonSays
	}
	return petersonSays, petersonYields
}

// do takes a step and sends its message, if any.
func (p *peterson) do(env *nodes.Env, step petersonStep) {
	p.step = step
	server := func(variable uint32) nodes.ID { return nodes.ID(env.N()) + nodes.ID(variable) }
	switch step {
	case petersonSays:
		p.client.Write(env, server(p.side), p.match, 1)
	case petersonYields:
		p.client.Write(env, server(petersonLast), p.match, uint64(p.side)+1)
	case petersonLooks:
		p.client.Read(env, server(petersonLast), p.match)
	case petersonWatches:
		p.client.Read(env, server(1-p.side), p.match)
	case petersonWithdraws:
		p.client.Write(env, server(p.side), p.match, 0)
	}
	if first, second := p.order(); p.buffered && (step == first || step == second) {
		p.written(env)
	}
}

// written goes on once a write is done.
func (p *peterson) written(env *nodes.Env) {
	switch first, second := p.order(); p.step {
	case first:
		p.do(env, second)
	case second:
		p.client.Begin(env)
		p.do(env, petersonLooks)
	case petersonWithdraws:
		p.withdraw(env)
	}
}

// read goes on once a variable is read.
func (p *peterson) read(env *nodes.Env, value uint64) {
	switch {
	case p.step == petersonLooks && value == uint64(p.side)+1:
		p.do(env, petersonWatches)
	case p.step == petersonWatches && value != 0:
		env.SetTimer(petersonReread, p.reread, p.reread)
	default:
		p.play(env, p.match)
	}
}

func (p *peterson) Timeout(env *nodes.Env, _ nodes.Timer) { p.do(env, petersonLooks) }

func (p *peterson) Release(env *nodes.Env) {
	p.match = 0
	p.withdraw(env)
}

// withdraw withdraws from the next match on the way down from the root. After the last match the client is
// outside.
func (p *peterson) withdraw(env *nodes.Env) {
	leaf := uint32(env.N()) + uint32(env.Self())
	depth := bits.Len32(p.match) // of the next match; the root has the depth 0
	if above := bits.Len32(leaf) - 1 - depth; above > 0 {
		p.match, p.side = leaf>>above, leaf>>(above-1)%2
		p.do(env, petersonWithdraws)
		return
	}
	p.step = petersonOutside
	if p.again {
		p.again = false
		p.Request(env)
	}
}

func (p *peterson) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m.(type) {
	case register.Value, register.Written:
	default:
		nodes.Unexpected(p, m)
	}
	value, awaited := p.client.Take(from, m)
	if !awaited {
		return
	}
	if _, ok := m.(register.Value); ok {
		p.read(env, value)
		return
	}
	p.written(env)
}

// WaitsFor names the server that has yet to answer. Only the servers know that a client waits for the other
// side of a match.
func (p *peterson) WaitsFor() nodes.Set { return p.client.WaitsFor() }

// A registerServer serves variables that it does not use itself.
type registerServer struct{ memory register.Memory }

func (r *registerServer) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if !r.memory.Serve(env, from, m) {
		nodes.Unexpected(r, m)
	}
}
