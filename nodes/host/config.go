package host

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/foreign"
	"turnstile/nodes/port"
	"turnstile/nodes/workload"
)

// A Config is the first input of a node process, as JSON on its standard input, with the broker's credential.
// Orders follow by the same pipe.
type Config struct {
	Run   string `json:"run"`   // name of the run, which names its subjects (see SubjectsOf)
	URL   string `json:"url"`   // address of the broker
	Token string `json:"token"` // credential for the broker; empty: none
	// Pin is the pin of the broker's certificate (see certs.Pin): the node speaks TLS, and accepts only this
	// certificate. Empty: it speaks TLS if the broker requires it, with the machine's root certificates.
	Pin string `json:"pin,omitempty"`
	// Second is the broker of the second network, for algorithms that have one (see nodes.MessageKind.Net).
	Second *Broker  `json:"second,omitempty"`
	Node   nodes.ID `json:"node"`
	// Service has the address of the service whose client the program of the node is.
	Service foreign.Service `json:"service,omitzero"`
	Zero    int64           `json:"zero"` // the run's zero on the node's clock, CLOCK_MONOTONIC, in nanoseconds
	// Monotonic is the node's clock, in nanoseconds, for tests of hosts whose clocks differ; nil:
	// CLOCK_MONOTONIC. It never falls.
	Monotonic func() int64 `json:"-"`

	Workload  workload.Workload `json:"workload"`
	Entries   uint64            `json:"entries"` // number of entries of all nodes that ends the run; 0: no limit
	Multicast bool              `json:"multicast"`
	Reconnect bool              `json:"reconnect,omitempty"` // reconnect to a lost broker, without a time limit
	Seed      uint64            `json:"seed"`

	Shaper  nodes.Shaper    `json:"-"` // decides the fates of arriving messages; nil: each is delivered at once
	Watcher port.Watcher    `json:"-"` // hears of events, for faults that wait for one; may be nil
	Faults  port.FaultTaker `json:"-"` // takes faults that are added during the run; nil: no faults are added

	// Incarnation is how often the node has restarted. From 1 on, its machines recover what the process
	// before it saved in the files of Saved.
	Incarnation uint32 `json:"incarnation,omitempty"`
	// Requests is how many requests the clients of the node made in earlier incarnations, by instance. The
	// count goes on from there, so that entry numbers and draws do not repeat.
	Requests []uint64 `json:"requests,omitempty"`
	// Saved begins the names of the files for saves, one for each instance that saves. A node that must
	// forget gets a new name.
	Saved string `json:"saved,omitempty"`

	Log         string `json:"log"`          // the file to record in: a new one for each incarnation
	Origin      uint64 `json:"origin"`       // Origin of the log: see history.Header
	TraceLength int    `json:"trace_length"` // how many of the latest messages to keep
	// Texts has the log keep the texts of the program's messages.
	Texts bool `json:"texts,omitempty"`
	// TraceAll has the trace go on after a violation. Otherwise it stops, and keeps the messages before it.
	TraceAll bool   `json:"trace_all,omitempty"`
	Resource string `json:"resource,omitempty"` // the file of the shared resource
	// ResourceAt is the broker between the node and a resource process, which replaces the file (see Books).
	ResourceAt *Broker `json:"resource_at,omitempty"`
}

// A Broker is the address of the broker of a network.
type Broker struct {
	URL   string `json:"url"`
	Token string `json:"token"`
	Pin   string `json:"pin,omitempty"` // see Config.Pin
}

// brokers returns the brokers, by network.
func (c *Config) brokers() []Broker {
	all := []Broker{{c.URL, c.Token, c.Pin}}
	if c.Second != nil {
		all = append(all, *c.Second)
	}
	return all
}

// Subjects are the NATS subjects of a run. The subjects of nodes carry only algorithm messages. Subjects are
// short, since clients and brokers parse them byte by byte, at each message.
type Subjects struct{ begin string }

// SubjectsOf returns the subjects of the run with that name. They begin with six characters of a hash of the
// name, which are 36 bits: if 1,000 runs share a broker, two begin alike with a probability of 1 in 100,000.
func SubjectsOf(run string) Subjects {
	hash := sha256.Sum256([]byte(run))
	return Subjects{base64.RawURLEncoding.EncodeToString(hash[:])[:6] + "."}
}

// Node carries algorithm messages to one node.
func (s Subjects) Node(id nodes.ID) string { return s.begin + strconv.Itoa(int(id)) }

// Resource carries questions of clients to the resource process, by its own broker.
func (s Subjects) Resource() string { return s.begin + "ask" }

// Frozen carries, by the same broker, the time of the first violation of exclusion.
func (s Subjects) Frozen() string { return s.begin + "frozen" }

// Everyone carries the multicasts, to all clients.
func (s Subjects) Everyone() string { return s.begin + "all" }

// An Order is an order of the orchestrator to a node, as JSON. The comment of a field begins with the kinds
// of orders (Do) that have it.
type Order struct {
	Do       string `json:"do"`
	Begin    int64  `json:"begin,omitempty"`    // Issue: when to begin, in the run's time
	End      int64  `json:"end,omitempty"`      // Issue, End: end of issuing; 0: at an order End or by Entries
	Since    int64  `json:"since,omitempty"`    // Issue: when the run began, if the node comes up later
	Resource int    `json:"resource,omitempty"` // Ask: number of the resource to ask for
	Round    int    `json:"round,omitempty"`    // Report: copied to the answer; Restored: the order's number

	Peer nodes.ID `json:"peer,omitempty"` // Down, Up: which node

	Jump time.Duration `json:"jump,omitempty"` // SetClock: how far to set the clock ahead; negative: back
	Rate float64       `json:"rate,omitempty"` // SetClock: rate of the clock; 1 is right

	Linger time.Duration `json:"linger,omitempty"` // Leave: how long clients go on inside, or lead on

	Number int             `json:"number,omitempty"` // TakeFault: number of the fault
	Fault  json.RawMessage `json:"fault,omitempty"`  // TakeFault: the fault, as port.FaultTaker reads it
}

// The orders.
const (
	Issue = "issue" // issue requests from Begin to End
	Ask   = "ask"   // issue a single request now
	End   = "end"   // issue no more requests from End on
	Park  = "park"  // receive messages but do nothing more, so that a circulating token comes to rest
	Hush  = "hush"  // stop the failure detectors; their messages on the way still arrive
	// Outage: from now on messages may be lost with connections to the broker. Restored: all nodes are
	// connected again, and later messages must arrive.
	Outage   = "outage"
	Restored = "restored"
	// Parted comes some time after Outage: brokers are cut off from each other, so messages are lost though
	// connections stand. The next gap in each stream is explained.
	Parted = "parted"
	// Down, Up: another node has crashed, or is up again, as a perfect failure detector says
	Down   = "down"
	Up     = "up"
	Report = "report" // send a Note with the status, once all messages from the broker are handled
	Quit   = "quit"   // close the log and end

	Leave = "leave" // stop in order: the program gives up what it has, and the process ends

	TakeFault = "take-fault" // a fault is added to the run; it begins when all nodes have obeyed

	SetClock = "set-clock" // set the clock of the node's timers: jump, and change its rate
)

// A Note is a note of a node to the orchestrator, in a sequence of JSON texts.
type Note struct {
	Ready  bool              `json:"ready,omitempty"` // the node has subscribed to its subjects
	Status *nodes.NodeStatus `json:"status,omitempty"`
	Round  int               `json:"round,omitempty"` // round of the order to Report that the note answers
}
