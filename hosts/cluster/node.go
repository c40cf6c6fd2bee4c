package cluster

import (
	"syscall"
	"time"

	"turnstile/internal/broker"
	"turnstile/internal/proc"
	"turnstile/nodes/history"
)

// A Process is a process of a run on any host: a node, or a process that carries messages.
type Process interface {
	// Name returns the name of the process, for messages to the user.
	Name() string
	// Signal sends the process SIGKILL, SIGSTOP or SIGCONT. The error is os.ErrProcessDone if the process has
	// ended.
	Signal(syscall.Signal) error
	// Dismiss ends the process at once. Its end then counts as intended, not as a failure.
	Dismiss()
	// Turns counts how many times the process was stopped or continued, as seen by proc.NoticeStops. If the
	// number is odd, the process is stopped.
	Turns() uint32
	// Ended returns a channel that is closed once the process has ended.
	Ended() <-chan struct{}
	// Fate returns how the process ended. It may be called once Ended is closed.
	Fate() proc.Fate
	// CPUTime returns the CPU time of the process, if known, also after its end.
	CPUTime() (time.Duration, bool)
}

// A Node is the process of a node. The input that it is started with has its configuration, such as the path
// of its log.
type Node interface {
	Process
	// Tell sends the process an order, completely or not at all, and never blocks. A stopped process reads the
	// order when it continues.
	Tell(order []byte) error
	// Counters returns the counters in the log of the node, once the node is ready; nil: not known yet. The
	// counters can be read until they are closed, also after the process has ended.
	Counters() (*history.Watched, error)
	// LastSeen returns the time of the last activity in the log of the node, once the process has ended.
	LastSeen() (at int64, err error)
	// PeakResidentKB returns the peak of the resident memory of the process, in units of 1024 bytes, while it
	// runs.
	PeakResidentKB() (kb int64, known bool)
}

// A Command is a process to be started by a Host.
type Command struct {
	Name    string   // name of the process, for messages to the user
	Program []string // program and arguments; on a host with an agent, the agent's name for the program
	Env     []string // additional environment variables, such as GOMAXPROCS=1
	Input   []byte   // written to the standard input of the process, which stays open
	Log     string   // path of the log, if the process is a node
}

// A Host is where processes of a run are started: this machine (a Launcher), or another one with an agent.
type Host interface {
	// Start starts a process. onOutput gets what the process prints, and returns the part to keep for its Fate;
	// it must not block. If onOutput is nil, all is kept.
	Start(c Command, onOutput func([]byte) []byte) (Node, error)
	// HoldPort reserves a TCP port for processes that are started here.
	HoldPort() (*Port, error)
	// Address returns the address at which other hosts reach processes of this host, such as 127.0.0.1.
	Address() string
}

// NodeEnv is the environment of a node's process: its loop needs only one CPU, and Go then starts fewer
// threads.
var NodeEnv = []string{"GOMAXPROCS=1"}

// A Launcher is this machine as a host.
type Launcher struct{ *proc.Launcher }

// NewLauncher returns a launcher. It occupies a thread until this process ends.
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

// HoldPort implements Host, with a port of the loopback address.
func (l *Launcher) HoldPort() (*Port, error) { return HoldPort() }

// Address implements Host.
func (l *Launcher) Address() string { return broker.Loopback }

// A node is a process of a node on this machine.
type node struct {
	*proc.Process
	log string // path of the log of the node; empty: no log
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
