// Package bench is one run from start to verdict: what was asked for, the processes that do it, what
// was measured, and what is said of it.
package bench

import (
	"time"

	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/workload"
)

// Options is all that a run depends on; run.yaml stores it, so that the run can be made again.
type Options struct {
	Algorithm string              `yaml:"algorithm"`
	Config    nodes.Config        `yaml:"config"`
	Workload  workload.Workload   `yaml:"workload"`
	Latency   chance.Distribution `yaml:"latency"`           // injected into every link, its order kept
	Regions   chaos.Regions       `yaml:"regions,omitempty"` // instead of Latency; none: all links are alike
	Multicast bool                `yaml:"multicast"`         // a broadcast is one publish

	Warmup   time.Duration `yaml:"warmup"`            // before what is measured
	Duration time.Duration `yaml:"duration"`          // of what is measured; zero: until Entries
	Entries  uint64        `yaml:"entries,omitempty"` // in all, warm-up included; zero: for Duration
	Trials   int           `yaml:"trials"`
	Seed     uint64        `yaml:"seed"`
	Patience time.Duration `yaml:"patience"`       // how long nothing may move while somebody waits
	NATS     string        `yaml:"nats,omitempty"` // a server that is there; empty: a broker of the run's own
}

// Defaults returns the options of a run for which nothing was asked: a saturated load without hold, for
// three seconds after a warm-up of a tenth of that.
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
	}
}

// network returns what the links of the run do.
func (o *Options) network() chaos.Network {
	return chaos.Network{Latency: o.Latency, Regions: o.Regions}
}
