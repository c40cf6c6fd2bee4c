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
