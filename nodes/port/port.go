// Package port is the interface between faults and clusters. A host implements Cluster; package chaos
// implements FaultDriver, Watcher and FaultTaker. Times are in the run's nanoseconds.
package port

import (
	"errors"
	"fmt"
	"time"

	"turnstile/nodes"
)

// A Role is what a member of a cluster does.
type Role uint8

// The roles.
const (
	Node   Role = iota // it runs the algorithm, or is a client of a service
	Broker             // it carries messages; the broker of a second network has the highest number
	Server             // it is a server of the service that the run is about
	Host               // a machine with its processes, or a group of nodes that stands for a machine
)

// String returns the role as plans write it.
func (r Role) String() string { return [...]string{"node", "broker", "server", "host"}[r] }

// A Member is a part of a cluster that faults can hit: a process, with the programs that it has started, or a
// host.
type Member struct {
	Role Role
	I    int // its number within the role, from 0
}

// String names the member for people.
func (m Member) String() string { return fmt.Sprintf("%v %d", m.Role, m.I) }

// NodeOf returns a node as a member.
func NodeOf(id nodes.ID) Member { return Member{Node, int(id)} }

// ID returns the number of a member that is a node, as algorithms know it.
func (m Member) ID() nodes.ID { return nodes.ID(m.I) }

// A Cluster carries out faults: on the world of a simulation, which has only nodes, or on the processes of a
// real run. A call returns when its effect is in force. It is an error if the cluster has no such member, or
// cannot do that to members of its role.
type Cluster interface {
	Now() int64

	// Up reports whether the process of a member is up, even if it is paused.
	Up(m Member) bool
	// Kill ends a process at once. What it has not saved and messages on their way to it are lost.
	Kill(m Member) error
	// Start restarts a killed process at its address, with what it has saved unless forget is set. It does
	// not wait until a server serves. For a node it records whether state is lost that its peers rely on, and
	// does nothing if the node is up. The error is ErrLater if the process could not connect yet, or is leaving.
	Start(m Member, forget bool) error
	// Stop pauses a process, also one that is paused already, and Continue resumes it.
	Stop(m Member) error
	Continue(m Member) error
	// SetClock moves the clock of a process ahead by jump, back if negative, and makes it run at rate; 1 is
	// right.
	SetClock(m Member, jump time.Duration, rate float64) error
	// Promote makes a replica or standby the primary, for good. The old primary is not told.
	Promote(m Member) error
	// Leave has a node, which is a client of a service, stop in order: its process ends by itself, later. The
	// node goes on with its work for the time linger after it has given up what it had in the service.
	Leave(m Member, linger time.Duration) error
	// Delete deletes the key of the lock of a node, which is a client of a service, and Expire ends the session
	// of the node there. The error is ErrNothing if the node has none. If it is known to be inside, a key that
	// names nobody is taken for its own.
	Delete(m Member, inside bool) error
	Expire(m Member) error

	// Strain puts a strain on connections, and Relieve ends it; number is the number of the fault. A connection
	// may be under several strains. Lost returns which answers a strain has lost.
	Strain(number int, s Strain) error
	Relieve(number int) error
	Lost(number int) (Lost, error)

	// Find returns the members that stand in a relation to another, as far as is known now.
	Find(r Relation, to Member) ([]Member, error)

	// Record records that a fault has begun, or is healed.
	Record(e FaultEvent) error
}

// ErrLater says that something cannot be done now, but may be later.
var ErrLater = errors.New("it could not connect now")

// ErrNothing says that there is nothing that a fault could hit.
var ErrNothing = errors.New("there is nothing to hit")

// A Relation is how members may relate to another member, or to the run.
type Relation uint8

// The relations.
const (
	// Leads: the server that leads or is the primary, by the servers' own answers; no member if no server
	// says so. Find takes at most a second for this, even if servers are paused, and ignores its second
	// argument. It is an error if the service has no notion of a leader.
	Leads Relation = iota
	// Answered: the server from which a node received its last bytes. It is an error if it has received none.
	Answered
	// Connected: the nodes that are up and connect to a broker.
	Connected
)

// A Strain disturbs connections, both ways. With only its Links set it cuts them silently: connections stay
// open, new ones are accepted but not answered, and all bytes are read and dropped. A connection that dropped
// bytes is closed when the strain ends, since TCP would have resent them. Between hosts the kernels drop
// packets instead, which TCP does resend.
type Strain struct {
	Links     []Link
	Network   uint8         // network of the disturbed connections to brokers
	Latency   time.Duration // delay added to all that passes
	Bandwidth int64         // bytes per second
	Stall     bool          // nothing passes until the strain ends; then it all does
	// Close resets connections (RST), with all that is on its way, and refuses new ones until the strain
	// ends.
	Close  bool
	Answer uint64 // each node loses the answer with this number only (see Link); 0: no answer is lost
	// Hold has the request with the number Answer held for so long, and no answer lost; 0: no request is held.
	Hold time.Duration
}

// A Link is all connections between two members, in either direction: a node and a broker, two brokers, a
// node and a server, two servers, or two hosts. An answer is what a server sends after it got something on
// the same connection. Answers are numbered from 1 for each node, over all of its links, since the strain
// began. When an answer is lost, Close resets the connection; without Close the connection carries nothing
// more to the node, until the node closes it or the strain ends. A request is what a node sends first, or
// after it got something on the same connection. Requests are numbered in the same way.
type Link struct{ A, B Member }

// Lost says how many answers a strain has lost or requests it has held, and how long ago the first and the
// last.
type Lost struct {
	Answers uint64        `json:"answers"`
	First   time.Duration `json:"first"`
	Last    time.Duration `json:"last"`
}

// And returns the sum of two counts of lost answers.
func (l Lost) And(o Lost) Lost {
	switch {
	case l.Answers == 0:
		return o
	case o.Answers == 0:
		return l
	}
	return Lost{l.Answers + o.Answers, max(l.First, o.First), min(l.Last, o.Last)}
}

// A FaultEvent is the beginning or the end of a fault.
type FaultEvent struct {
	At     int64
	Number int  // number of the fault, from 1
	Healed bool // it is the end of the fault; otherwise the beginning
	Hits   uint64
	// Set for the end only; 0: unknown. HitAt is when the fault hit its first message. Until is when the last
	// message that it hit arrives or was lost, or when a client that has lost an answer should be connected
	// again.
	HitAt, Until int64

	// Set for the beginning only.
	Breaks nodes.Assumption
	Victim nodes.ID // the node that the run chose; None: the plan names it
	Nodes  int      // how many nodes it has hit at once
	// Servers are the servers of a service that it has hit or cut off from others, in order.
	Servers []int
}

// A FaultDriver carries out faults on a cluster. The host of a run calls it.
type FaultDriver interface {
	// Begin sets when measuring begins; the times of faults count from it.
	Begin(c Cluster, measured int64) error
	// Next returns when Step is to be called next; math.MaxInt64: not before the next call of Watch.
	Next() int64
	// Step begins and heals the faults that are due.
	Step() error
	// End says that issuing is over: all faults are healed, and no other begins.
	End() error
	Watcher
}

// A Watcher hears of events at nodes, for faults that wait for one. It is called in the process of the node.
type Watcher interface {
	Watch(m *Hook) Action
	// MidInput reports whether the watcher wants to hear of events of the kind OnMidInput.
	MidInput() bool
	// Stands reports whether a node after PauseNode is still paused at a time.
	Stands(at int64) bool
}

// A FaultTaker, in the process of a node, takes faults that are added during the run.
type FaultTaker interface {
	// TakeFault adds the fault of a number, from 1, as text. It returns what shapes the packets of the node
	// from now on, and what watches it; nil: nothing does.
	TakeFault(number int, text []byte) (nodes.Shaper, Watcher, error)
}

// A Hook is an event at a node.
type Hook struct {
	At   int64
	Node nodes.ID
	What HookKind
	Kind uint8  // of the message, if any
	Term uint64 // term in which the node leads, if it does
	Done int    // OnMidInput: how many saves and sends of this input are done
}

// A HookKind is the kind of an event at a node.
type HookKind uint8

// The kinds.
const (
	OnRequest  HookKind = iota // its client has requested and waits
	OnEnter                    // its client has entered its critical section
	OnExit                     // its client has left its critical section, but not released yet
	OnSend                     // the node has sent a message
	OnReceive                  // the node has handled a message
	OnLead                     // the node has declared itself leader
	OnFollow                   // the node has declared another leader, or no leader
	OnMidInput                 // an input has made the node save or send, and will do so again
)

// An Action is what a fault does to the node at once.
type Action uint8

// The actions.
const (
	NoAction  Action = iota
	Recheck          // nothing at the node, but FaultDriver.Next has changed: a fault begins elsewhere, or later
	KillNode         // the node goes down
	PauseNode        // the node is paused
)
