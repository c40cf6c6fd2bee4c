package host

import (
	"encoding/json"
	"fmt"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/foreign"
	"turnstile/nodes/port"
	"turnstile/nodes/workload"
)

// A Config is what a node process is told first, as JSON on its standard input, the broker's credential
// included. Orders follow by the same pipe.
type Config struct {
	Run   string `json:"run"`   // names the run's subjects
	URL   string `json:"url"`   // of the broker
	Token string `json:"token"` // its credential; empty: none
	// Pin is that of the broker's certificate (see certs.Pin), by which the node speaks TLS and knows the
	// broker. Empty: it speaks TLS only if the broker wants it, and trusts those whom this machine trusts.
	Pin string `json:"pin,omitempty"`
	// Second is the broker of the second network, for algorithms that have one (see nodes.MessageKind.Net).
	Second *Broker  `json:"second,omitempty"`
	Node   nodes.ID `json:"node"`
	// Service is where the program of the node finds the service that it is a client of.
	Service foreign.Service `json:"service,omitzero"`
	Zero    int64           `json:"zero"` // the run's zero on the node's clock, CLOCK_MONOTONIC, in nanoseconds
	// Monotonic is the node's clock, in nanoseconds, for tests of hosts whose clocks differ; nil:
	// CLOCK_MONOTONIC. It never falls.
	Monotonic func() int64 `json:"-"`

	Workload  workload.Workload `json:"workload"`
	Entries   uint64            `json:"entries"` // of all nodes together; zero: no end
	Multicast bool              `json:"multicast"`
	Reconnect bool              `json:"reconnect,omitempty"` // to a broker that is gone, for as long as it takes
	Seed      uint64            `json:"seed"`

	Shaper  nodes.Shaper `json:"-"` // of what arrives; nil: each message is delivered at once
	Watcher port.Watcher `json:"-"` // is told what happens, for faults that wait for it; nil: nobody is
	// Faults takes those that are added to the run while it goes on; nil: none are.
	Faults port.FaultTaker `json:"-"`

	// Incarnation is how often the node has restarted. From 1 on, what the process before it has saved is read
	// from Saved, and its machines recover.
	Incarnation uint32 `json:"incarnation,omitempty"`
	// Requests is how many requests the clients of the node have made in earlier incarnations, by instance. It
	// goes on from there, so that it neither repeats its entry numbers nor what it drew.
	Requests []uint64 `json:"requests,omitempty"`
	// Saved begins the names of the files of what the machines save, one for each instance that saves. A node
	// that is to forget gets a new name.
	Saved string `json:"saved,omitempty"`

	Log         string `json:"log"`          // the file to record in: a new one for each incarnation
	Origin      uint64 `json:"origin"`       // of the log: see history.Header
	TraceLength int    `json:"trace_length"` // how many of the latest messages to keep
	// Texts has the log keep what messages of the program say.
	Texts bool `json:"texts,omitempty"`
	// TraceAll says to go on after a violation, where the trace would otherwise keep what led to that.
	TraceAll bool   `json:"trace_all,omitempty"`
	Resource string `json:"resource,omitempty"` // the file of the shared resource
	// ResourceAt is the broker between the node and a resource process, which replaces the file (see Books).
	ResourceAt *Broker `json:"resource_at,omitempty"`
}

// A Broker is where a node finds the broker of a network.
type Broker struct {
	URL   string `json:"url"`
	Token string `json:"token"`
	Pin   string `json:"pin,omitempty"` // see Config.Pin
}

// brokers returns where the brokers are, by network.
func (c *Config) brokers() []Broker {
	all := []Broker{{c.URL, c.Token, c.Pin}}
	if c.Second != nil {
		all = append(all, *c.Second)
	}
	return all
}

// Subjects are the NATS subjects of a run. Those of nodes carry algorithm messages and nothing else.
type Subjects struct{ run string }

// SubjectsOf returns the subjects of the run with that name.
func SubjectsOf(run string) Subjects { return Subjects{run} }

// Node carries algorithm messages to one node.
func (s Subjects) Node(id nodes.ID) string { return fmt.Sprintf("ts.%s.node.%d", s.run, id) }

// Resource carries what clients ask the resource process, by a broker of its own.
func (s Subjects) Resource() string { return "ts." + s.run + ".resource" }

// Frozen carries, by that broker, when too many were inside for the first time.
func (s Subjects) Frozen() string { return "ts." + s.run + ".frozen" }

// Everyone carries the multicasts, to all clients.
func (s Subjects) Everyone() string { return "ts." + s.run + ".everyone" }

// An Order is what the orchestrator tells a node, as JSON, one after the other.
type Order struct {
	Do       string `json:"do"`
	Begin    int64  `json:"begin,omitempty"`    // Issue: from when to when, in the run's time; if there is no
	End      int64  `json:"end,omitempty"`      // End, an order to End comes later, or entries end it
	Since    int64  `json:"since,omitempty"`    // Issue: when the run began, if the node comes up later
	Resource int    `json:"resource,omitempty"` // Ask: its number
	Round    int    `json:"round,omitempty"`    // Report: goes into the answer; Restored: its number in the run

	Jump time.Duration `json:"jump,omitempty"` // SetClock: how far ahead
	Rate float64       `json:"rate,omitempty"` // SetClock: at which it runs; 1 is right

	Number int             `json:"number,omitempty"` // TakeFault: of the fault
	Fault  json.RawMessage `json:"fault,omitempty"`  // TakeFault: as port.FaultTaker reads it
}

// The orders.
const (
	Issue = "issue" // issue requests from Begin to End
	Ask   = "ask"   // issue a single request now
	End   = "end"   // issue no more requests from End on
	Park  = "park"  // receive messages but do nothing more, so that a circulating token comes to rest
	Hush  = "hush"  // the failure detectors do nothing more, and what they have sent arrives; all else goes on
	// Messages may be lost with connections to the broker, from now on; all nodes are connected again, and what
	// they send from now on must arrive.
	Outage   = "outage"
	Restored = "restored"
	// Parted is for some time after Outage: brokers are cut off from each other now, so that messages are lost
	// though connections stand. What is missing next in each stream is explained.
	Parted = "parted"
	Report = "report" // send a Note with the status, once all is handled that the broker had for the node
	Quit   = "quit"   // close the log and end

	TakeFault = "take-fault" // one is added to the run, which will begin when all nodes have obeyed

	SetClock = "set-clock" // have the clock of the node's timers jump ahead, and run at another rate
)

// A Note is what a node tells the orchestrator, as a sequence of JSON texts.
type Note struct {
	Ready  bool              `json:"ready,omitempty"` // it has subscribed to its subjects
	Status *nodes.NodeStatus `json:"status,omitempty"`
	Round  int               `json:"round,omitempty"` // of the order to Report that it answers
}
