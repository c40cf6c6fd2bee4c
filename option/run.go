// Package option defines the options of a run. A [Run] holds their values, and run.yaml stores it. [Table]
// gives each option its name, the runs it is for, and its columns. Flags, variables, files, sweeps, commands,
// summaries, tables and docs follow from the table: a new option is a field of Run and an entry of Table.
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
	Resources int          `yaml:"resources,omitempty"` // how many; each has an algorithm instance; 0: one
	// ResourceNames are the names of the resources, separated by commas; empty: they are numbered.
	ResourceNames string `yaml:"resource_names,omitempty"`

	Workload  workload.Workload   `yaml:"workload"`
	Latency   chance.Distribution `yaml:"latency"`           // injected into every link; links remain FIFO
	Regions   chaos.Regions       `yaml:"regions,omitempty"` // latencies by region; empty: all links are alike
	Multicast bool                `yaml:"multicast"`         // a broadcast is published once for all peers
	// failure detector beside the algorithm, as detector.Parse reads it
	Detector string `yaml:"detector,omitempty"`
	// name of the plan that the faults come from; empty: they come from no plan
	Plan   string        `yaml:"plan,omitempty"`
	Faults []chaos.Fault `yaml:"faults,omitempty"` // faults that the run injects: see chaos.Resolve
	// Injected maps the number of a trial to all its faults, if faults were injected or healed by hand during
	// the trial. They replace Faults.
	Injected map[int][]chaos.Fault `yaml:"injected,omitempty"`

	Warmup time.Duration `yaml:"warmup"` // length of the warm-up before the measurement
	// WarmupLimit, if not zero, extends the warm-up of a run with a Duration until every client has entered
	// twice, but not beyond this limit.
	WarmupLimit time.Duration `yaml:"warmup_limit,omitempty"`
	Duration    time.Duration `yaml:"duration"`          // length of the measurement; 0: Entries ends the run
	Entries     uint64        `yaml:"entries,omitempty"` // total, warm-up included; 0: Duration ends the run
	Trials      int           `yaml:"trials"`
	Seed        uint64        `yaml:"seed"`
	Patience    time.Duration `yaml:"patience"`       // time without progress before a check for a stall
	NATS        string        `yaml:"nats,omitempty"` // URL of a running server; empty: the run starts its own

	Trace bool `yaml:"trace,omitempty"` // record up to a million messages of each node

	// number of brokers that the run starts, with the nodes spread over them; 0: one, or one on each host
	Brokers int  `yaml:"brokers,omitempty"`
	Proxies bool `yaml:"proxies,omitempty"` // proxies between nodes and brokers, and between brokers

	Hosts int    `yaml:"hosts,omitempty"` // hosts over which the nodes are spread; 0: the run is on one machine
	Place string `yaml:"place,omitempty"` // which node is on which host, as place.Parse reads it
	// Servers are the servers of the service that the run is about, if the run starts them.
	Servers chaos.Servers `yaml:"servers,omitempty"`
	// Resource says where the clients' shared resource is kept: ResourceFile or ResourceProcess; empty:
	// ResourceFile.
	Resource string `yaml:"resource,omitempty"`
}

// NoDetector is the value of Run.Detector if no detector is to run, though the algorithm listens to one.
const NoDetector = "none"

// MostTrials is the maximum number of trials of a run, and of runs of a sweep.
const MostTrials = 100_000

// Where the clients' shared resource is kept: see Run.Resource.
const (
	ResourceFile    = "file"    // a file that all processes map
	ResourceProcess = "process" // a process that nodes ask
)

// WarmupLimit is the default limit of a warm-up.
const WarmupLimit = 10 * time.Second

// Defaults returns a run with a saturated load and no hold, measured for three seconds after a warm-up of at
// least a tenth of that.
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

// Implied returns the run that results if no option is given, for an algorithm with this configuration.
func Implied(c nodes.Config) Run {
	r := Defaults()
	r.Config, r.Workload, r.Resources = c, workload.Workload{}, 1
	return r
}

// MostResources is the maximum number of resources of a run: each node has a machine and counters for each.
const MostResources = 256

// ResourceCount returns how many resources clients ask for.
func (o *Run) ResourceCount() int { return max(1, o.Resources) }

// ResourceName returns the name of a resource.
func (o *Run) ResourceName(i int) string {
	if names := strings.Split(o.ResourceNames, ","); o.ResourceNames != "" && i < len(names) {
		return names[i]
	}
	return strconv.Itoa(i)
}

// WarmsUpTo returns the limit of the warm-up, or 0 if the warm-up has a fixed length.
func (o *Run) WarmsUpTo() time.Duration {
	switch load := o.Workload.Load; {
	case o.Entries > 0, o.WarmupLimit <= o.Warmup, load == workload.One, load == workload.Sequential,
		len(o.Faults) > 0: // the times of faults count from the end of the warm-up
		return 0
	}
	return o.WarmupLimit
}

// Network returns the behaviour of the links without faults. If regions are hosts, the result does not know
// which node is in which region: see bench.Job.
func (o *Run) Network() chaos.Network {
	return chaos.Network{Latency: o.Latency, Regions: o.Regions}
}

// FaultTexts describes the faults of the run. For a trial with injected faults it lists all faults of that
// trial, the planned ones too.
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

// TextsOf describes faults.
func TextsOf(faults []chaos.Fault) (texts []string) {
	for i := range faults {
		texts = append(texts, faults[i].String())
	}
	return texts
}

// Faulty reports whether the run has faults, planned or injected.
func (o *Run) Faulty() bool { return len(o.Faults)+len(o.Injected) > 0 }

// Detects reports whether a failure detector runs beside the algorithm.
func (o *Run) Detects() bool { return o.Detector != "" && o.Detector != NoDetector }

// Delays returns the delays of the run without faults. Longer delays than any timeout could cover are cut
// off, so that no formula overflows.
func (o *Run) Delays() nodes.Delays {
	most := math.MaxInt64 / time.Duration(64*min(max(1, o.Config.N), nodes.MostNodes))
	return nodes.Delays{Message: min(o.Longest(), most), Waits: min(o.waits(), most),
		Hold:  min(o.Workload.Hold.Longest(), most),
		Alone: o.Alone()}
}

// Longest returns the longest time from sending a message to handling it, without faults. Fewer than one
// message in a million takes longer in transit, or waits longer for the application of its node.
func (o *Run) Longest() time.Duration {
	network := o.Network()
	return network.Longest() + o.waits()
}

// waits returns the longest time that a message waits for the application.
func (o *Run) waits() time.Duration {
	return o.Workload.Receive.Waits(o.Workload.Hold.Longest(), o.Workload.Think.Longest())
}

// Bound returns an upper bound on the time from sending a message to handling it, if a bound exists.
func (o *Run) Bound() (most time.Duration, bounded bool) {
	network, w := o.Network(), &o.Workload
	most, bounded = network.Bound()
	_, hold, holds := w.Hold.Bounds()
	_, think, thinks := w.Think.Bounds()
	waits := w.Receive.Waits(hold, think)
	return most + waits, bounded && (waits == 0 || holds && thinks)
}

// Even reports whether all messages take the same time until they are handled, apart from faults.
func (o *Run) Even() bool {
	network := o.Network()
	return network.Constant() && o.Workload.Receive.IsZero()
}

// Alone reports whether requests are made one at a time.
func (o *Run) Alone() bool {
	return o.Workload.Load == workload.Sequential || o.Workload.Load == workload.One
}

// LongestPause returns how long a process may stand still or not answer before the run is aborted.
func (o *Run) LongestPause() time.Duration { return max(10*time.Second, 20*o.Patience) }

// FaultsOf describes the faults of a trial.
func (o *Run) FaultsOf(number int) string {
	if injected := o.Injected[number]; injected != nil {
		return strings.Join(TextsOf(injected), "; ")
	}
	return strings.Join(TextsOf(o.Faults), "; ")
}

// BrokerCount returns how many brokers the run has: with --nats at least 1, and otherwise one on each host by
// default.
func (o *Run) BrokerCount() int {
	if o.NATS != "" {
		return max(1, o.Brokers)
	}
	return cmp.Or(o.Brokers, max(1, o.Hosts))
}

// AsksProcess reports whether the nodes of the run ask a resource process.
func (o *Run) AsksProcess() bool { return o.Resource == ResourceProcess }
