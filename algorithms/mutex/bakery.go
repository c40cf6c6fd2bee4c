package mutex

import (
	"fmt"
	"time"

	"turnstile/algorithms/register"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var bakeryAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "bakery",
		New: func(c nodes.Config) nodes.Machine {
			if priorityOf(c) != byStamp {
				return newBakeryRanked(c)
			}
			return newBakery(c)
		},
		Messages: []nodes.MessageKind{{Zero: register.Read{}, Broadcast: true},
			{Zero: register.Value{}, Permit: true}, {Zero: register.Gather{}},
			{Zero: register.Merged{}, Permit: true}},
		Timers: []nodes.TimerName{{Kind: bakeryReread.Kind, Name: "reread"},
			{Kind: bakeryRetry.Kind, Name: "retry"}},
		Options: []nodes.Option{readsOption, rereadOption, bakeryPriority, bakeryGiveUp, bakeryRetryOption},
		Live:    nodes.NoLoss,
		Besides: bakeryBesides,
		Grace:   bakeryGrace,
	},
	Aliases: []string{"lamport-bakery"}, Family: "registers",
	Source: "Lamport, A new solution of Dijkstra's concurrent programming problem, CACM 17(8), 1974, over " +
		"messages as by Jones, Mutual exclusion in distributed systems, notes of 22C:116, University of Iowa, 2002",
	Summary: "A node reads the numbers of all and takes a higher one; it waits until nobody is taking one, " +
		"and then until nobody has a lower one.",
	Mutex: &algorithm.Exclusion{
		Cost: bakeryCost,
		// A peer that begins to take a number once a node has its own takes a higher one. So each peer enters
		// at most once before the node, with a number that it had by then, or was about to take.
		Bypass: ofStamps,
		Identities: []algorithm.Identity{
			unranked(readsOfAll(3), readsOfAll(2)),
			counts("value = read"),
			counts("merged = gather"),
		},
	},
	Published: append([]algorithm.Claim{
		{Figure: algorithm.PublishesPerEntry, Source: "Jones: a broadcast reads all", Load: "sequential",
			Multicast: true, Value: formula(func(n float64) float64 { return 3 + 3*(n-1) })},
		{Figure: algorithm.ClientDelayHops, Source: "three reads of all, one after the other", Load: "sequential",
			Sizes: nine, Value: exactly(6)},
		{Figure: algorithm.ClientDelayHops, Source: "3(N-1) reads, one after the other", Load: "sequential",
			Sizes: nine, Options: map[string]string{readsOption.Name: oneByOne},
			Value: formula(func(n float64) float64 { return 6 * (n - 1) })},
		{Figure: algorithm.ClientDelayHops, Source: "Jones: three reads along a tree, 2 for each of its levels",
			Load: "sequential", Sizes: nine, Options: map[string]string{readsOption.Name: byTree},
			Value: func(c nodes.Config) algorithm.Range {
				return algorithm.Exactly(float64(6 * depth(binaryTree,
					c.N)))
			}},
		{Figure: algorithm.MessagesPerEntry, Source: "with other priorities, two reads of each peer",
			Load:    "sequential",
			Options: map[string]string{priorityOption.Name: priorityOption.Values[byFewest]},
			Value:   formula(func(n float64) float64 { return 4 * (n - 1) })},
	}, threeReads(together, oneByOne, byTree, byLine)...),
	Faults: bakeryFaults,
}

// bakeryFaults are the cells of the bakery.
var bakeryFaults = withoutTimeouts(
	under(blocks, "every entry reads the variables of all, and the dead node answers nothing (Jones, notes of "+
		"22C:116, 2002, takes it for failed: so does --give-up)", "dead-idle", "dead-waiter", "dead-holder"),
	under(recovers, "no node acts on silence, so the others wait until it goes on; with --give-up they enter "+
		"beside it, which is outside its model then", "stopped-holder"),
	under(blocks, "a read that is not answered is not sent again, and every entry needs one of each peer",
		"lost-reply"),
	under(recovers, "at any clock rate, a variable is read again in the end", "skewed-clocks"),
	under(blocks, "a node that comes up again is outside, with its hand down and the number 0; but reads "+
		"of it while it was down are not answered", "each-in-turn", "restarts", "amnesia"),
	under(recovers|blocks, "as restarts (B), or nothing was read of it while it was down (L)", "empty-restarts"),
)

// bakery is the algorithm of L. Lamport, "A new solution of Dijkstra's concurrent programming problem", CACM
// 17(8), 1974, over messages as D. W. Jones describes it: each node serves its own two variables.
//
// To enter, a node raises its hand (choosing), takes a number one higher than all that it has read, and
// lowers its hand. Then it waits for each peer until the peer's hand is down, and after that until the peer's
// number is 0 or comes after ours: the lower number comes first, and IDs break ties. To leave, it sets its
// number to 0.
//
// Mutual exclusion: once i has passed j, the number of i comes before any number that j has until i leaves.
// Node i saw j's hand down after it had taken its own number, and after that it saw j's number. If j still
// has the number that i saw, that comes after i's. If it has taken another since, it raised its hand for that
// after i saw the hand down, so it read i's number and took a higher one. If both were inside, each would
// come before the other.
//
// A waiting node reads again after some time. All reads of a wait have one tag, so a late answer counts: one
// answer that does not keep the node waiting is enough to pass a peer. The node reads only the last of the
// peers ahead: when that peer has left, the others most often have too, and all of them are read once more.
// A node may wait for its peers in any order.
//
// A node that comes up again after a crash begins with its hand down and the number 0, as if it had left. It
// reads everything anew, under tags that no earlier answer has.
type bakery struct {
	reads  string
	reread time.Duration
	own    register.Memory // the variables bakeryChoosing and bakeryNumber
	client register.Client
	merges register.Merges // the reads of others along trees
	step   bakeryStep
	most   uint64   // the highest number seen while choosing
	peer   nodes.ID // one by one: the peer that is read; None: all at once
	asked  nodes.ID // the last peer ahead, if it alone was read again; None: all were
	some   bool     // along a tree: only the known peers ahead were read again
	ahead  []uint64 // by node: its number or raised hand that keeps us waiting; 0: none
	lacks  bakeryRule
	skipper
}

// A bakeryRule is a rule that a broken form of the bakery lacks.
type bakeryRule uint8

const (
	lacksNothing bakeryRule = iota
	lacksHands              // no hand is raised or awaited
	lacksTies               // a peer with an equal number does not come before us
)

// The variables of a node.
const (
	bakeryChoosing uint32 = iota // 1 while it takes a number
	bakeryNumber                 // 0 while it is outside
)

// A bakeryStep is what a node is doing.
type bakeryStep uint8

const (
	bakeryOutside bakeryStep = iota
	bakeryPicks              // reads all numbers, its hand raised
	bakeryHands              // waits until hands are down
	bakeryWaits              // waits for the peers ahead
	bakeryClaims             // claims to be first: only with a priority other than numbers
	bakeryInside
)

// bakeryReread is the timer of a node that waits.
var bakeryReread = nodes.Timer{}

func newBakery(c nodes.Config) *bakery {
	return &bakery{reads: c.Value(readsOption), reread: c.Duration(rereadOption), own: register.MemoryOf(2),
		ahead: make([]uint64, c.N), peer: nodes.None, asked: nodes.None, skipper: newSkipper(c)}
}

func (b *bakery) Request(env *nodes.Env) {
	if b.lacks != lacksHands {
		b.own.Set(bakeryChoosing, 1)
	}
	b.most = 0
	b.begin(env, bakeryPicks, b.first(env))
}

func (b *bakery) Release(*nodes.Env) {
	b.step = bakeryOutside
	b.own.Set(bakeryNumber, 0)
}

func (b *bakery) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	b.heard(from)
	switch m.(type) {
	case register.Read:
		b.own.Serve(env, from, m)
	case register.Value:
		if value, awaited := b.client.Take(from, m); awaited {
			b.see(env, from, value)
		}
	case register.Gather, register.Merged:
		b.merge(env, from, m)
	default:
		nodes.Unexpected(b, m)
	}
}

func (b *bakery) Timeout(env *nodes.Env, t nodes.Timer) {
	switch {
	case t == bakeryRetry:
		b.tryAgain(env)
		return
	case b.step == bakeryWaits && b.giveUp == 0: // with --give-up, all are read, to find all dead peers
		b.asked, b.some = b.last(), true
		b.read(env, b.asked)
	default:
		b.readAhead(env)
	}
	b.proceed(env)
}

// begin begins a step: it reads a variable of one peer, or of all.
func (b *bakery) begin(env *nodes.Env, step bakeryStep, peer nodes.ID) {
	b.step, b.peer, b.asked = step, peer, nodes.None
	b.client.Begin(env)
	if peer == nodes.None {
		b.readAll(env)
	} else {
		b.read(env, peer)
	}
	b.proceed(env)
}

// variable returns the variable that the step reads.
func (b *bakery) variable() uint32 {
	if b.step == bakeryHands {
		return bakeryChoosing
	}
	return bakeryNumber
}

// see records the value of a peer's variable.
func (b *bakery) see(env *nodes.Env, from nodes.ID, value uint64) {
	switch b.step {
	case bakeryPicks:
		b.most = max(b.most, value)
	case bakeryHands:
		b.ahead[from] = value
	case bakeryWaits:
		b.ahead[from] = 0
		if value != 0 && b.precedes(env, stamp{value, from}) {
			b.ahead[from] = value
		}
	}
	b.proceed(env)
}

// precedes reports whether the number of a peer comes before ours.
func (b *bakery) precedes(env *nodes.Env, number stamp) bool {
	ours := stamp{b.own.Get(bakeryNumber), env.Self()}
	if b.lacks == lacksTies {
		return number.Clock < ours.Clock
	}
	return number.before(ours)
}

// proceed goes on once all answers have come.
func (b *bakery) proceed(env *nodes.Env) {
	awaited := b.client.Awaited()
	if b.skipper.wait(env, awaited); awaited {
		return
	}
	switch last := b.last(); {
	case b.step == bakeryPicks:
		b.pick(env)
	case last == nodes.None && b.some && b.tree() != "":
		b.readAll(env) // a merged value may hide others that are ahead
	case last == nodes.None:
		b.passed(env)
	case b.asked != nodes.None && b.ahead[b.asked] == 0:
		b.readAhead(env)
		b.proceed(env)
	default:
		env.SetTimer(bakeryReread, b.reread, b.reread)
	}
}

// pick takes a number once all have been read.
func (b *bakery) pick(env *nodes.Env) {
	if b.peer != nodes.None {
		if next := b.after(env, b.peer); next != nodes.None {
			b.begin(env, bakeryPicks, next)
			return
		}
	}
	b.own.Set(bakeryNumber, b.most+1)
	b.own.Set(bakeryChoosing, 0)
	b.wait(env, b.first(env))
}

// wait begins to wait for one peer, or for all.
func (b *bakery) wait(env *nodes.Env, peer nodes.ID) {
	if b.lacks == lacksHands {
		b.begin(env, bakeryWaits, peer)
		return
	}
	b.begin(env, bakeryHands, peer)
}

// passed goes on once no peer that was read keeps us waiting.
func (b *bakery) passed(env *nodes.Env) {
	if b.step == bakeryHands {
		b.begin(env, bakeryWaits, b.peer)
		return
	}
	if b.peer != nodes.None {
		if next := b.after(env, b.peer); next != nodes.None {
			b.wait(env, next)
			return
		}
	}
	b.step = bakeryInside
	env.Grant()
}

// last returns the last of the peers that keep us waiting, or None.
func (b *bakery) last() nodes.ID {
	last := stamp{ID: nodes.None}
	for id, value := range b.ahead {
		if value != 0 && last.before(stamp{value, nodes.ID(id)}) {
			last = stamp{value, nodes.ID(id)}
		}
	}
	return last.ID
}

// readAhead reads all peers again that keep us waiting.
func (b *bakery) readAhead(env *nodes.Env) {
	b.asked, b.some = nodes.None, true
	for id, value := range b.ahead {
		if value != 0 {
			b.read(env, nodes.ID(id))
		}
	}
}

// WaitsFor names the peers that have yet to answer, and the peers ahead.
func (b *bakery) WaitsFor() nodes.Set {
	all := b.client.WaitsFor()
	for id, value := range b.ahead {
		if value != 0 {
			all.Add(nodes.ID(id))
		}
	}
	return all
}

// Standing tells the node's number.
func (b *bakery) Standing() string {
	switch b.step {
	case bakeryPicks:
		return "it takes a number"
	case bakeryHands, bakeryWaits:
		return fmt.Sprintf("it has the number %d", b.own.Get(bakeryNumber))
	}
	return ""
}
