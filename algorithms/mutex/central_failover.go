package mutex

import (
	"fmt"
	"slices"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/row"
)

var centralFailoverRow = row.Row{
	Spec: nodes.Spec{
		Name: "central-failover",
		New: func(c nodes.Config) nodes.Machine {
			return &failover{census: newCensus[failoverReport](c), follower: newFollower(c),
				calls: c.Value(callsOption) == "request"}
		},
		Coordinator: centralInsideRow.Coordinator,
		Timers:      []nodes.TimerName{{Kind: failoverTick.Kind, Name: "repeat"}, censusTimerName},
		Messages: slices.Concat([]nodes.MessageKind{{Zero: failoverRequest{}},
			{Zero: failoverGrant{}, Permit: true}, {Zero: failoverRelease{}}, {Zero: failoverEpoch{}}},
			censusKinds[failoverReport]()),
		Options: []nodes.Option{retryOfQueue, callsOption},
		Detects: "heartbeat",
		Fenced:  true,
		Follows: true,
		Safe:    nodes.PerfectDetector,
		// A client that forgets asks the others what it has promised: not so if most forget at once.
		Live:  nodes.Majority | nodes.NoAmnesia,
		Grace: func(c nodes.Config) time.Duration { return 8 * c.Duration(retryOption) },
	},
	Aliases: []string{"failover"}, Family: "centralized",
	Source: "after Temple University, CIS 307, Mutual Exclusion and Elections in Distributed Systems " +
		"(lecture notes), whose new manager learns from all processes what state they are in; with epochs " +
		"and majorities after Lamport, The part-time parliament, ACM TOCS 16(2), 1998",
	Summary: "As central-inside, but another client takes over from a coordinator that is suspected: it asks " +
		"the others who is inside and who waits, and needs a majority and all whom it does not suspect.",
	Mutex: &row.Exclusion{
		Epochs:     epochsOf("coordinator"),
		Minority:   minorityWaits,
		Cost:       centralInsideRow.Mutex.Cost,
		Exact:      centralInsideRow.Mutex.Exact,
		Identities: centralInsideRow.Mutex.Identities,
		Bypass:     peers, // who is suspected is skipped, even wrongly
		Fair:       undisturbed,
	},
	Published: centralInsideRow.Published,
	Faults: withCensus(
		under(recovers, "the next coordinator learns from the others who is inside and who waits (Temple "+
			"University, CIS 307, lecture notes)", "dead-coordinator", "empty-coordinator"),
		under(recovers, "requests, grants and releases are sent again", "lost-request",
			"lost-reply")),
}

// failover is the central algorithm by clients of which one is the coordinator, and the next one when that is
// suspected. As the lecture notes of Temple University have it, "each process knows its own state at the time
// of the failure and can communicate it to the new manager".
//
// The coordinator of epoch e is client e modulo N. In epoch 0 it serves from the start. When it is suspected,
// the lowest client that is not (see candidate) begins a census, by which it takes an epoch of its own. Each
// client reports whether it is inside, or waits, under which number, and promises to heed no lower epoch.
// When the census is complete, the candidate serves: who is inside holds the grant, and who waits is queued
// by the highest fence number that it had seen when it asked, so that who has waited for longer comes first.
// Who could not answer in the census is asked later. A coordinator that hears of a higher epoch serves no
// more, and who speaks in a lower one is told of the higher. Within an epoch, all is as in central-queued:
// what may be lost is repeated, and the grant of a client that is suspected is taken back.
//
// Mutual exclusion, with a perfect failure detector: within an epoch it holds as in central-queued. When an
// epoch is complete, no client that is up heeds a grant of a lower one (see census), and whoever had entered
// by one was asked and said so, unless it has left or is down. The resource is granted again when it has left
// or crashed. If the detector is wrong, two may be inside: one that was suspected and so not asked, or whose
// grant was taken back. A resource that demands fence numbers refuses that one then, whatever the detector
// says: fence numbers rise with epochs, no epoch is completed twice, and so grants are numbered in the order
// in which they were made. So both rest on nothing else; and neither messages that are lost, late or doubled
// nor clients that restart without memory do harm.
//
// Progress: once the detector is right and a majority is up, the lowest client that is up begins a census
// unless the coordinator serves, and nobody else does; each message is repeated until it has had its effect.
// In a minority no census is complete, and a coordinator that suspects half of the clients grants no more.
type failover struct {
	census[failoverReport]
	follower
	grantQueue        // of the coordinator
	serving    bool   // we are the coordinator
	lowest     bool   // we serve as soon as we are to, and ask nobody
	calls      bool   // a request of ours that waits too long calls an election, and no suspicion does
	number     uint64 // of our latest request
	state      nodes.ClientState
	stamp      uint64 // the highest fence number that we had seen when we asked
	fence      uint64 // the highest that we have seen
	ticking    bool
	waited     uint64 // our request at the last tick
	granted    uint64 // the serial of the latest grant at the last tick
}

type (
	failoverRequest struct{ Epoch, Number uint64 }        // asks to enter
	failoverGrant   struct{ Epoch, Number, Fence uint64 } // permits request Number
	failoverRelease struct{ Epoch, Number uint64 }        // uses no grant of a request up to Number
	failoverEpoch   struct{ Epoch uint64 }                // there is a higher epoch
	failoverReport  struct {                              // what a client says in a census
		State         uint8 // a nodes.ClientState
		Number, Stamp uint64
	}
)

// failoverTick runs on, once it is set, while there is something to repeat.
var failoverTick = nodes.Timer{Kind: 1}

// coordinator returns who coordinates our epoch.
func (f *failover) coordinator() nodes.ID { return nodes.ID(f.epoch % uint64(len(f.reports))) }

// candidate returns who should coordinate, now that the coordinator is suspected: the leader, or the lowest
// client that is not; None: nobody leads.
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

// Lead implements nodes.Led: the leader is to coordinate. What was not granted while nobody led is asked for
// again.
func (f *failover) Lead(env *nodes.Env, leader nodes.ID, _ uint64) {
	if f.leader = leader; !f.follows || leader == nodes.None {
		return
	}
	if leader == env.Self() {
		f.takeOver(env)
	}
	f.request(env, env.Resend)
}

// Recover uses no request or grant of an earlier incarnation any more.
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

// request asks the coordinator, by Send or Resend. If that is suspected, it asks who should take over, and
// may not know of the epoch.
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

// report is what we say in a census.
func (f *failover) report() failoverReport {
	return failoverReport{uint8(f.state), f.number, f.stamp}
}

// takeOver begins a census if that is ours to do.
func (f *failover) takeOver(env *nodes.Env) {
	us := f.coordinator() == env.Self()
	switch {
	case f.joining || f.open || f.serving:
	case !f.leads(env):
	case us || f.follows || f.suspected.Has(f.coordinator()) && f.candidate() == env.Self():
		f.anew(env)
	}
}

// anew takes a new epoch.
func (f *failover) anew(env *nodes.Env) {
	f.serving = false
	if f.begin(env, f.report()) || f.lowest {
		f.serve(env)
	}
}

// turn acts on an epoch that is not ours, and is new to us. Its coordinator knows of our request if we have
// reported it.
func (f *failover) turn(env *nodes.Env, reported bool) {
	f.serving = false
	if !reported {
		f.request(env, env.Resend)
	} else if f.state == nodes.Waiting {
		f.tick(env)
	}
	f.takeOver(env)
}

// heeds reports whether a message of an epoch is to be heeded. Its sender is told of ours if that is higher.
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

// told takes an answer: in a census of ours, to our wish to join, or of one whom we could not ask before.
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
	case f.follows && f.leader == nodes.None: // during an election nobody enters; the grant is repeated
	case f.state == nodes.Waiting:
		f.state = nodes.Inside
		env.GrantFenced(m.Fence)
	}
}

// tick has the timer run.
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

// Standing says what is known of a coordinator that does not answer.
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

// WaitsFor names the coordinator, whose permission is lent to whoever is inside.
func (f *failover) WaitsFor() nodes.Set { return nodes.SetOf(f.coordinator()) }
