package mutex

import (
	"math/bits"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/row"
)

// A census is a node's part in censuses by epochs, by which an algorithm finds out what is left after a loss:
// of a token, of a coordinator. The epochs are numbers, 0 at first. A node that suspects a loss begins one:
// it takes a new epoch, above all that it has heard of, and asks all clients. Each answers with a report, and
// thereby promises to heed nothing of a lower epoch from then on. It saves the promise before it answers. The
// census is complete when a majority of the clients has answered, the asker among them, and everyone has whom
// the asker's failure detector does not suspect. Who hears of a higher epoch abandons its own census.
//
// It is the first phase of L. Lamport, "The part-time parliament", ACM TOCS 16(2), 1998, with the members of
// the view as well as a majority: what has to be found is held by one node, and not by a majority. What
// follows, as long as rows heed nothing of a lower epoch than c.epoch and nothing at all while c.joining:
//
//  1. No epoch is completed by two nodes, nor by one node twice: node i takes epochs i modulo N alone, each
//     above its promise, and counts answers to its present incarnation alone.
//  2. Of two epochs that were completed, some node has answered both, since majorities meet, and first the
//     lower one, by its promise. So once an epoch is complete, fewer than half of the clients can ever heed a
//     lower one, and who completes a higher one has heard, from the node that answered both, what that knew
//     of the lower one. Of two sides of a partition only one completes any.
//  3. With a perfect failure detector no node that is up heeds an epoch any more when a higher one is
//     complete: it has answered; or it was down, and has come up since.
//
// The last holds because who comes up again joins: it heeds nothing before all have answered it whom it does
// not suspect, and they answer only whom they do not suspect. So either the asker counts on its answer, or it
// tells of its promise. Both suspect each other only if each was down in the present life of the other.
//
// A node that has forgotten what it saved promises nothing until it has joined, and for that at least half of
// the clients must have answered beside it. Of any majority all but one node are as many as half, rounded
// down; so one that has answered is among them, and tells of the promise that was forgotten. That is the
// recovery of B. Liskov and J. Cowling, "Viewstamped replication revisited", MIT-CSAIL-TR-2012-021.
//
// Asks are repeated until they are answered, so messages may be lost, doubled and late.
type census[Report any] struct {
	epoch     uint64 // promised: nothing of a lower one is heeded
	open      bool   // we ask, in the epoch asked
	asked     uint64 // 0: we ask in order to join
	joining   bool   // we are up again, and take no part yet
	forgot    bool   // what we had promised
	answered  nodes.Set
	reports   []Report  // by node, of those that have answered
	suspected nodes.Set // by our failure detector
	retry     time.Duration
}

type (
	censusAsk struct { // asks for a report
		Epoch uint64 // to be promised; 0: none, the sender wants to join
		Life  uint32 // the incarnation of the sender
	}
	censusAnswer[Report any] struct { // answers it
		Epoch, Promised uint64 // that was asked for; that the sender has promised
		Life            uint32 // that was asked in
		Report          Report
	}
	censusPromise struct{ Epoch uint64 } // is saved
)

// censusKinds are the kinds of message that an algorithm with a census has besides its own.
func censusKinds[Report any]() []nodes.MessageKind {
	return []nodes.MessageKind{{Zero: censusAsk{}}, {Zero: censusAnswer[Report]{}}, {Zero: censusPromise{}}}
}

// censusTimer runs while an ask may have been lost. Its kind is none of the algorithms' own.
var censusTimer = nodes.Timer{Kind: 255}

var censusTimerName = nodes.TimerName{Kind: censusTimer.Kind, Name: "census"}

// retryOption is how long algorithms wait for an answer.
var retryOption = nodes.Option{Name: "retry", Default: "100ms",
	Usage: "how long a node waits for an answer before it asks again",
	Check: func(_ nodes.Config, value string) error {
		return row.CheckTime(value, time.Microsecond, time.Hour, "100ms")
	}}

// retryFor is the option of an algorithm that may have to wait so long for an answer though nothing is lost.
func retryFor(formula string, wait func(c nodes.Config, d nodes.Delays) time.Duration) nodes.Option {
	o := retryOption
	o.Bound = &nodes.TimeoutBound{Answer: formula, Answers: wait,
		Suits: func(c nodes.Config, d nodes.Delays) time.Duration { return min(wait(c, d)/4*5, time.Hour) }}
	return o
}

var (
	retryOfCensus = retryFor("2T", func(_ nodes.Config, d nodes.Delays) time.Duration { return 2 * d.Message })
	// A coordinator says at once who has to wait, and repeats its grant.
	retryOfGrant = retryFor("2T+hold",
		func(_ nodes.Config, d nodes.Delays) time.Duration { return 2*d.Message + d.Hold })
	// Whoever waits is not told so, and all others may come first.
	retryOfTurn  = retryFor("T+N(T+hold)", turn)
	retryOfQueue = retryFor("N(2T+hold)", queued)
)

// turn is how long a node may wait whom each other node lets in itself, when it leaves.
func turn(c nodes.Config, d nodes.Delays) time.Duration {
	if c.N == 1 {
		return 0
	}
	return d.Message + d.Round(c.N)
}

// queued is how long a node may wait if who leaves tells another, which lets in the next.
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

// start saves that nothing is promised, so that a node knows whether it has forgotten.
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
	c.raise(env, max(c.epoch, uint64(env.Incarnation()))) // nobody else knows what was promised
}

// begin takes a census, with our own report, and reports whether it is complete. It must not be called while
// one is open or the node is joining.
func (c *census[R]) begin(env *nodes.Env, own R) (complete bool) {
	n := uint64(env.N())
	next := c.epoch + 1
	next += (uint64(env.Self()) + n - next%n) % n // which is ours
	c.raise(env, next)
	c.ask(env, next)
	return c.count(env, env.Self(), own)
}

// ask opens a census, and asks everyone who may answer.
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

// wait has the timer run if an answer is missing.
func (c *census[R]) wait(env *nodes.Env) {
	if missing := c.missing(env); c.open && !missing.Empty() {
		env.SetTimer(censusTimer, c.retry, c.retry+c.retry/4)
	} else {
		env.StopTimer(censusTimer)
	}
}

// again asks those again that have not answered: the timer has run out.
func (c *census[R]) again(env *nodes.Env) {
	missing := c.missing(env)
	for peer := range missing.All() {
		env.Resend(peer, censusAsk{c.asked, env.Incarnation()})
	}
	c.wait(env)
}

// answer answers a peer with our report, and reports whether that promises a new epoch.
func (c *census[R]) answer(env *nodes.Env, from nodes.ID, m censusAsk, own R) (promised bool) {
	if c.forgot || m.Epoch == 0 && c.suspected.Has(from) {
		return false // it asks again
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

// count notes a report, and reports whether it completes a census.
func (c *census[R]) count(env *nodes.Env, from nodes.ID, report R) (complete bool) {
	c.answered.Add(from)
	c.reports[from] = report
	return c.close(env)
}

// raise heeds nothing of a lower epoch any more, and reports whether that is new.
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

// suspect hears of a suspicion, and reports whether it completes a census.
func (c *census[R]) suspect(env *nodes.Env, peer nodes.ID) (complete bool) {
	c.suspected.Add(peer)
	return c.open && c.close(env)
}

// trust hears that a suspicion is taken back, and asks whom it was of.
func (c *census[R]) trust(env *nodes.Env, peer nodes.ID) {
	if c.suspected.Remove(peer) && c.open && int(peer) < env.N() && !c.answered.Has(peer) {
		env.Send(peer, censusAsk{c.asked, env.Incarnation()})
		c.wait(env)
	}
}

// close ends what is open if all have answered who must, and reports whether that was a census.
func (c *census[R]) close(env *nodes.Env) (complete bool) {
	answers := c.answered.Len()
	missing := c.missing(env)
	switch {
	case !missing.Empty():
		return false
	case c.joining && c.forgot && 2*answers < env.N(), !c.joining && 2*answers <= env.N():
		return false // we wait until one that is suspected is trusted again
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

// minority reports whether so many are suspected that no census can be complete.
func (c *census[R]) minority(env *nodes.Env) bool {
	up := env.N()
	for id := range nodes.ID(env.N()) {
		if c.suspected.Has(id) {
			up--
		}
	}
	return 2*up <= env.N()
}

// No census is completed in a minority. Its nodes may go on with a token that they had when they were cut
// off, in the epoch of that; a retry makes up for what was on its way.
var minorityKeeps, minorityWaits = &row.Minority{Within: retryTime, Keeps: true},
	&row.Minority{Within: retryTime}

func retryTime(c nodes.Config) time.Duration { return 2 * c.Duration(retryOption) }

// fence returns the fence number of the serial-th entry of an epoch, from 1 to mostSerial. Fence numbers rise
// with the epoch, and within one with the serial. A thousand epochs of every node fit in.
func fence(n int, epoch, serial uint64) uint64 { return epoch<<serialBits(n) | serial }

// epochsOf are the epochs of fence numbers, in each of which there is one of what is named.
func epochsOf(one string) row.Epochs {
	return row.Epochs{One: one,
		Of: func(c nodes.Config, fence uint64) uint64 { return fence >> serialBits(c.N) }}
}

// mostSerial is how many entries an epoch may have: then it takes another one.
func mostSerial(n int) uint64 { return 1<<serialBits(n) - 1 }

func serialBits(n int) int {
	const epochs = 10 // bits, beside those of the node
	return min(20, bits.Len64(nodes.MostFence)-epochs-bits.Len(uint(n)))
}
