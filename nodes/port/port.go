// Package port is what faults need of a cluster and of its nodes, and what these need of faults. A host
// implements Cluster, and Transport if its messages pass connections; package chaos implements FaultDriver,
// Watcher and FaultTaker. Times are in the run's nanoseconds.
package port

import (
	"time"

	"turnstile/nodes"
)

// A Cluster is what faults are carried out on: the world of a simulation, or the processes of a real run.
type Cluster interface {
	Now() int64

	Up(id nodes.ID) bool
	// Kill takes a node down at once, with all that it has not saved.
	Kill(id nodes.ID) error
	// Restart brings a node up again that is down, with what it has saved unless forget is set. It records
	// whether the node has lost what its peers rely on.
	Restart(id nodes.ID, forget bool) error

	// Pause has a node stand still, even if it does, and Resume has it go on.
	Pause(id nodes.ID) error
	Resume(id nodes.ID) error

	// SetClock sets the clock of a node ahead by jump, or back if that is negative, and has it run at rate,
	// where 1 is right.
	SetClock(id nodes.ID, jump time.Duration, rate float64) error

	// FaultBegan records that a fault has begun, and FaultHealed that it is over.
	FaultBegan(b FaultBeginning) error
	FaultHealed(at int64, number int, hits uint64) error
}

// A Transport is a Cluster whose messages pass connections between its nodes and brokers, and routes between
// brokers. Its faults have numbers, from 1, and each is healed by its own. It has the servers of a service,
// if the run is about one.
type Transport interface {
	Servers

	// BrokerUp reports whether a broker runs, and NodesAt how many nodes that are up connect to it.
	BrokerUp(i int) bool
	NodesAt(i int) int
	// Connected reports whether all nodes that are up are connected, so that others can be restarted.
	Connected() bool

	// KillBroker ends a broker at once, with all that is on its way, and RestartBroker starts it again.
	KillBroker(i int) error
	RestartBroker(i int) error
	// PauseBroker has a broker stand still, and ResumeBroker has it go on.
	PauseBroker(i int) error
	ResumeBroker(i int) error

	// CutRoutes closes the routes between brokers of different groups.
	CutRoutes(number int, groups [][]int) error
	HealRoutes(number int) error

	// CutNetwork has the kernels of hosts drop the packets between what carries messages there and on other
	// hosts, without a word to either end. Hosts count from 0. The error says why some host cannot.
	CutNetwork(number int, hosts []int) error
	HealNetwork(number int) error

	// BeginConnection puts a strain on the connections of some nodes.
	BeginConnection(number int, of []nodes.ID, s Strain) error
	HealConnection(number int) error
}

// A Strain is what is wrong with a connection, both ways.
type Strain struct {
	Network   uint8 // of the connections
	Latency   time.Duration
	Bandwidth int64 // bytes in a second; 0: all that comes
	Stall     bool  // nothing passes until it is healed
	Reset     bool  // it is closed, with all that is on its way, and new ones are refused until it is healed
}

// A FaultBeginning is the beginning of a fault.
type FaultBeginning struct {
	At     int64
	Number int // of the fault, from 1
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

// Servers are the servers of the service that a run is about: what holds its locks, and is no part of the
// testbed. They count from 0. Clients are nodes; each reaches every server by a connection that runs through
// a proxy of the run, and so does each server the others, if the service has them talk to each other. Faults
// of these connections have numbers, from 1, and each is healed by its own. A call returns when the fault is
// in force, or healed. It is an error if the run has no such server.
type Servers interface {
	// Servers returns how many servers the run has; 0: none, and every other method fails.
	Servers() int
	// ServerUp reports whether the process of a server runs, be it paused.
	ServerUp(i int) bool
	// LeadingServer returns which server leads now, or is the primary, as the servers say that answer; -1: none
	// does. An answer must not take longer than a second, even if servers stand still. It is an error if the
	// service has no leader.
	LeadingServer() (int, error)
	// AnsweredLast returns which server a client has had the last bytes of. It is an error if none has sent it
	// any yet.
	AnsweredLast(client nodes.ID) (int, error)

	// KillServer ends a server at once (SIGKILL), and RestartServer starts it again at the same address, with
	// an empty folder if forget is set. RestartServer does not wait until the server serves.
	KillServer(i int) error
	RestartServer(i int, forget bool) error
	// PauseServer has a server stand still (SIGSTOP), and ResumeServer has it go on.
	PauseServer(i int) error
	ResumeServer(i int) error
	// SkewServer sets the clock of a server ahead by a length of time, or back if that is negative, for good.
	SkewServer(i int, by time.Duration) error
	// PromoteServer has a replica or standby become the primary, once and for good. What was the primary before
	// is not told.
	PromoteServer(i int) error

	// CutServers has nothing pass some connections, neither way, until the cut is healed. Several cuts may
	// have one connection; it passes again when all are healed.
	CutServers(number int, cut ServerCut) error
	HealServers(number int) error

	// LoseAnswer has one answer of servers to each of some clients be lost, and HealAnswer ends that. It
	// returns how many answers were lost.
	LoseAnswer(number int, lost LostAnswer) error
	HealAnswer(number int) (hits uint64, err error)
}

// A ServerCut says which connections of servers pass nothing.
type ServerCut struct {
	Clients []ClientLink // connections that clients open to servers
	// Peers are pairs of servers, the lower one first: all connections between the two, whoever opened them.
	Peers [][2]int
	// Close has the connections closed (RST) as the cut begins, and new ones refused until it is healed.
	// Otherwise the cut is silent: connections stay open, new ones are accepted and get no answer, and what
	// comes is read and dropped. So a connection that dropped anything is closed when the cut is healed, since
	// TCP would have sent it again and its bytes are gone.
	Close bool
}

// A ClientLink is the connections of a client to a server.
type ClientLink struct {
	Client nodes.ID
	Server int
}

// A LostAnswer is one answer of servers to a client that gets lost on the way. An answer is what the proxy
// reads of a server after it has passed something on from the client on the same connection; they count from
// 1 for each client, over all of its connections, from the time the fault begins.
type LostAnswer struct {
	Clients []nodes.ID
	Nth     uint64
	// Close has the connection closed in place of the answer. Otherwise the answer is dropped and the
	// connection passes nothing to the client any more, until the client or the heal closes it.
	Close bool
}
