package agent

import (
	"time"

	"turnstile/internal/offset"
	"turnstile/internal/pattern"
	"turnstile/internal/proc"
)

// Protocol is the version of the protocol between agents and orchestrators.
const Protocol = 1

// serviceName is the name of agents as NATS micro services.
const serviceName = "turnstile-host"

// The subjects of the control plane.
func orderSubject(host string) string      { return "ts.host." + host + ".order" }
func describeSubject(host string) string   { return "ts.host." + host + ".describe" }
func clockSubject(host string) string      { return "ts.host." + host + ".clock" }
func eventSubject(run, host string) string { return "ts.run." + run + "." + host }
func aliveSubject(run string) string       { return "ts.run." + run + ".alive" }

var (
	runName  = pattern.Of(`^[a-z0-9]{1,32}$`)
	fileName = pattern.Of(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,120}$`)
)

// Orders of an orchestrator.
const (
	doJoin   = "join"   // begin to serve a run
	doTrial  = "trial"  // begin a trial, whose files go into a folder; answered by its path
	doHold   = "hold"   // hold a TCP port; answered by its number
	doStart  = "start"  // start a process
	doTell   = "tell"   // write to the standard input of a process
	doSignal = "signal" // send a signal to a process
	doCount  = "count"  // answered by the counters of all nodes that are up
	doUse    = "use"    // answered by the CPU times of processes, and the ticks of the host
	doAnswer = "answer" // answered, as a sign of life
	doFaults = "faults" // copy the decided state of faults; answered by what nodes have seen
	doCut    = "cut"    // drop packets of some ports from and to other hosts
	doHeal   = "heal"   // end a cut
	doProbe  = "probe"  // answered by the contents of a file that the orchestrator has written
	doFiles  = "files"  // answered by the list of logs of the trial, without digests: []File
	doDigest = "digest" // answered by the size and digest of a log
	doPiece  = "piece"  // answered by a piece of a file
	doClear  = "clear"  // remove the files of the trial
	doEnd    = "end"    // end the processes of the run, and forget it
)

// An order is an order of an orchestrator to an agent.
type order struct {
	Run    string `json:"run"`
	Boot   string `json:"boot"`   // the start of the agent that the order is for
	Number uint64 `json:"number"` // rises with each order of a run
	Do     string `json:"do"`

	Process int      `json:"process,omitempty"` // number of the process, given by the orchestrator
	Signal  int      `json:"signal,omitempty"`
	Text    []byte   `json:"text,omitempty"`    // for tell: the text; for faults: from chaos.SharedState.Decided
	Clients int      `json:"clients,omitempty"` // for faults: the number of clients
	Cut     int      `json:"cut,omitempty"`     // for cut and heal: the number of the fault
	Ports   []uint16 `json:"ports,omitempty"`   // for cut: the ports whose packets are dropped
	Join    *Join    `json:"join,omitempty"`
	Start   *command `json:"start,omitempty"`

	File   string `json:"file,omitempty"` // for trial: the name of its folder, below the agent's folder
	Offset int64  `json:"offset,omitempty"`
	Length int    `json:"length,omitempty"`
}

// A command is a cluster.Command for an agent.
type command struct {
	Name    string   `json:"name"`
	Program string   `json:"program"`           // name of the program in Options.Programs, such as node
	Path    string   `json:"path,omitempty"`    // path of a node program that is not the agent's own
	Env     []string `json:"env,omitempty"`     //
	Input   []byte   `json:"input,omitempty"`   //
	LogFile string   `json:"logFile,omitempty"` // for a node: name of its log in the folder of the run
}

// A Join describes a run to an agent.
type Join struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"` // version of the orchestrator; must equal the agent's
	User     string `json:"user"`    // user that makes the run, for display
	What     string `json:"what"`    // description of the run, for display
	Nodes    int    `json:"nodes"`   // number of nodes to start
	Carriers int    `json:"carriers"`
	Disk     int64  `json:"disk"` // bytes that the logs of the run may take
	// Adopt is the folder of an earlier run whose files are to be fetched or removed; empty: a new run.
	Adopt string `json:"adopt,omitempty"`
}

// A Description describes an agent and its host.
type Description struct {
	Name     string          `json:"name"`
	Boot     string          `json:"boot"` // changes with each start of the agent
	Protocol int             `json:"protocol"`
	Version  string          `json:"version"`
	Address  string          `json:"address"`            // address at which other hosts reach the processes
	Kernel   offset.Identity `json:"kernel"`             //
	Cores    int             `json:"cores"`              //
	MemoryMB int             `json:"memory_mb"`          //
	FreeMB   int             `json:"free_mb"`            // free memory
	Load     float64         `json:"load"`               // load average of the last minute
	Runs     []string        `json:"runs"`               // descriptions of the runs that it serves
	Left     []string        `json:"left,omitempty"`     // runs whose files can be fetched
	NetCut   string          `json:"net_cut,omitempty"`  // why the kernel cannot cut the network; empty: it can
	Network  string          `json:"network,omitempty"`  // network namespace, unique over all machines
	Programs bool            `json:"programs,omitempty"` // it may start node programs that are not its own
	Since    string          `json:"since,omitempty"`    //
	Folder   string          `json:"folder,omitempty"`   // folder of the agent
	PID      int             `json:"pid,omitempty"`      //
}

// A reply is an agent's answer to an order.
type reply struct {
	Error  string       `json:"error,omitempty"`
	Over   bool         `json:"over,omitempty"`   // the agent does not serve the run, or does so no longer
	Gone   bool         `json:"gone,omitempty"`   // the process to be signalled has ended
	Folder string       `json:"folder,omitempty"` // folder of a trial on that host
	Port   int          `json:"port,omitempty"`
	Counts []byte       `json:"counts,omitempty"` // of each node: process number (a varint), and its counters
	Uses   map[int]uses `json:"uses,omitempty"`   // by number of the process
	Busy   uint64       `json:"busy,omitempty"`
	Ticks  uint64       `json:"ticks,omitempty"`
	Text   []byte       `json:"text,omitempty"`
	Piece  []byte       `json:"-"` // piece of a file: sent raw, after the line of JSON
	Files  []File       `json:"files,omitempty"`
}

// A File is a file that a run has left on a host.
type File struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256,omitempty"`
}

// uses is the CPU time and memory of a process.
type uses struct {
	CPU        time.Duration `json:"cpu"`
	CPUKnown   bool          `json:"cpu_known"`
	ResidentKB int64         `json:"resident_kb"`
}

// An event is an event of a process of a run.
type event struct {
	Number  uint64 `json:"number"` // events are numbered from 1
	Process int    `json:"process"`
	Boot    string `json:"boot"`

	Said   []byte  `json:"said,omitempty"`   // JSON that the process printed in a frame
	Counts []byte  `json:"counts,omitempty"` // counters, with the first note and at the end of a node
	Turns  uint32  `json:"turns,omitempty"`  // as cluster.Process.Turns
	Failed string  `json:"failed,omitempty"` // why the agent could not carry out an order
	Ended  *ending `json:"ended,omitempty"`
	Over   string  `json:"over,omitempty"` // why the agent ends the run without an order
}

// An ending describes how a process ended.
type ending struct {
	proc.Fate
	Seen    int64  `json:"seen"` // as cluster.Node.LastSeen
	NotSeen string `json:"not_seen,omitempty"`
	Uses    uses   `json:"uses"`
}
