package cluster

import (
	"syscall"
	"time"

	"turnstile/internal/broker"
	"turnstile/internal/proc"
	"turnstile/nodes/history"
)

// A Process is one of a run, wherever it runs: that of a node, or one that carries messages.
type Process interface {
	// Name names it, for people.
	Name() string
	// Signal sends it SIGKILL, SIGSTOP or SIGCONT. The error is os.ErrProcessDone if it has ended.
	Signal(syscall.Signal) error
	// Dismiss ends it at once, on purpose: so its end is no trouble.
	Dismiss()
	// Turns counts its stops and continuations that proc.NoticeStops has seen. If the number is odd, it is
	// stopped.
	Turns() uint32
	// Ended returns a channel that is closed when the process has ended.
	Ended() <-chan struct{}
	// Fate returns how the process ended. It may be called once Ended is closed.
	Fate() proc.Fate
	// CPUTime returns how much CPU time it has spent, also once it has ended, if that is known.
	CPUTime() (time.Duration, bool)
}

// A Node is the process of a node, as a trial sees it. The input that it is started with holds its
// configuration, such as the path of its log.
type Node interface {
	Process
	// Tell gives it an order, all or none, and never waits. One that stands still reads it when it goes on.
	Tell(order []byte) error
	// Counters returns what it counts in its log, which may be read until its watch is closed, also once it
	// has ended; nil: that is not known yet. It is called once the node is ready.
	Counters() (*history.Watched, error)
	// LastSeen returns when it last did something that is in its log, once it has ended.
	LastSeen() (at int64, err error)
	// PeakResidentKB returns the peak of its resident memory, in units of 1024 bytes, while it is up.
	PeakResidentKB() (kb int64, known bool)
}

// A Command is what a Host starts.
type Command struct {
	Name    string   // of the process, for people
	Program []string // the program and its arguments; on a host with an agent, the word for it (package agent)
	Env     []string // variables beside those of the host, as in GOMAXPROCS=1
	Input   []byte   // handed to its standard input, which stays open
	Log     string   // the log that it writes, if it is a node
}

// A Host is where processes of a run are started: this machine, by a Launcher, or another one, by its agent.
type Host interface {
	// Start starts a process. It is given what the process prints as it comes, and returns what of that is
	// to be kept for its Fate; it must not block. If onOutput is nil, all is kept.
	Start(c Command, onOutput func([]byte) []byte) (Node, error)
	// HoldPort keeps a TCP port for processes that are started here.
	HoldPort() (*Port, error)
	// Address is where processes of other hosts reach those that are started here, as in 127.0.0.1.
	Address() string
}

// NodeEnv are the variables of a node's process: one CPU is enough for a loop, and takes fewer threads.
var NodeEnv = []string{"GOMAXPROCS=1"}

// A Launcher is this machine as a host.
type Launcher struct{ *proc.Launcher }

// NewLauncher returns a launcher. It keeps a thread of its own until this process ends.
func NewLauncher() *Launcher { return &Launcher{proc.NewLauncher()} }

// Start implements Host.
func (l *Launcher) Start(c Command, onOutput func([]byte) []byte) (Node, error) {
	p, err := l.Launcher.Start(proc.Command{Name: c.Name, Program: c.Program, Env: c.Env, Input: c.Input,
		OnOutput: onOutput})
	if err != nil {
		return nil, err
	}
	return node{p, c.Log}, nil
}

// HoldPort implements Host: the port is one of the loopback address.
func (l *Launcher) HoldPort() (*Port, error) { return HoldPort() }

// Address implements Host.
func (l *Launcher) Address() string { return broker.Loopback }

// A node is a process of a node on this machine.
type node struct {
	*proc.Process
	log string // empty: it writes none
}

// Counters implements Node.
func (n node) Counters() (*history.Watched, error) {
	if n.log == "" {
		return nil, nil
	}
	return history.Watch(n.log)
}

// LastSeen implements Node.
func (n node) LastSeen() (int64, error) { return history.LastSeen(n.log) }
