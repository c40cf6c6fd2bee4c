// Package port is what faults need of a cluster and of its nodes, and what these need of faults. A host
// implements Cluster; package chaos implements FaultDriver, Watcher and FaultTaker. Times are in the run's
// nanoseconds.
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
	Broker             // it carries messages; that of a second network has the highest number
	Server             // it is one of the servers of the service that the run is about
	Host               // a machine, or what stands for one, with the processes that run there
)

// String returns the role as plans write it.
func (r Role) String() string { return [...]string{"node", "broker", "server", "host"}[r] }

// A Member is what runs in a cluster and can be struck by faults: a process, or a host. What a process has
// started, such as the program of somebody else, belongs to it.
type Member struct {
	Role Role
	I    int // which of its role, from 0
}

// String names the member for people.
func (m Member) String() string { return fmt.Sprintf("%v %d", m.Role, m.I) }

// NodeOf returns a node as a member.
func NodeOf(id nodes.ID) Member { return Member{Node, int(id)} }

// ID returns the number of a member that is a node, as algorithms know it.
func (m Member) ID() nodes.ID { return nodes.ID(m.I) }

// A Cluster is what faults are carried out on: the world of a simulation, or the processes of a real run. A
// call returns when what it is to do is done. It is an error if the cluster has no such member, or cannot do
// that to members of its role. A simulation has nodes alone.
type Cluster interface {
	Now() int64

	// Up reports whether the process of a member runs, be it stopped.
	Up(m Member) bool
	// Kill ends a process at once, with all that it has not saved and all that is on its way there.
	Kill(m Member) error
	// Start starts a process that was killed again, at its address and with what it has saved unless forget is
	// set. It does not wait until a server serves. Of a node it records whether it has lost what its peers rely
	// on. The error is ErrLater if it could not connect yet.
	Start(m Member, forget bool) error
	// Stop has a process stand still, even if it does, and Continue has it go on.
	Stop(m Member) error
	Continue(m Member) error
	// SetClock sets the clock of a process ahead by jump, or back if that is negative, and has it run at rate,
	// where 1 is right.
	SetClock(m Member, jump time.Duration, rate float64) error
	// Promote has a server that is a replica or standby become the primary, once and for good. What was the
	// primary before is not told.
	Promote(m Member) error

	// Strain puts a strain on connections, and Relieve ends it. Strains have the numbers of their faults.
	// Several may hold of one connection. Relieve returns how many answers were lost.
	Strain(number int, s Strain) error
	Relieve(number int) (lost uint64, err error)

	// Find returns the members that stand in a relation to one, as far as is known now.
	Find(r Relation, to Member) ([]Member, error)

	// Record records that a fault has begun, or is healed.
	Record(e FaultEvent) error
}

// ErrLater is the error of what cannot be done now, and can be later.
var ErrLater = errors.New("it could not connect now")

// A Relation is what members may be to a member, or to the run.
type Relation uint8

// The relations.
const (
	// Leads: the server that leads, or is the primary, as the servers say that answer; none, if none does. The
	// answer does not take longer than a second, even if servers stand still. To whom is not looked at. It is an
	// error if the service has no leader.
	Leads Relation = iota
	// Answered: the server that a node has had the last bytes of. It is an error if none has sent it any yet.
	Answered
	// Connected: the nodes that are up and connect to a broker.
	Connected
)

// A Strain is what is wrong with connections, both ways. With its links alone it cuts them off: nothing
// passes, and nobody is told. Connections stay open, new ones are accepted and get no answer, and what comes
// is read and dropped; so one that dropped anything is closed when the strain ends, since TCP would have sent
// it again and its bytes are gone. Between hosts the kernels drop packets, which TCP sends again.
type Strain struct {
	Links     []Link
	Network   uint8         // of connections to brokers
	Latency   time.Duration // by so much what passes comes later
	Bandwidth int64         // so many bytes pass in a second
	Stall     bool          // nothing passes, and it all comes once the strain ends
	// Close has connections closed (RST), with all that is on its way, and new ones refused until the strain
	// ends.
	Close  bool
	Answer uint64 // not 0: to each node the answer of that number alone is lost; see Link
}

// A Link is all connections between two members: of a node and a broker, of two brokers, of a node and a
// server, of two servers, whoever opened them, or of two hosts. An answer is what is read of a server after
// something was passed on to it on the same connection; they count from 1 for each node, over all of its
// links, from the time the strain begins. With Close the connection is closed in place of it; otherwise it
// brings nothing more to the node, until that closes it or the strain ends.
type Link struct{ A, B Member }

// A FaultEvent is the beginning or the end of a fault.
type FaultEvent struct {
	At     int64
	Number int  // of the fault, from 1
	Healed bool // it is the end
	Hits   uint64

	// Of the beginning.
	Breaks nodes.Assumption
	Victim nodes.ID // whom the run has chosen; None: the plan says who
	Nodes  int      // how many nodes it has hit at once
	// Servers are those of a service that it has hit, or that others were cut off from; in order.
	Servers []int
}

// A FaultDriver carries out faults on a cluster. The host of a run calls it.
type FaultDriver interface {
	// Begin says when what is measured begins, from which the times of faults count.
	Begin(c Cluster, measured int64) error
	// Next returns when Step is to be called next; math.MaxInt64: not as long as nothing happens that Watch
	// is told of.
	Next() int64
	// Step does what is due.
	Step() error
	// End says that issuing is over: what is not healed by then is healed, and what has not begun never will.
	End() error
	Watcher
}

// A Watcher is told what happens at nodes, for faults that wait for it. It is called in the process of that
// node.
type Watcher interface {
	Watch(m *Hook) Action
	// MidInput reports whether it is to be told of OnMidInput.
	MidInput() bool
	// Stands reports whether a node that was dealt a PauseNode is still to stand still at a time.
	Stands(at int64) bool
}

// A FaultTaker takes faults that are added to a run while it goes on. There is one in the process of a node.
type FaultTaker interface {
	// TakeFault takes the fault of a number, from 1, as text that is read here alone. It returns what shapes the
	// packets of the node from now on, and what watches it; nil: nothing does.
	TakeFault(number int, text []byte) (nodes.Shaper, Watcher, error)
}

// A Hook is when something happens at a node.
type Hook struct {
	At   int64
	Node nodes.ID
	What HookKind
	Kind uint8  // of the message, if there is one
	Term uint64 // in which it leads, if it does
	Done int    // in the middle of an input: how often it has saved or sent because of that
}

// A HookKind is what happens at a node.
type HookKind uint8

// The occasions.
const (
	OnRequest  HookKind = iota // its client has requested and waits
	OnEnter                    // it has entered its critical section
	OnExit                     // it has left it, and has not released it yet
	OnSend                     // it has sent a message
	OnReceive                  // it has handled a message
	OnLead                     // it has declared itself leader
	OnFollow                   // it has declared another leader, or none
	OnMidInput                 // it has saved or sent something because of an input, and is to do so again
)

// An Action is what a fault does to the node, at once, before it does anything else.
type Action uint8

// The actions.
const (
	NoAction  Action = iota
	Recheck          // a fault begins elsewhere, or later: FaultDriver.Next has changed
	KillNode         // the node goes down
	PauseNode        // the node stands still
)
