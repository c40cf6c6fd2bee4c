package cluster

import (
	"syscall"
	"time"

	"turnstile/nodes/history"
)

// A Process is one of a run, wherever it runs: that of a node, or one that carries messages.
type Process interface {
	// Name names it, for people.
	Name() string
	// Signal sends it SIGKILL, SIGSTOP or SIGCONT. The error is os.ErrProcessDone if it has ended.
	Signal(syscall.Signal) error
	// Turns counts its stops and continuations that NoticeStops has seen. If the number is odd, it is stopped.
	Turns() uint32
	// Ended returns a channel that is closed when the process has ended.
	Ended() <-chan struct{}
	// Fate returns how the process ended. It may be called once Ended is closed.
	Fate() Fate
	// CPUTime returns how much CPU time it has spent, also once it has ended, if that is known.
	CPUTime() (time.Duration, bool)
}

// A Fate is how a process ended.
type Fate struct {
	Well      bool   // with status 0
	Killed    bool   // by SIGKILL
	Dismissed bool   // on purpose, which is no trouble
	Says      string // how, why if that is known, and what it printed last
}

// A Node is the process of a node, as a trial sees it. The input that it is started with holds its
// configuration, such as the path of its log.
type Node interface {
	Process
	// Tell gives it an order, all or none, and never waits. One that stands still reads it when it goes on.
	Tell(order []byte) error
	// Counters returns what it counts in its log, which may be read until its watch is closed, also once it has
	// ended; nil: that is not known yet. It is called once the node is ready.
	Counters() (*history.Watched, error)
	// LastSeen returns when it last did something that is in its log, once it has ended.
	LastSeen() (at int64, err error)
	// PeakResidentKB returns the peak of its resident memory, in units of 1024 bytes, while it is up.
	PeakResidentKB() (kb int64, known bool)
}

// A StartNode starts a process of a node, which finds its configuration in its input and writes a log at a
// path. It is given what the process prints as it comes, and returns what of that is to be kept for its Fate;
// it must not block.
type StartNode func(name, log string, input []byte, onOutput func([]byte) []byte) (Node, error)

// Nodes returns how nodes are started on this machine, by running a program.
func (l *Launcher) Nodes(program string) StartNode {
	// One CPU is enough for a loop, and takes fewer threads.
	environment := []string{"GOMAXPROCS=1"}
	return func(name, log string, input []byte, onOutput func([]byte) []byte) (Node, error) {
		p, err := l.start(name, program, nil, environment, input, onOutput)
		if err != nil {
			return nil, err
		}
		return node{p, log}, nil
	}
}

// A node is a process of a node on this machine.
type node struct {
	*process
	log string
}

// Counters implements Node.
func (n node) Counters() (*history.Watched, error) { return history.Watch(n.log) }

// LastSeen implements Node.
func (n node) LastSeen() (int64, error) { return history.LastSeen(n.log) }
