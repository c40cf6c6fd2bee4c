package mutex

import (
	"fmt"
	"slices"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var centralFailoverAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "central-failover",
		New: func(c nodes.Config) nodes.Machine {
			return &failover{census: newCensus[failoverReport](c), follower: newFollower(c),
				calls: c.Value(callsOption) == "request"}
		},
		Coordinator: centralInsideAlgorithm.Coordinator,
		Edges:       centralInsideAlgorithm.Edges,
		Timers:      []nodes.TimerName{{Kind: failoverTick.Kind, Name: "repeat"}, censusTimerName},
		Messages: slices.Concat([]nodes.MessageKind{{Zero: failoverRequest{}},
			{Zero: failoverGrant{}, Permit: true}, {Zero: failoverRelease{}}, {Zero: failoverEpoch{}}},
			censusKinds[failoverReport]()),
		Options: []nodes.Option{retryOfQueue, callsOption},
		Detects: "heartbeat",
		Fenced:  true,
		Follows: true,
		Safe:    nodes.PerfectDetector,
		// A client that has lost its promise asks the others for it, which fails if most forget at once.
		Live:  nodes.Majority | nodes.NoAmnesia,
		Grace: func(c nodes.Config) time.Duration { return 8 * c.Duration(retryOption) },
	},
	Aliases: []string{"failover"}, Family: "centralized",
	Source: "after Temple University, CIS 307, Mutual Exclusion and Elections in Distributed Systems " +
		"(lecture notes), whose new manager learns from all processes what state they are in; with epochs " +
		"and majorities after Lamport, The part-time parliament, ACM TOCS 16(2), 1998",
	Summary: "As central-inside, but another client takes over from a suspected coordinator: it asks the " +
		"others whether they are inside or wait, and needs a majority and all that it does not suspect.",
	Mutex: &algorithm.Exclusion{
		Epochs:     epochsOf("coordinator"),
		Minority:   minorityWaits,
		Cost:       centralInsideAlgorithm.Mutex.Cost,
		Exact:      centralInsideAlgorithm.Mutex.Exact,
		Identities: centralInsideAlgorithm.Mutex.Identities,
		Bypass:     peers, // a client is skipped while it is suspected, even if wrongly
		Fair:       undisturbed,
	},
	Published: centralInsideAlgorithm.Published,
	Faults: withCensus(
		under(recovers, "the next coordinator learns from the others whether they are inside or wait (Temple "+
			"University, CIS 307, lecture notes)", "dead-coordinator", "empty-coordinator"),
		under(recovers, "requests, grants and releases are sent again", "lost-request",
			"lost-reply")),
}

// failover is the central algorithm with the coordinator among the clients. Another client takes over when
// the coordinator is suspected. In the words of the lecture notes of Temple University, "each process knows
// its own state at the time of the failure and can communicate it to the new manager".
//
// The coordinator of epoch e is client e modulo N. In epoch 0 it serves from the start. When it is
// suspected, the lowest client that is not (see candidate) begins a census, by which it takes an epoch of
// its own. Each client reports whether it is inside or waits, and under which number, and promises to ignore
// lower epochs. When the census is complete, the candidate serves. A client inside holds the grant. Waiting
// clients are queued by the highest fence number that each had seen when it asked, so that longer waits come
// first. Clients that could not answer are asked later. A coordinator that hears of a higher epoch serves no
// more, and a sender in a lower epoch is told of the higher. Within an epoch, all is as in central-queued:
// what may be lost is repeated, and the grant of a suspected client is taken back.
//
// Mutual exclusion, with a perfect failure detector: within an epoch it holds as in central-queued. When an
// epoch is complete, no live client heeds a grant of a lower one (see census). A client that had entered by
// such a grant was asked and said so, unless it has left or is down. The resource is granted again when it
// has left or crashed. If the detector is wrong, two may be inside: a client may have been suspected and so
// not asked, or its grant taken back. A resource that demands fence numbers refuses that client, even if the
// detector is wrong: fence numbers rise with epochs, and no epoch is completed twice, so grants are numbered
// in the order in which they were made. Nothing else is needed: lost, late or doubled messages and clients
// that restart without memory do no harm.
//
// Progress: once the detector is right and a majority is up, the lowest live client, and no other, begins a
// census unless the coordinator serves; each message is repeated until it has had its effect. In a minority
// no census is complete, and a coordinator that suspects half of the clients grants no more.
type failover struct {
	census[failoverReport]
	follower
	grantQueue        // used by the coordinator
	serving    bool   // we are the coordinator
	lowest     bool   // we serve without waiting for a census
	calls      bool   // a request of ours that waits too long calls an election, and suspicions do not
	number     uint64 // of our latest request
	state      nodes.ClientState
	stamp      uint64 // the highest fence number that we had seen when we asked
	fence      uint64 // the highest fence number that we have seen
	ticking    bool
	waited     uint64 // the number of our latest request at the last tick
	granted    uint64 // the serial of the latest grant at the last tick
}

type (
	failoverRequest struct{ Epoch, Number uint64 }        // asks to enter
	failoverGrant   struct{ Epoch, Number, Fence uint64 } // permits request Number
	failoverRelease struct{ Epoch, Number uint64 }        // the sender uses no grant of a request up to Number
	failoverEpoch   struct{ Epoch uint64 }                // there is a higher epoch
	failoverReport  struct {                              // what a client says in a census
		State         uint8 // a nodes.ClientState
		Number, Stamp uint64
	}
)

// failoverTick, once set, runs on while there is something to repeat.
var failoverTick = nodes.Timer{Kind: 1}

// coordinator returns the coordinator of our epoch.
func (f *failover) coordinator() nodes.ID { return nodes.ID(f.epoch % uint64(len(f.reports))) }

// candidate returns the client that should coordinate if the coordinator is suspected: the leader, or the
// lowest client that is not suspected; None: nobody leads.
func (f *failover) candidate() (id nodes.ID) {
	if f.follows {
		return f.leader
	}
	for f.suspected.Has(id) {
		id++
	}
	return id
}

func (f *failover) Start(env *nodes.Env) {
	f.start(env)
	if f.grantQueue = grantQueueOf(env.N()); f.coordinator() == env.Self() {
		f.serving, f.answered = true, nodes.Everyone(env.N())
	}
	f.campaign(env)
}

// Lead implements nodes.Led: the leader is to coordinate. A request that was not granted while nobody led is
// repeated.
func (f *failover) Lead(env *nodes.Env, leader nodes.ID, _ uint64) {
	if f.leader = leader; !f.follows || leader == nodes.None {
		return
	}
	if leader == env.Self() {
		f.takeOver(env)
	}
	f.request(env, env.Resend)
}

// Recover ends all requests and grants of earlier incarnations.
func (f *failover) Recover(env *nodes.Env, saved nodes.Message) {
	f.number = firstNumber(env)
	f.recover(env, saved)
	f.takeOver(env)
}

func (f *failover) Request(env *nodes.Env) {
	f.number++
	f.state, f.stamp = nodes.Waiting, f.fence
	f.request(env, env.Send)
}

// request asks the coordinator, by Send or Resend. If that is suspected, it asks the candidate, which may
// not know of the epoch.
func (f *failover) request(env *nodes.Env, send func(nodes.ID, nodes.Message)) {
	if f.state != nodes.Waiting || f.joining {
		return
	}
	to := f.coordinator()
	if f.suspected.Has(to) {
		to = f.candidate()
	}
	if to == nodes.None {
		f.tick(env)
		return
	}
	if send(to, failoverRequest{f.epoch, f.number}); to != env.Self() {
		f.tick(env)
	}
}

func (f *failover) Release(env *nodes.Env) {
	f.state = nodes.Idle
	env.Send(f.coordinator(), failoverRelease{f.epoch, f.number})
}

// report returns our report for a census.
func (f *failover) report() failoverReport {
	return failoverReport{uint8(f.state), f.number, f.stamp}
}

// takeOver begins a census if it is our turn.
func (f *failover) takeOver(env *nodes.Env) {
	us := f.coordinator() == env.Self()
	switch {
	case f.joining || f.open || f.serving:
	case !f.leads(env):
	case us || f.follows || f.suspected.Has(f.coordinator()) && f.candidate() == env.Self():
		f.anew(env)
	}
}

// anew begins a census for a new epoch.
func (f *failover) anew(env *nodes.Env) {
	f.serving = false
	if f.begin(env, f.report()) || f.lowest {
		f.serve(env)
	}
}

// turn acts on a new epoch of another client. reported says that its coordinator knows of our request from
// our report.
func (f *failover) turn(env *nodes.Env, reported bool) {
	f.serving = false
	if !reported {
		f.request(env, env.Resend)
	} else if f.state == nodes.Waiting {
		f.tick(env)
	}
	f.takeOver(env)
}

// heeds reports whether a message of an epoch counts. Its sender is told of ours if that is higher.
func (f *failover) heeds(env *nodes.Env, from nodes.ID, epoch uint64) bool {
	switch {
	case f.joining:
		return false
	case epoch < f.epoch:
		env.Send(from, failoverEpoch{f.epoch})
		return false
	case f.raise(env, epoch):
		f.turn(env, false)
	}
	return epoch == f.epoch
}

func (f *failover) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case failoverRequest:
		if f.heeds(env, from, m.Epoch) {
			f.asks(env, from, m.Number)
		}
	case failoverGrant:
		if f.heeds(env, from, m.Epoch) {
			f.enter(env, from, m)
		}
	case failoverRelease:
		if f.heeds(env, from, m.Epoch) {
			f.leaves(env, from, m.Number)
		}
	case failoverEpoch:
		if m.Epoch > f.epoch {
			f.heeds(env, from, m.Epoch)
		}
	case censusAsk:
		if own := f.report(); f.answer(env, from, m, own) {
			f.turn(env, true)
		}
	case censusAnswer[failoverReport]:
		f.told(env, from, m)
	default:
		nodes.Unexpected(f, m)
	}
}

// told takes an answer to our census or to our joining, or one of a client that we could not ask before.
func (f *failover) told(env *nodes.Env, from nodes.ID, m censusAnswer[failoverReport]) {
	epoch, joining := f.epoch, f.joining
	complete := f.hear(env, from, m)
	switch {
	case complete && !f.serving:
		f.serve(env)
	case f.epoch > epoch && !joining, joining && !f.joining:
		f.turn(env, false)
	case f.serving && m.Epoch == f.epoch && m.Life == env.Incarnation():
		f.answered.Add(from)
		f.note(from, m.Report)
		f.next(env)
	}
}

// enter takes a grant, and gives it back if we have no use for it.
func (f *failover) enter(env *nodes.Env, from nodes.ID, m failoverGrant) {
	f.fence = max(f.fence, m.Fence)
	switch {
	case m.Number != f.number || f.state == nodes.Idle:
		env.Resend(from, failoverRelease{f.epoch, m.Number})
	case f.follows && f.leader == nodes.None: // nobody enters during an election; the grant is repeated
	case f.state == nodes.Waiting:
		f.state = nodes.Inside
		env.GrantFenced(m.Fence)
	}
}

// tick starts the timer unless it runs.
func (f *failover) tick(env *nodes.Env) {
	if !f.ticking {
		f.ticking = true
		env.SetTimer(failoverTick, f.retry, f.retry+f.retry/4)
	}
}

func (f *failover) Timeout(env *nodes.Env, t nodes.Timer) {
	if t == censusTimer {
		f.again(env)
		return
	}
	f.ticking = false
	if f.waited == f.number {
		if f.calls && f.state == nodes.Waiting {
			f.campaign(env)
		}
		f.request(env, env.Resend)
	} else if f.waited = f.number; f.state == nodes.Waiting {
		f.tick(env)
	}
	if f.serving {
		f.remind(env)
	}
}

func (f *failover) Suspect(env *nodes.Env, peer nodes.ID) {
	joining := f.joining
	complete := f.suspect(env, peer)
	if peer == f.coordinator() && !f.calls {
		f.campaign(env)
	}
	switch {
	case complete && !f.serving:
		f.serve(env)
	case joining && !f.joining:
		f.turn(env, false)
	case f.serving:
		f.takeBack(peer)
		f.next(env)
	default:
		f.takeOver(env)
	}
}

func (f *failover) Trust(env *nodes.Env, peer nodes.ID) {
	f.trust(env, peer)
	switch {
	case f.serving:
		f.next(env)
		f.tick(env)
	case peer == f.coordinator():
		f.request(env, env.Resend)
	default:
		f.takeOver(env)
	}
}

// Standing tells whether we join, take a census, or suspect the coordinator.
func (f *failover) Standing() string {
	switch {
	case f.joining:
		return "is up again, and asks what it has missed"
	case f.open:
		return "asks what the others do, to take over"
	case f.suspected.Has(f.coordinator()):
		return fmt.Sprintf("suspects the coordinator, node %d", f.coordinator())
	}
	return ""
}

// WaitsFor names the coordinator. Its LentTo names the client inside.
func (f *failover) WaitsFor() nodes.Set { return nodes.SetOf(f.coordinator()) }
