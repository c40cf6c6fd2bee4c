package history

import (
	"fmt"
	"math"

	"turnstile/nodes"
	"turnstile/nodes/port"
)

// A Kind is the kind of an Event.
type Kind uint8

// The kinds. From Marked to Counted, and in ClockBound, Node is nodes.None: the orchestrator records them.
const (
	// Requested: the client requested its critical section. Value is when the request was due, Count how many
	// units of the resource it wants: usually 1, never 0.
	Requested Kind = iota + 1
	// Entered: the critical section has begun. Value is what the shared account held, Count how many units
	// were taken by the occupancy register, this entry included, and Fence the fence number of the grant; 0
	// if the algorithm hands out none.
	Entered
	// Exited: the critical section is about to end. Value is what was written to the shared account. If Count
	// is not 0, the resource refused the write, since another client had entered under a higher fence number;
	// Value is then what the account held. Fence is encoded by Work.
	Exited
	// Revoked: the client left without a Release, since its lease or epoch was lost. It wrote nothing; Value
	// is what the shared account holds. Fence is encoded by Work.
	Revoked
	// Unissued: a request was due at Value, but the client was still busy with an earlier one when issuing
	// ended. Count is how many units it would have wanted, of a resource that has several.
	Unissued
	// Sent: one message of kind Count was sent. Recorded only for algorithms whose messages circulate.
	Sent
	// Elected: the machine has chosen a leader. Value is the term, Count the leader's ID, or NoLeader.
	Elected
	// Crashed: the node is down. Its open requests are abandoned, its critical sections crashed. If Count is
	// not 0, it died while it changed the occupancy register by so many units; whether the register changed is
	// unknown.
	Crashed
	// Restarted: the node is up again. Count is how often it has restarted.
	Restarted

	// Marked: the run has reached the mark numbered Count.
	Marked
	// Gauged: the gauge numbered Count stood at Value.
	Gauged
	// Settled: the run came to rest after a single request of the node Count, which took Value messages.
	Settled
	// AssumptionBroken: the assumptions Value, a set of nodes.Assumption, are broken so far.
	AssumptionBroken
	// Paused: a process was stopped from outside, as by SIGSTOP. Count is the ID of its node, or Broker,
	// Orchestrator or another constant below.
	Paused
	// Resumed: the process Count goes on.
	Resumed
	// FaultBegan: the planned fault numbered Count, from 1, begins. Value is the set of nodes.Assumption that
	// it breaks, and of the servers that it hits (see ServersHit). Entry is its victim plus one, if the run
	// chose the victim, and Fence how many nodes the fault has hit at once.
	FaultBegan
	// FaultHealed: the fault numbered Count is over. Value is how many messages it has hit, Entry says when the
	// first (see FirstHit), and Fence is when that is over: see port.FaultEvent.Until.
	FaultHealed
	// Counted follows a FaultBegan, a FaultHealed or, in a run with faults, a Marked of the same time: by then
	// nodes had sent Value messages (deliveries asked for), and Fence messages had been dropped.
	Counted

	// Disconnected: the node notices that it lost its connection to the broker, for the Count-th time.
	// Messages that it sends before Reconnected are lost.
	Disconnected
	// Reconnected: the node has a connection again, for the Count-th time, and its subscriptions are in
	// force.
	Reconnected
	// Suspected: the failure detector of the node suspects the node Count.
	Suspected
	// Trusted: the failure detector of the node trusts the node Count again.
	Trusted

	// Killed: the orchestrator sends SIGKILL to the process of the node. The process may still act, until
	// Crashed. For Value in the journal, see Journal.
	Killed
	// LinkBegan: the node got its first message of a stream that the node Count sends in the incarnation Entry.
	// It missed the beginning of the stream, or had heard an earlier stream on this link. Value is the number
	// of the message in the stream, Fence the number of the last message of the stream before.
	LinkBegan
	// MulticastBegan: as LinkBegan, for the multicasts of the node Count.
	MulticastBegan
	// Campaigned: the workload told the node to campaign.
	Campaigned
	// Observed: the player of a schedule, which sees the whole cluster at once, has observed Count at the
	// node.
	Observed
	// ClockBound: from now on, stamps of the node Count differ from the orchestrator's clock by at most Value
	// nanoseconds. Fence is the number of the clock of its host, 0 for the orchestrator's, and Entry bounds
	// the error, in nanoseconds, against other nodes with that clock. NoClock: the clock jumped. Recorded
	// only if hosts have several clocks.
	ClockBound

	// ToldLost: the lock told the client that what it holds is lost, and the client goes on inside until
	// Exited. If it leaves at once, Revoked is recorded instead.
	ToldLost
	// TryRefused: the lock refused the request of the client for now, and the client will try again. Value is
	// when this try was made.
	TryRefused
	// Breached: the foreign program of the node broke the protocol, which ends the run. Count says how: see
	// GrantedTwice. NodeLog.Last is the last line of the program.
	Breached
	// ClockSet: the clock of the timers of the node's foreign program was set. Count is how many timers ran,
	// and Value how many the program had ever set. A clock that the program has read counts as such a timer.
	ClockSet
	// Lagged: the process handled timers or messages later than LateFrom after they were due: see Lag.
	Lagged
	// GaveUp: the client has ended its request without an entry, since it had waited for long.
	GaveUp
)

// Breaches by foreign programs.
const (
	GrantedTwice   = iota + 1 // it let in a client that was inside already
	EnteredUnasked            // it let in a client that had not asked
	EndedItself               // its process ended without being killed
)

// What the player of a schedule may observe: the Count of Observed.
const (
	Quiet    = iota + 1 // no message is on its way, so every request is known to all nodes that must see it
	Endless             // not all nodes agree on a leader, and that can never change
	Together            // several nodes lead, for too many ticks or for ever
	Panicked            // the machine of the node panicked
	// Unfenced: the client of the node entered without a fence number that the resource demands, or under a
	// lower one than the highest that has entered.
	Unfenced
	// Secluded: the client of the node entered, not because of a message, though its node suspects at least
	// half of the clients and has heard from no majority of them in this life.
	Secluded
)

// FaultEvent returns the event of the beginning or the end of a fault.
func FaultEvent(b port.FaultEvent) Event {
	if b.Healed {
		e := Event{At: b.At, Kind: FaultHealed, Count: uint32(b.Number), Value: int64(b.Hits),
			Fence: uint64(b.Until), Node: nodes.None}
		e.HitFirst(b.HitAt)
		return e
	}
	e := Event{At: b.At, Kind: FaultBegan, Count: uint32(b.Number), Value: int64(b.Breaks),
		Entry: uint32(b.Victim + 1), Fence: uint64(b.Nodes), Node: nodes.None}
	for _, i := range b.Servers {
		e.HitServer(min(i, MaxServers-1))
	}
	return e
}

// HitFirst records in a FaultHealed when the fault hit its first message; 0: unknown. Entry is how many
// microseconds before the heal that was, plus one.
func (e *Event) HitFirst(at int64) {
	if e.Entry = 0; at > 0 {
		e.Entry = uint32(min(max(0, e.At-at)/1000+1, math.MaxUint32))
	}
}

// FirstHit returns when a fault hit its first message; 0: unknown, or more than an hour before the heal. The
// event must be a FaultHealed.
func (e *Event) FirstHit() int64 {
	if e.Entry == 0 || e.Entry == math.MaxUint32 {
		return 0
	}
	return e.At - 1000*int64(e.Entry-1)
}

// HitServer records in a FaultBegan that the fault hit server i of a service: see ServersHit.
func (e *Event) HitServer(i int) { e.Value |= 1 << (firstServer + i) }

// MaxServers is how many servers of a service are told apart in FaultBegan.
const MaxServers = 32

// firstServer is the bit of server 0 in the Value of FaultBegan, above all assumptions.
const firstServer = 16

// ServersHit returns the servers of a service that a fault has hit. The event must be a FaultBegan.
func (e *Event) ServersHit() (all []int) {
	for i := range MaxServers {
		if e.Value&(1<<(firstServer+i)) != 0 {
			all = append(all, i)
		}
	}
	return all
}

// The processes of a run that are no nodes, as Paused and Resumed name them.
const (
	Broker       = ^uint32(0) - iota // the NATS broker, if it is the run's own
	Orchestrator                     // the orchestrator, which notices its own pause when it resumes
	Proxies                          // the proxies between nodes and brokers
	firstBroker                      // the first of several brokers: see BrokerAmong

	SecondBroker = ^uint32(0) - 128 // the broker of the second network
	Resource     = ^uint32(0) - 129 // the resource process
	Servers      = ^uint32(0) - 130 // the process with the servers of a service
)

// NoLeader is the Count of an Elected event without a leader.
const NoLeader = ^uint32(0)

// The marks of a run, in order.
const (
	Began       = iota + 1 // nodes start issuing requests
	Measuring              // the warm-up is over
	Stopped                // no request is issued any more
	Rested                 // every entry is over and every message has arrived
	Interrupted            // the run was ended from outside, or by the death of a process
	Stalled                // a client waits; Value: messages handled since the last entry, 0: nothing moves
)

// The gauges of a run.
const (
	BusyPPM    = iota + 1 // share of the machine's CPU time that was busy while measuring, in millionths
	ResidentKB            // the largest resident memory of a node process, in units of 1024 bytes
	ReadyUS               // time from the first process started until all were ready, in microseconds
	BrokerPPM             // share of one CPU that the broker used while measuring, in millionths

	// Shares of the processor time available to the run while measuring, in millionths.
	OwnPPM         // share used by nodes and orchestrator
	BrokerSharePPM // share used by the broker
	OthersPPM      // share used by other programs

	ServerBytes // bytes exchanged between clients and the servers of a service while measuring
)

// An Event is one event of a run.
type Event struct {
	At       int64  // nanoseconds since the run's zero
	Value    int64  // its meaning depends on Kind
	Fence    uint64 // its meaning depends on Kind
	Entry    uint32 // the number of the node's request that this is about, from 1
	Count    uint32 // its meaning depends on Kind
	Instance uint16 // the instance of the node
	Kind     Kind
	Node     nodes.ID // where it happened; nodes.None: it is an event of the run
}

// Refused reports whether the resource refused the write of an exit.
func (e *Event) Refused() bool { return e.Kind == Exited && e.Count != 0 }

// Worked returns how many steps of its work a client did in a critical section that has ended, and how many
// of them other clients spoilt: see workload.Stint.
func (e *Event) Worked() (done, spoilt uint32) {
	if e.Kind != Exited && e.Kind != Revoked {
		return 0, 0
	}
	return uint32(e.Fence >> 32), uint32(e.Fence)
}

// Work sets the two numbers that Worked returns.
func (e *Event) Work(done, spoilt int) { e.Fence = uint64(done)<<32 | uint64(uint32(spoilt)) }

// A MessageRecord is one message in the trace of a log, which holds its latest messages.
type MessageRecord struct {
	At       int64    // nanoseconds since the run's zero
	Seq      uint32   // its number in its stream
	Node     nodes.ID // the sender if Sent, otherwise the receiver
	Peer     nodes.ID // the other end; None for a multicast that was sent
	Instance uint16
	Kind     uint8 // index among the algorithm's kinds
	Sent     bool  // recorded when it was sent; otherwise when it was handled or lost
	Lost     bool  // it was lost on its way to the node; recorded only in schedules and full traces
	Asks     bool  // it is the first message that the node sent for a request of its client
}

var breachNames = [...]string{GrantedTwice: "granted_twice", EnteredUnasked: "entered_unasked",
	EndedItself: "ended_itself"}

var kindNames = [...]string{
	Requested: "requested", Entered: "entered", Exited: "exited", Revoked: "revoked", Unissued: "unissued",
	Sent: "sent", Elected: "elected", Crashed: "crashed", Restarted: "restarted", Marked: "marked",
	Gauged: "gauged", Settled: "settled", AssumptionBroken: "assumption_broken", Paused: "paused",
	Resumed: "resumed", FaultBegan: "fault_began", FaultHealed: "fault_healed", Counted: "counted",
	Disconnected: "disconnected", Reconnected: "reconnected", Suspected: "suspected", Trusted: "trusted",
	Killed: "killed", LinkBegan: "link_began", MulticastBegan: "multicast_began",
	Campaigned: "campaigned", Observed: "observed", ClockBound: "clock_bound",
	ToldLost: "told_lost", TryRefused: "try_refused",
	Breached: "breached", ClockSet: "clock_set", Lagged: "lagged", GaveUp: "gave_up",
}

var markNames = [...]string{
	Began: "began", Measuring: "measuring", Stopped: "stopped", Rested: "rested", Interrupted: "interrupted",
	Stalled: "stalled",
}

var gaugeNames = [...]string{
	BusyPPM: "busy_ppm", ResidentKB: "resident_kb", ReadyUS: "ready_us", BrokerPPM: "broker_ppm",
	OwnPPM: "own_ppm", BrokerSharePPM: "broker_share_ppm", OthersPPM: "others_ppm",
	ServerBytes: "server_bytes",
}

// String names the kind of event: requested, assumption_broken.
func (k Kind) String() string { return nameOf(kindNames[:], "kind", uint32(k)) }

// CountName names the Count of an event: the gauge of a Gauged, as in busy_ppm, the breach of a Breached, and
// otherwise the mark of a Marked, as in began.
func (e *Event) CountName() string {
	switch e.Kind {
	case Gauged:
		return nameOf(gaugeNames[:], "gauge", e.Count)
	case Breached:
		return nameOf(breachNames[:], "breach", e.Count)
	}
	return nameOf(markNames[:], "mark", e.Count)
}

// nameOf returns the name of a number or, if only a later Turnstile knows it, a text such as gauge 99.
func nameOf(names []string, what string, number uint32) string {
	if number < uint32(len(names)) && names[number] != "" {
		return names[number]
	}
	return fmt.Sprintf("%s %d", what, number)
}

// BrokerAmong returns the number of broker i, as Paused and Resumed name it, in a run with count brokers;
// Broker if it is the only one.
func BrokerAmong(i, count int) uint32 {
	if count == 1 {
		return Broker
	}
	return firstBroker - uint32(i)
}

// mostNodes is more nodes than a run has.
const mostNodes = 1 << 24

// ProcessName names a process that is no node, in Paused and Resumed: broker, broker 1, orchestrator. It is
// empty for a node.
func ProcessName(process uint32) string {
	switch {
	case process == Broker:
		return "broker"
	case process == Orchestrator:
		return "orchestrator"
	case process == Proxies:
		return "proxies"
	case process == SecondBroker:
		return "broker of the second network"
	case process == Resource:
		return "resource process"
	case process == Servers:
		return "process of the servers"
	case process > mostNodes:
		return fmt.Sprintf("broker %d", firstBroker-process)
	}
	return ""
}
