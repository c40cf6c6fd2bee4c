package nodes

import (
	"fmt"
	"time"
)

// ID names a node. Clients are 0 to n-1, servers n and up.
type ID int32

// None stands for no node.
const None ID = -1

// A Message is a struct of exported plain values: numbers, booleans, strings, and slices and structs of
// these. Several receivers may share one message, so a machine that keeps a slice of a message clones it.
type Message any

// A Timer is one of a machine's own timers. A machine may run one timer per kind and peer.
type Timer struct {
	Kind TimerKind
	Peer ID // the peer, for timers that are kept per peer
}

// TimerKind tells a machine's timers apart; its values are the machine's own constants.
type TimerKind uint8

// A Machine is an algorithm at one node. Handlers run one at a time, to completion, and touch only their
// receiver and env.
type Machine interface {
	Receive(env *Env, from ID, m Message)
}

// A Mutex shares one resource. Request is called when the local client wants it and Release when the client
// is done; in between the machine calls env.Grant, once, when the client may enter.
type Mutex interface {
	Machine
	Request(env *Env)
	Release(env *Env)
}

// An Elector agrees with its peers on a leader. Campaign is called when this node should bring an
// election about. The machine calls env.Elect each time it chooses a leader, or None.
type Elector interface {
	Machine
	Campaign(env *Env)
}

// Optional interfaces of machines.
type (
	// Canceller hears that the waiting client wants no longer. It then calls env.GiveUp or env.Grant.
	Canceller interface{ Cancel(env *Env) }
	// Leaver hears that the node is to stop in order: the machine gives up what its client or the node has, and
	// then calls env.Left. lingers says that the client goes on inside, or the node leads on, for some time.
	Leaver interface{ Leave(env *Env, lingers bool) }
	// Starter acts before any other event.
	Starter interface{ Start(env *Env) }
	// Timed hears that a timer it set has run out.
	Timed interface{ Timeout(env *Env, t Timer) }
	// Suspecter hears that the failure detector suspects a peer.
	Suspecter interface{ Suspect(env *Env, peer ID) }
	// Truster hears that the failure detector has taken a suspicion back.
	Truster interface{ Trust(env *Env, peer ID) }
	// Recoverer restarts after a crash with what it saved last, or nil. It is called instead of Start.
	Recoverer interface{ Recover(env *Env, saved Message) }
	// Led hears that the elector beside it has chosen a leader.
	Led interface {
		Lead(env *Env, leader ID, term uint64)
	}
	// TokenHolder says whether the token is here, for reports and for faults that aim at the token.
	TokenHolder interface{ HasToken() bool }
	// Waiter says which nodes its open request still waits for, for the wait-for graph of a stall.
	Waiter interface{ WaitsFor() Set }
	// Standing describes for people what the machine knows of its open request, such as its place in a queue;
	// empty: it knows only that it waits. An elector describes its relation to its leader.
	Standing interface{ Standing() string }
	// Lender returns the node whose request has the permission of this node, or None. A node that waits for a
	// Lender in fact waits for the node that LentTo returns.
	Lender interface{ LentTo() ID }
)

// Unexpected panics: the machine has received a message that no machine of its algorithm sends.
func Unexpected(machine Machine, m Message) {
	panic(fmt.Sprintf("%T received a %T, which is no message of its algorithm", machine, m))
}

// An Op is what an Effect asks of the host.
type Op uint8

// The operations. Effects are done in the order in which they were recorded.
const (
	OpSend      Op = iota + 1 // send Message to To
	OpBroadcast               // send Message to every other client
	OpSetTimer                // make Timer run out after a time from Min to Max, as generation Gen
	OpSave                    // make Message durable before any later Send
	OpGrant                   // the client enters its critical section, under the fence Number
	OpRevoke                  // the client leaves its critical section, without a Release
	OpElect                   // the machine has chosen the leader To in the term Number
	OpTellLost                // the client is told that it has lost what it holds, and goes on
	OpRefuse                  // the client is told that its request was refused for now
	OpRetry                   // the refused request is made again
	OpGiveUp                  // the request of the client ends without a grant
	OpLeft                    // the machine has given up what the node has, which is to stop
	OpSuspect                 // the failure detector suspects To
	OpTrust                   // the failure detector trusts To again
)

// An Effect is one thing that a machine asked of its Env, for the host to do.
type Effect struct {
	Op       Op
	Kind     uint8 // the number of the message's kind in the codec of the stack
	Resend   bool  // the message is a retry, counted apart
	Instance int32
	To       ID
	Gen      uint32
	Message  Message
	Timer    Timer
	Min, Max time.Duration
	Number   uint64
}

// An InputKind is the sort of an Input.
type InputKind uint8

// The inputs of a node. Start or Recover comes first, once.
const (
	Start    InputKind = iota + 1 // the node is up for the first time
	Recover                       // the node is up again after a crash; Message is a Saved
	Receive                       // Message has come from From
	Timeout                       // Timer, as generation Gen, has run out
	Request                       // the client wants Units of the resource; it must be Idle
	Release                       // the client is done; it must be Inside
	Cancel                        // the client wants no longer; it must be Waiting
	Leave                         // the node is to stop in order
	Campaign                      // the elector should bring an election about
	Suspect                       // the failure detector suspects From
	Trust                         // the failure detector trusts From again
)

// An Input is one event for one instance of a node; Start, Recover, Suspect and Trust are for all instances.
type Input struct {
	Kind     InputKind
	Instance int32
	From     ID
	Gen      uint32
	Units    int32 // units wanted by a Request; 0 means 1
	Lingers  bool  // of Leave: see Leaver
	Message  Message
	Timer    Timer
}

// Saved holds the message that each instance of a node saved last, by number. The entry of an instance that
// saved nothing is nil; if none did, Saved is nil.
type Saved []Message
