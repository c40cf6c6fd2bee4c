package port

import (
	"time"

	"turnstile/nodes"
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
