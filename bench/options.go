package bench

import (
	"strconv"
	"strings"
	"time"

	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/workload"
)

// Options is all that a run depends on. run.yaml stores it, so that the run can be repeated.
type Options struct {
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

// WarmupLimit is the default limit of a warm-up.
const WarmupLimit = 10 * time.Second

// Defaults returns the options of a saturated load without hold, measured for three seconds after a warm-up
// of a tenth of that or more.
func Defaults() Options {
	return Options{
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

// MostResources is how many resources a run has at most: each node has a machine and counters for each.
const MostResources = 256

// resources returns how many resources clients ask for.
func (o *Options) resources() int { return max(1, o.Resources) }

// ResourceName returns what a resource is called.
func (o *Options) ResourceName(i int) string {
	if names := strings.Split(o.ResourceNames, ","); o.ResourceNames != "" && i < len(names) {
		return names[i]
	}
	return strconv.Itoa(i)
}

// warmupLimit returns the limit of the warm-up if the clients decide how long it takes; else 0.
func (o *Options) warmupLimit() time.Duration {
	switch load := o.Workload.Load; {
	case o.Entries > 0, o.WarmupLimit <= o.Warmup, load == workload.One, load == workload.Sequential,
		len(o.Faults) > 0: // their times count from its end
		return 0
	}
	return o.WarmupLimit
}

// latencies returns what the links of the run do, faults left aside. Where regions are hosts it does not say
// which node is in which: see Job.network.
func (o *Options) latencies() chaos.Network {
	return chaos.Network{Latency: o.Latency, Regions: o.Regions}
}
