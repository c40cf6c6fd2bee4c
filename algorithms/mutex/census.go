package mutex

import (
	"math/bits"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// A census is a node's part in an algorithm's censuses. A census finds out what is left after the loss of a
// token or of a coordinator. The epochs are numbers, 0 at first. A node that suspects a loss begins a census:
// it takes a new epoch, above all that it has heard of, and asks all clients. Each answers with a report, and
// promises to ignore lower epochs from then on; it saves the promise before it answers. The census is
// complete when a majority of the clients has answered, the asker among them, and every client that the
// asker's failure detector does not suspect. A node that hears of a higher epoch abandons its own census.
//
// It is the first phase of L. Lamport, "The part-time parliament", ACM TOCS 16(2), 1998, but needs all
// unsuspected nodes as well as a majority: what has to be found is held by one node, not by a majority. The
// following holds as long as algorithms ignore messages of epochs below c.epoch, and all messages while
// c.joining:
//
//  1. No epoch is completed twice: node i takes only epochs equal to i modulo N, each above its promise, and
//     counts only answers to its present incarnation.
//  2. Some node has answered both of two completed epochs, since majorities meet, and the lower one first, by
//     its promise. So once an epoch is complete, fewer than half of the clients can ever heed a lower one.
//     The node that completes the higher one hears, from that node, what it knew of the lower one. Only one
//     of two sides of a partition can complete an epoch.
//  3. With a perfect failure detector no live node heeds an epoch any more when a higher one is complete: the
//     node has answered the higher one, or it was down and has come up since.
//
// Item 3 holds because a node that comes up again joins: it heeds nothing until all nodes that it does not
// suspect have answered, and they answer only nodes that they do not suspect. So either the asker of the
// census waits for its answer, or it hears of the asker's promise. Both suspect each other only if each was
// down in the present life of the other.
//
// A node that has lost its promise promises nothing until it has joined, which takes answers of at least half
// of the other clients. A majority that it was part of has at least N/2 other members, rounded down. So one
// of these has answered, and tells of the promise that was forgotten. That is the recovery of B. Liskov and
// J. Cowling, "Viewstamped replication revisited", MIT-CSAIL-TR-2012-021.
//
// Asks are repeated until they are answered, so messages may be lost, doubled and late.
type census[Report any] struct {
	epoch     uint64 // the promised epoch: lower ones are ignored
	open      bool   // our census, or our joining, goes on
	asked     uint64 // the epoch that we ask for; 0: we ask in order to join
	joining   bool   // we are up again, and take no part yet
	forgot    bool   // we have lost our promise
	answered  nodes.Set
	reports   []Report  // by node, if it has answered
	suspected nodes.Set // by our failure detector
	retry     time.Duration
}

type (
	censusAsk struct { // asks for a report
		Epoch uint64 // the epoch to promise; 0: the sender wants to join
		Life  uint32 // the incarnation of the sender
	}
	censusAnswer[Report any] struct { // answers a censusAsk
		Epoch, Promised uint64 // the epoch of the question; the epoch that the sender has promised
		Life            uint32 // the incarnation that asked
		Report          Report
	}
	censusPromise struct{ Epoch uint64 } // what a node saves
)

// censusKinds are the kinds of message that an algorithm with a census has besides its own.
func censusKinds[Report any]() []nodes.MessageKind {
	return []nodes.MessageKind{{Zero: censusAsk{}}, {Zero: censusAnswer[Report]{}}, {Zero: censusPromise{}}}
}

// censusTimer runs while an ask may have been lost. No algorithm uses its kind.
var censusTimer = nodes.Timer{Kind: 255}

var censusTimerName = nodes.TimerName{Kind: censusTimer.Kind, Name: "census"}

// retryOption is how long algorithms wait for an answer.
var retryOption = nodes.Option{Name: "retry", Default: "100ms",
	Usage: "how long a node waits for an answer before it asks again",
	Check: func(_ nodes.Config, value string) error {
		return algorithm.CheckTime(value, time.Microsecond, time.Hour, "100ms")
	},
	Shows: []nodes.Shown{{Value: "400ms", Than: "100ms", Figure: "wait", Least: 1.4, Most: 6,
		For:    3 * time.Second,
		Faults: []string{"loss: 10%"}}}}

// retryFor is retryOption for an algorithm that may wait for an answer as long as wait says, though nothing
// is lost.
func retryFor(formula string, wait func(c nodes.Config, d nodes.Delays) time.Duration) nodes.Option {
	o := retryOption
	o.Bound = &nodes.TimeoutBound{Answer: formula, Answers: wait,
		Suits: func(c nodes.Config, d nodes.Delays) time.Duration { return min(wait(c, d)/4*5, time.Hour) }}
	return o
}

var (
	retryOfCensus = retryFor("2T", func(_ nodes.Config, d nodes.Delays) time.Duration { return 2 * d.Message })
	// A coordinator tells a client at once that its request waits, and repeats its grant.
	retryOfGrant = retryFor("2T+hold",
		func(_ nodes.Config, d nodes.Delays) time.Duration { return 2*d.Message + d.Hold })
	// A node is not told that its request waits, and all others may come first.
	retryOfTurn  = retryFor("T+N(T+hold)", turn)
	retryOfQueue = retryFor("N(2T+hold)", queued)
)

// turn is how long a node may wait if each node that leaves lets in the next itself.
func turn(c nodes.Config, d nodes.Delays) time.Duration {
	if c.N == 1 {
		return 0
	}
	return d.Message + d.Round(c.N)
}

// queued is how long a node may wait if each node that leaves tells a third one, which lets in the next.
func queued(c nodes.Config, d nodes.Delays) time.Duration {
	if c.N == 1 {
		return 0
	}
	d.Message *= 2
	return d.Round(c.N)
}

func newCensus[Report any](c nodes.Config) census[Report] {
	return census[Report]{reports: make([]Report, c.N), retry: c.Duration(retryOption)}
}

// start saves an empty promise, so that a restarted node knows whether it has forgotten one.
func (c *census[R]) start(env *nodes.Env) { env.Save(censusPromise{}) }

// recover begins to join, after a crash.
func (c *census[R]) recover(env *nodes.Env, saved nodes.Message) {
	promise, ok := saved.(censusPromise)
	c.epoch, c.forgot = promise.Epoch, !ok
	if env.N() > 1 {
		c.joining = true
		c.ask(env, 0)
		return
	}
	c.forgot = false
	c.raise(env, max(c.epoch, uint64(env.Incarnation()))) // there is no other client that knows our promise
}

// begin begins a census, with our own report, and reports whether it is complete. It must not be called
// while one is open or the node is joining.
func (c *census[R]) begin(env *nodes.Env, own R) (complete bool) {
	n := uint64(env.N())
	next := c.epoch + 1
	next += (uint64(env.Self()) + n - next%n) % n // the next of our epochs
	c.raise(env, next)
	c.ask(env, next)
	return c.count(env, env.Self(), own)
}

// ask opens a census, and asks all peers that may answer.
func (c *census[R]) ask(env *nodes.Env, epoch uint64) {
	c.open, c.asked = true, epoch
	c.answered.Clear()
	missing := c.missing(env)
	for peer := range missing.All() {
		env.Send(peer, censusAsk{epoch, env.Incarnation()})
	}
	c.wait(env)
}

// missing returns the peers that have not answered and are not suspected.
func (c *census[R]) missing(env *nodes.Env) nodes.Set {
	peers := env.Peers()
	for id := range nodes.ID(env.N()) {
		if c.answered.Has(id) || c.suspected.Has(id) {
			peers.Remove(id)
		}
	}
	return peers
}

// wait runs the timer while an answer is missing.
func (c *census[R]) wait(env *nodes.Env) {
	if missing := c.missing(env); c.open && !missing.Empty() {
		env.SetTimer(censusTimer, c.retry, c.retry+c.retry/4)
	} else {
		env.StopTimer(censusTimer)
	}
}

// again asks the missing peers again: the timer has run out.
func (c *census[R]) again(env *nodes.Env) {
	missing := c.missing(env)
	for peer := range missing.All() {
		env.Resend(peer, censusAsk{c.asked, env.Incarnation()})
	}
	c.wait(env)
}

// answer answers a peer with our report, and reports whether the answer promises a new epoch.
func (c *census[R]) answer(env *nodes.Env, from nodes.ID, m censusAsk, own R) (promised bool) {
	if c.forgot || m.Epoch == 0 && c.suspected.Has(from) {
		return false // the peer asks again
	}
	promised = c.raise(env, m.Epoch)
	env.Send(from, censusAnswer[R]{m.Epoch, c.epoch, m.Life, own})
	return promised
}

// hear takes an answer, and reports whether it completes a census.
func (c *census[R]) hear(env *nodes.Env, from nodes.ID, m censusAnswer[R]) (complete bool) {
	if m.Life != env.Incarnation() {
		return false // asked before we went down
	}
	c.raise(env, m.Promised)
	return c.open && c.asked == m.Epoch && c.count(env, from, m.Report)
}

// count records a report, and reports whether it completes a census.
func (c *census[R]) count(env *nodes.Env, from nodes.ID, report R) (complete bool) {
	c.answered.Add(from)
	c.reports[from] = report
	return c.close(env)
}

// raise promises to ignore lower epochs, and reports whether that is new.
func (c *census[R]) raise(env *nodes.Env, epoch uint64) bool {
	if epoch <= c.epoch {
		return false
	}
	c.epoch = epoch
	if !c.forgot {
		env.Save(censusPromise{epoch})
	}
	if c.open && c.asked != 0 {
		c.open = false
		env.StopTimer(censusTimer)
	}
	return true
}

// suspect records a suspicion, and reports whether it completes a census.
func (c *census[R]) suspect(env *nodes.Env, peer nodes.ID) (complete bool) {
	c.suspected.Add(peer)
	return c.open && c.close(env)
}

// trust records that a suspicion is taken back, and asks that peer.
func (c *census[R]) trust(env *nodes.Env, peer nodes.ID) {
	if c.suspected.Remove(peer) && c.open && int(peer) < env.N() && !c.answered.Has(peer) {
		env.Send(peer, censusAsk{c.asked, env.Incarnation()})
		c.wait(env)
	}
}

// close ends a census or joining if all needed answers have come, and reports whether it was a census.
func (c *census[R]) close(env *nodes.Env) (complete bool) {
	answers := c.answered.Len()
	missing := c.missing(env)
	switch {
	case !missing.Empty():
		return false
	case c.joining && c.forgot && 2*answers < env.N(), !c.joining && 2*answers <= env.N():
		return false // wait until a suspected peer is trusted again
	}
	c.open = false
	env.StopTimer(censusTimer)
	if c.forgot {
		c.forgot = false
		env.Save(censusPromise{c.epoch})
	}
	complete = !c.joining
	c.joining = false
	return complete
}

// minority reports whether too many are suspected for a census to be complete.
func (c *census[R]) minority(env *nodes.Env) bool {
	up := env.N()
	for id := range nodes.ID(env.N()) {
		if c.suspected.Has(id) {
			up--
		}
	}
	return 2*up <= env.N()
}

// No census is completed in a minority. With minorityKeeps, nodes there may go on with a token that they had
// when they were cut off. Two retries allow for messages that are still on their way.
var minorityKeeps, minorityWaits = &algorithm.Minority{Within: retryTime, Keeps: true},
	&algorithm.Minority{Within: retryTime}

func retryTime(c nodes.Config) time.Duration { return 2 * c.Duration(retryOption) }

// fence returns the fence number of the serial-th entry of an epoch, from 1 to mostSerial. Fence numbers rise
// with the epoch, and within one with the serial. They have room for a thousand epochs of every node.
func fence(n int, epoch, serial uint64) uint64 { return epoch<<serialBits(n) | serial }

// epochsOf returns how to read the epoch from a fence number. An epoch has only one token, coordinator or
// view: the argument names it.
func epochsOf(one string) algorithm.Epochs {
	return algorithm.Epochs{One: one,
		Of: func(c nodes.Config, fence uint64) uint64 { return fence >> serialBits(c.N) }}
}

// mostSerial is how many entries an epoch may have before the next one is taken.
func mostSerial(n int) uint64 { return 1<<serialBits(n) - 1 }

func serialBits(n int) int {
	const epochs = 10 // bits of an epoch number, besides those for its node
	return min(20, bits.Len64(nodes.MostFence)-epochs-bits.Len(uint(n)))
}
