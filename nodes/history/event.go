package history

import (
	"fmt"

	"turnstile/nodes"
	"turnstile/nodes/port"
)

// A Kind says what an Event is.
type Kind uint8

// The events of nodes, and below them those of the orchestrator, whose node is nodes.None.
const (
	// Requested: the client requested its critical section. Value is when the request was due, Count how many
	// units of the resource it wants: usually 1, never 0.
	Requested Kind = iota + 1
	// Entered: the critical section has begun. Value is what the shared account held, Count how many
	// units were taken by the occupancy register, those of this entry included, and Fence the fence number
	// under which it has entered; 0 if the algorithm hands out none.
	Entered
	// Exited: the critical section is about to end. Value is what was written to the shared account. If Count
	// is not zero, the resource has refused that, since somebody had entered under a higher fence number; Value
	// is then what it held. Fence is what Worked returns.
	Exited
	// Revoked: the client has left without a Release, since its lease or epoch was lost. It has written
	// nothing; Value is what the shared account holds. Fence is as of Exited.
	Revoked
	// Unissued: an arrival was due at Value, but the client was still busy with an earlier one when
	// issuing ended. Count is how many units it would have wanted, of a resource that has several.
	Unissued
	// Sent: one message of kind Count was sent. Recorded only for algorithms that circulate.
	Sent
	// Elected: the machine has chosen a leader. Value is the term, Count the leader's ID, or NoLeader, which
	// is that of nodes.None.
	Elected
	// Crashed: the node is down. Its open requests are abandoned, its critical sections crashed. If Count is
	// not zero, it died while it changed the occupancy register by so many units, and nobody knows whether it
	// has.
	Crashed
	// Restarted: the node is up again. Count is how often it has come up before.
	Restarted

	// Marked: the run has come to the mark numbered Count.
	Marked
	// Gauged: the gauge numbered Count stood at Value.
	Gauged
	// Settled: the run came to rest after a single request of the node Count. Value is how many
	// messages that request took.
	Settled
	// AssumptionBroken: the assumptions Value, a set of nodes.Assumption, do not hold any more.
	AssumptionBroken
	// Paused: a process stands still, from outside, as after SIGSTOP. Count is the ID of its node, or Broker
	// or Orchestrator.
	Paused
	// Resumed: the process Count goes on.
	Resumed
	// FaultBegan: a fault that was asked for, numbered Count from 1, begins. Value is the assumptions that it
	// breaks, a set of nodes.Assumption, Entry its victim, plus one, if that has come out in the run, and
	// Fence how many nodes it has hit at once. Value also has the servers of a service that it has hit: see
	// ServersHit.
	FaultBegan
	// FaultHealed: the fault numbered Count is over. Value is how many messages it has hit.
	FaultHealed
	// Counted: when the event before it happened, the beginning or the end of a fault or a mark of a run with
	// faults, the nodes had sent Value messages (deliveries asked for), and Fence messages had been dropped.
	Counted

	// Disconnected: the node notices that it has lost its connection to the broker, for the Count-th time.
	// What it sends before it is Reconnected is lost.
	Disconnected
	// Reconnected: the node has a connection again, for the Count-th time, and its subscriptions are in
	// force.
	Reconnected
	// Suspected: the failure detector of the node suspects the node Count.
	Suspected
	// Trusted: it trusts the node Count again.
	Trusted

	// Killed: SIGKILL goes to the process of the node, at the request of the run. It may do more, until
	// Crashed.
	Killed
	// LinkBegan: the node has taken in the first message of a stream that it did not hear from its beginning,
	// or that follows another one: the messages on the link from the node Count in its incarnation Entry.
	// Value is the number of the message in the stream, Fence the number of the last that came in the stream
	// before.
	LinkBegan
	// MulticastBegan: the same of the multicasts of the node Count.
	MulticastBegan
	// Campaigned: the node brings an election about, as the workload says.
	Campaigned
	// Observed: whoever plays a schedule, and so sees the whole cluster at once, has seen Count of the node.
	Observed
	// ClockBound: from now on, the stamps of the node Count err by Value nanoseconds or less from those of the
	// orchestrator's clock. Fence is the number of the clock of its host, 0 for the orchestrator's, and Entry by
	// how many nanoseconds they err from those of other nodes by that clock; NoClock: the clock jumped. Recorded
	// where hosts have several clocks: a history without it has one.
	ClockBound

	// ToldLost: the lock has told the client that what it holds is lost, and the client goes on inside until an
	// event Exited. If it leaves at once, that is Revoked instead.
	ToldLost
	// TryRefused: the lock has refused the request of the client for now, which then waits on and makes it
	// again. Value is when this try was made.
	TryRefused
	// Breached: the foreign program of the node has broken what every program keeps, so that the run ends. Count
	// says how: see GrantedTwice. What it said is NodeLog.Last.
	Breached
	// ClockSet: the clock of the timers of the node's foreign program was set. Count is how many of these ran,
	// and Value how many the program had ever set.
	ClockSet
)

// Breaches of foreign programs.
const (
	GrantedTwice   = iota + 1 // it let its client in that was inside
	EnteredUnasked            // it let a client in that had not asked
	EndedItself               // its process ended, and nobody had killed it
)

// Subjects of Observed.
const (
	Quiet    = iota + 1 // no message is on its way, so every request is known to all who must see it
	Endless             // not all agree on a leader, and nothing that goes on could change that
	Together            // several lead, and have for too many ticks or nothing that goes on could change that
	Panicked            // the machine of the node gave up, or broke its contract
	// Unfenced: the client of the node has entered without a fence number that the resource demands, or under
	// the highest that another has entered under.
	Unfenced
	// Secluded: the client of the node has entered, and not because of a message, though its node suspects half
	// of the clients and has heard from no majority of them in this life.
	Secluded
)

// FaultEvent returns the event of the beginning or the end of a fault.
func FaultEvent(b port.FaultEvent) Event {
	if b.Healed {
		return Event{At: b.At, Kind: FaultHealed, Count: uint32(b.Number), Value: int64(b.Hits), Node: nodes.None}
	}
	e := Event{At: b.At, Kind: FaultBegan, Count: uint32(b.Number), Value: int64(b.Breaks),
		Entry: uint32(b.Victim + 1), Fence: uint64(b.Nodes), Node: nodes.None}
	for _, i := range b.Servers {
		e.HitServer(min(i, MaxServers-1))
	}
	return e
}

// HitServer has a fault that began hit a server of a service: see ServersHit.
func (e *Event) HitServer(i int) { e.Value |= 1 << (firstServer + i) }

// MaxServers is how many servers of a service are told apart in FaultBegan.
const MaxServers = 32

// firstServer is the bit of server 0 in the Value of FaultBegan, above all assumptions.
const firstServer = 16

// ServersHit returns the servers of a service that a fault has hit, given that it is FaultBegan.
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
	Broker       = ^uint32(0) - iota // NATS, if it is the run's own
	Orchestrator                     // which notices it when it goes on
	Proxies                          // between nodes and brokers
	firstBroker                      // of several: see BrokerAmong

	SecondBroker = ^uint32(0) - 128 // of the second network
	Resource     = ^uint32(0) - 129 // that nodes ask
	Servers      = ^uint32(0) - 130 // that has the servers of a service
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
	Stalled                // somebody waits and nothing moves; or, since anybody entered, Value messages have
)

// The gauges of a run.
const (
	BusyPPM    = iota + 1 // share of the machine's CPU time that was busy while measuring, in millionths
	ResidentKB            // the largest resident memory of a node process, in units of 1024 bytes
	ReadyUS               // from the first process started until all were ready, in microseconds
	BrokerPPM             // share of one CPU that the broker used while measuring, in millionths

	// Shares of what the run could use of the processors while measuring, in millionths.
	OwnPPM         // that nodes and orchestrator used
	BrokerSharePPM // that the broker used
	OthersPPM      // that others used

	ServerBytes // that clients and the servers of a service have exchanged while measuring
)

// An Event is one thing that happened.
type Event struct {
	At       int64  // nanoseconds since the run's zero
	Value    int64  // by Kind
	Fence    uint64 // by Kind
	Entry    uint32 // which of the node's requests this is about, from 1
	Count    uint32 // by Kind
	Instance uint16 // of the node
	Kind     Kind
	Node     nodes.ID // whose log it is in
}

// Refused reports whether the resource has refused what was to be written at an exit.
func (e *Event) Refused() bool { return e.Kind == Exited && e.Count != 0 }

// Worked returns how many steps of its work a client has done in a critical section that has ended, and how
// many of them others have spoilt: see workload.Stint.
func (e *Event) Worked() (done, spoilt uint32) {
	if e.Kind != Exited && e.Kind != Revoked {
		return 0, 0
	}
	return uint32(e.Fence >> 32), uint32(e.Fence)
}

// Work has the event say what Worked returns.
func (e *Event) Work(done, spoilt int) { e.Fence = uint64(done)<<32 | uint64(uint32(spoilt)) }

// A MessageRecord is one message in the trace of a log, which holds its latest messages.
type MessageRecord struct {
	At       int64    // nanoseconds since the run's zero
	Seq      uint32   // its number in its stream
	Node     nodes.ID // where it was seen
	Peer     nodes.ID // the other end; None for a multicast
	Instance uint16
	Kind     uint8 // index among the algorithm's kinds
	Sent     bool  // seen when it was sent, else when it was handled or lost
	Lost     bool  // it was lost on its way to the node. Recorded with all messages, and in schedules
	Asks     bool  // it is the first that the node sent for a request of its client
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
	Breached: "breached", ClockSet: "clock_set",
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

// CountName names the mark of an event that is Marked, as in began, the gauge, with its unit, of one that is
// Gauged, as in busy_ppm, or how a program broke the protocol of one that is Breached.
func (e *Event) CountName() string {
	switch e.Kind {
	case Gauged:
		return nameOf(gaugeNames[:], "gauge", e.Count)
	case Breached:
		return nameOf(breachNames[:], "breach", e.Count)
	}
	return nameOf(markNames[:], "mark", e.Count)
}

// nameOf returns the name of a number, or, of one that a later Turnstile may know, the number.
func nameOf(names []string, what string, number uint32) string {
	if number < uint32(len(names)) && names[number] != "" {
		return names[number]
	}
	return fmt.Sprintf("%s %d", what, number)
}

// BrokerAmong returns the number of a broker, as Paused and Resumed name it, among so many in the run: that
// of the only one is Broker.
func BrokerAmong(i, count int) uint32 {
	if count == 1 {
		return Broker
	}
	return firstBroker - uint32(i)
}

// mostNodes is more than a run has.
const mostNodes = 1 << 24

// ProcessName names a process that is no node, as Paused and Resumed do: broker, broker 1, orchestrator. It
// is empty for a node.
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
