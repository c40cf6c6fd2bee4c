// Package option has the options of a run. A [Run] holds their values, and run.yaml stores it. [Table] says
// of each option what it is called, which runs it is for and which column it has: flags, variables, files,
// sweeps, commands, summaries, tables and docs follow, so that a new option is a field and one entry.
package option

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/workload"
)

// A Run is all that a run depends on. run.yaml stores it, so that the run can be repeated.
type Run struct {
	Algorithm string       `yaml:"algorithm"`
	Config    nodes.Config `yaml:"config"`
	Resources int          `yaml:"resources,omitempty"` // that clients name, each an instance; 0: one
	// ResourceNames are what they are called, with commas between; empty: by their numbers.
	ResourceNames string `yaml:"resource_names,omitempty"`

	Workload  workload.Workload   `yaml:"workload"`
	Latency   chance.Distribution `yaml:"latency"`           // injected into every link, whose order is kept
	Regions   chaos.Regions       `yaml:"regions,omitempty"` // instead of Latency; none: all links are alike
	Multicast bool                `yaml:"multicast"`         // a broadcast is one publish
	// beside the algorithm, as detector.Parse reads it
	Detector string `yaml:"detector,omitempty"`
	// the name of the plan of the faults, if it has one
	Plan   string        `yaml:"plan,omitempty"`
	Faults []chaos.Fault `yaml:"faults,omitempty"` // what is to go wrong: see chaos.Resolve
	// Injected are, by trial, all faults of the trials into which faults were injected while they went on,
	// or in which some were healed before their time, instead of Faults.
	Injected map[int][]chaos.Fault `yaml:"injected,omitempty"`

	Warmup time.Duration `yaml:"warmup"` // before what is measured
	// WarmupLimit, if it is not zero, extends the warm-up of a run for a Duration until no client waits for
	// its first or second entry, but not beyond this.
	WarmupLimit time.Duration `yaml:"warmup_limit,omitempty"`
	Duration    time.Duration `yaml:"duration"`          // of what is measured; zero: until Entries
	Entries     uint64        `yaml:"entries,omitempty"` // in all, warm-up included; zero: for Duration
	Trials      int           `yaml:"trials"`
	Seed        uint64        `yaml:"seed"`
	Patience    time.Duration `yaml:"patience"`       // how long nothing may move while somebody waits
	NATS        string        `yaml:"nats,omitempty"` // of a running server; empty: the run starts its own

	Trace bool `yaml:"trace,omitempty"` // all messages are recorded, not only the latest

	// of the run's own, nodes spread over them; 0: one, or one on each host
	Brokers int  `yaml:"brokers,omitempty"`
	Proxies bool `yaml:"proxies,omitempty"` // between the nodes and the brokers, and between the brokers

	Hosts int    `yaml:"hosts,omitempty"` // over which the nodes are spread; 0: the run is on one machine
	Place string `yaml:"place,omitempty"` // which node is on which host, as place.Parse reads it
	// Servers are those of the service that the run is about, if it has started them.
	Servers chaos.Servers `yaml:"servers,omitempty"`
	// Resource is the place of what clients share: ResourceFile or ResourceProcess; empty: the file.
	Resource string `yaml:"resource,omitempty"`
}

// NoDetector is the Run.Detector of a run without one, though its algorithm listens to one.
const NoDetector = "none"

// MostNodes is how many nodes a run takes.
const MostNodes = 1 << 20

// Places of what the clients of a run share: see Run.Resource.
const (
	ResourceFile    = "file"    // that all processes map
	ResourceProcess = "process" // that nodes ask
)

// WarmupLimit is the default limit of a warm-up.
const WarmupLimit = 10 * time.Second

// Defaults returns the options of a saturated load without hold, measured for three seconds after a warm-up
// of a tenth of that or more.
func Defaults() Run {
	return Run{
		Algorithm: "ricart-agrawala",
		Config:    nodes.Config{N: 8},
		Workload:  workload.Workload{Load: workload.Saturated},
		Warmup:    300 * time.Millisecond,
		Duration:  3 * time.Second,
		Trials:    1,
		Seed:      1,
		Patience:  3 * time.Second,

		WarmupLimit: WarmupLimit,
	}
}

// Implied returns a run for which nothing is given, of an algorithm with such a configuration.
func Implied(c nodes.Config) Run {
	r := Defaults()
	r.Config, r.Workload, r.Resources = c, workload.Workload{}, 1
	return r
}

// MostResources is how many resources a run has at most: each node has a machine and counters for each.
const MostResources = 256

// ResourceCount returns how many resources clients ask for.
func (o *Run) ResourceCount() int { return max(1, o.Resources) }

// ResourceName returns what a resource is called.
func (o *Run) ResourceName(i int) string {
	if names := strings.Split(o.ResourceNames, ","); o.ResourceNames != "" && i < len(names) {
		return names[i]
	}
	return strconv.Itoa(i)
}

// WarmsUpTo returns the limit of the warm-up if the clients decide how long it takes; else 0.
func (o *Run) WarmsUpTo() time.Duration {
	switch load := o.Workload.Load; {
	case o.Entries > 0, o.WarmupLimit <= o.Warmup, load == workload.One, load == workload.Sequential,
		len(o.Faults) > 0: // their times count from its end
		return 0
	}
	return o.WarmupLimit
}

// Network returns what the links of the run do, faults left aside. Where regions are hosts it does not say
// which node is in which: see bench.Job.
func (o *Run) Network() chaos.Network {
	return chaos.Network{Latency: o.Latency, Regions: o.Regions}
}

// Again returns the options by which the run is made again. Its injected faults are then asked for, and their
// times count from a warm-up of a fixed length.
func (o Run) Again() Run {
	if len(o.Injected) > 0 {
		o.WarmupLimit = 0
	}
	return o
}

// FaultTexts says what faults were asked for, in words. Where some were injected, those of a trial are those
// that came of all.
func (o *Run) FaultTexts() []string {
	if one := o.Injected[1]; one != nil && o.Trials == 1 {
		return TextsOf(one)
	}
	texts := TextsOf(o.Faults)
	for _, number := range slices.Sorted(maps.Keys(o.Injected)) {
		for _, text := range TextsOf(o.Injected[number]) {
			texts = append(texts, fmt.Sprintf("in trial %d: %s", number, text))
		}
	}
	return texts
}

// TextsOf says faults in words.
func TextsOf(faults []chaos.Fault) (texts []string) {
	for i := range faults {
		texts = append(texts, faults[i].String())
	}
	return texts
}

// Faulty reports whether faults were asked for, before the run or while it went on.
func (o *Run) Faulty() bool { return len(o.Faults)+len(o.Injected) > 0 }

// Detects reports whether a failure detector runs beside the algorithm.
func (o *Run) Detects() bool { return o.Detector != "" && o.Detector != NoDetector }

// Delays returns what takes time in the run, faults left aside. Times that nothing could cover are cut, so
// that no formula overflows.
func (o *Run) Delays() nodes.Delays {
	most := math.MaxInt64 / time.Duration(64*min(max(1, o.Config.N), MostNodes))
	return nodes.Delays{Message: min(o.Longest(), most), Waits: min(o.waits(), most),
		Hold:  min(o.Workload.Hold.Longest(), most),
		Alone: o.Alone()}
}

// Longest returns the longest time from the send of a message to its handling, without faults: of a million
// messages fewer than one takes longer on its way, or waits longer for the application of its node.
func (o *Run) Longest() time.Duration {
	network := o.Network()
	return network.Longest() + o.waits()
}

// waits returns the longest time for which a message waits for the application.
func (o *Run) waits() time.Duration {
	return o.Workload.Receive.Waits(o.Workload.Hold.Longest(), o.Workload.Think.Longest())
}

// Bound returns an upper bound of the time from the send of a message to its handling, if there is one.
func (o *Run) Bound() (most time.Duration, bounded bool) {
	network, w := o.Network(), &o.Workload
	most, bounded = network.Bound()
	_, hold, holds := w.Hold.Bounds()
	_, think, thinks := w.Think.Bounds()
	waits := w.Receive.Waits(hold, think)
	return most + waits, bounded && (waits == 0 || holds && thinks)
}

// Even reports whether all messages take the same time until they are handled, faults left aside.
func (o *Run) Even() bool {
	network := o.Network()
	return network.Constant() && o.Workload.Receive.IsZero()
}

// Alone reports whether requests are made one at a time.
func (o *Run) Alone() bool {
	return o.Workload.Load == workload.Sequential || o.Workload.Load == workload.One
}

// LongestPause is how long a process may stand still, or not answer, before the run is ended.
func (o *Run) LongestPause() time.Duration { return max(10*time.Second, 20*o.Patience) }

// FaultsOf says in words which faults were asked for in a trial.
func (o *Run) FaultsOf(number int) string {
	if injected := o.Injected[number]; injected != nil {
		return strings.Join(TextsOf(injected), "; ")
	}
	return strings.Join(TextsOf(o.Faults), "; ")
}

// BrokerCount returns how many brokers of its own a run has, if it has any: one on each host, unless it was
// told otherwise.
func (o *Run) BrokerCount() int {
	if o.NATS != "" {
		return max(1, o.Brokers)
	}
	return cmp.Or(o.Brokers, max(1, o.Hosts))
}

// AsksProcess reports whether the nodes of the run ask a resource process.
func (o *Run) AsksProcess() bool { return o.Resource == ResourceProcess }
