package agent

import (
	"regexp"
	"time"

	"turnstile/internal/offset"
	"turnstile/internal/proc"
)

// Protocol is the version of what agents and orchestrators say to each other.
const Protocol = 1

// serviceName is the name of the NATS micro service that each agent is.
const serviceName = "turnstile-host"

// The subjects of the control plane.
func orderSubject(host string) string      { return "ts.host." + host + ".order" }
func describeSubject(host string) string   { return "ts.host." + host + ".describe" }
func clockSubject(host string) string      { return "ts.host." + host + ".clock" }
func eventSubject(run, host string) string { return "ts.run." + run + "." + host }
func aliveSubject(run string) string       { return "ts.run." + run + ".alive" }

var (
	runName  = regexp.MustCompile(`^[a-z0-9]{1,32}$`)
	fileName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,120}$`)
)

// Orders of an orchestrator.
const (
	doJoin   = "join"   // begin to serve a run
	doTrial  = "trial"  // begin a trial, whose files go into a folder; answered by its path
	doHold   = "hold"   // keep a TCP port; answered by its number
	doStart  = "start"  // start a process
	doTell   = "tell"   // write to the standard input of a process
	doSignal = "signal" // send a signal to a process
	doCount  = "count"  // answered by the counters of all nodes that are up
	doUse    = "use"    // answered by what processes have used, and how busy the host was
	doAnswer = "answer" // answered, and nothing else
	doFaults = "faults" // follow what was decided of faults; answered by what nodes have seen of them
	doCut    = "cut"    // drop the packets of some ports that come from other hosts or go there
	doHeal   = "heal"   // have them pass again
	doProbe  = "probe"  // answered by what a file holds that the orchestrator has written
	doFiles  = "files"  // answered by the logs of the trial, without digests: []File
	doDigest = "digest" // answered by one of them, with its digest
	doPiece  = "piece"  // answered by a piece of a file
	doClear  = "clear"  // remove the files of the trial
	doEnd    = "end"    // end the processes of the run, and forget it
)

// An order is what an orchestrator tells an agent.
type order struct {
	Run    string `json:"run"`
	Boot   string `json:"boot"`   // of the agent that it is meant for
	Number uint64 `json:"number"` // rises with each order of a run
	Do     string `json:"do"`

	Process int      `json:"process,omitempty"` // which one, by a number that the orchestrator gave it
	Signal  int      `json:"signal,omitempty"`
	Text    []byte   `json:"text,omitempty"`    // tell; faults: as chaos.SharedState.Decided
	Clients int      `json:"clients,omitempty"` // faults
	Cut     int      `json:"cut,omitempty"`     // cut, heal: the number of the fault
	Ports   []uint16 `json:"ports,omitempty"`   // cut
	Join    *Join    `json:"join,omitempty"`
	Start   *command `json:"start,omitempty"`

	File   string `json:"file,omitempty"` // trial: the name of the folder, below that of the agent
	Offset int64  `json:"offset,omitempty"`
	Length int    `json:"length,omitempty"`
}

// A command is a cluster.Command for an agent.
type command struct {
	Name    string   `json:"name"`
	Program string   `json:"program"`           // by which the agent knows it, as in node
	Path    string   `json:"path,omitempty"`    // of a node program not the agent's own
	Env     []string `json:"env,omitempty"`     //
	Input   []byte   `json:"input,omitempty"`   //
	LogFile string   `json:"logFile,omitempty"` // the name of its log in the folder of the run, if it is a node
}

// A Join is what an orchestrator tells an agent of a run.
type Join struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"` // of the orchestrator, which has to be the agent's
	User     string `json:"user"`    // who makes it, for people
	What     string `json:"what"`    // it is, for people
	Nodes    int    `json:"nodes"`   // that it is to start
	Carriers int    `json:"carriers"`
	Disk     int64  `json:"disk"` // bytes that its logs may take
	// Adopt names the folder of an earlier run whose files are to be fetched or removed; empty: it is a new one.
	Adopt string `json:"adopt,omitempty"`
}

// A Description is what an agent says of its host.
type Description struct {
	Name     string          `json:"name"`
	Boot     string          `json:"boot"` // of the agent: another one after each start
	Protocol int             `json:"protocol"`
	Version  string          `json:"version"`
	Address  string          `json:"address"`            // where other hosts reach its processes
	Kernel   offset.Identity `json:"kernel"`             //
	Cores    int             `json:"cores"`              //
	MemoryMB int             `json:"memory_mb"`          //
	FreeMB   int             `json:"free_mb"`            // of the memory
	Load     float64         `json:"load"`               // over the last minute
	Runs     []string        `json:"runs"`               // that it serves, in words
	Left     []string        `json:"left,omitempty"`     // runs whose files can be fetched
	NetCut   string          `json:"net_cut,omitempty"`  // why the kernel cannot cut it off; empty: it can
	Network  string          `json:"network,omitempty"`  // the network namespace, on whatever machine
	Programs bool            `json:"programs,omitempty"` // it starts node programs that are not its own
	Since    string          `json:"since,omitempty"`    //
	Folder   string          `json:"folder,omitempty"`   // of the agent
	PID      int             `json:"pid,omitempty"`      //
}

// A reply is what an agent answers to an order.
type reply struct {
	Error  string       `json:"error,omitempty"`
	Over   bool         `json:"over,omitempty"`   // the agent does not serve the run, or not any more
	Gone   bool         `json:"gone,omitempty"`   // the process that was to be signalled has ended
	Folder string       `json:"folder,omitempty"` // of a trial, on that host
	Port   int          `json:"port,omitempty"`
	Counts []byte       `json:"counts,omitempty"` // for each node its process, as a varint, and a snapshot
	Uses   map[int]uses `json:"uses,omitempty"`   // by process
	Busy   uint64       `json:"busy,omitempty"`
	Ticks  uint64       `json:"ticks,omitempty"`
	Text   []byte       `json:"text,omitempty"`
	Piece  []byte       `json:"-"` // of a file: comes as it is, after the line of all the rest
	Files  []File       `json:"files,omitempty"`
}

// A File is one that a run has left on a host.
type File struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256,omitempty"`
}

// uses is what a process has used.
type uses struct {
	CPU        time.Duration `json:"cpu"`
	CPUKnown   bool          `json:"cpu_known"`
	ResidentKB int64         `json:"resident_kb"`
}

// An event is what an agent says of a process of a run.
type event struct {
	Number  uint64 `json:"number"` // from 1
	Process int    `json:"process"`
	Boot    string `json:"boot"`

	Said   []byte  `json:"said,omitempty"`   // a JSON text that it has printed in a frame
	Counts []byte  `json:"counts,omitempty"` // a history snapshot, for those who know none yet or know the last
	Turns  uint32  `json:"turns,omitempty"`  // as cluster.Process.Turns
	Failed string  `json:"failed,omitempty"` // why it did not take an order
	Ended  *ending `json:"ended,omitempty"`
	Over   string  `json:"over,omitempty"` // why the agent ends the run, though nobody has ordered that
}

// An ending is how a process has ended.
type ending struct {
	proc.Fate
	Seen    int64  `json:"seen"` // as cluster.Node.LastSeen
	NotSeen string `json:"not_seen,omitempty"`
	Uses    uses   `json:"uses"`
}
