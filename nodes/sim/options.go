package sim

import (
	"errors"
	"sync/atomic"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/port"
	"turnstile/nodes/row"
	"turnstile/nodes/workload"
)

// Options is all that a simulated run depends on. Equal options give equal histories, byte for byte, of runs
// that are not interrupted.
type Options struct {
	Stack    *row.Stack // what every node is made of
	Workload workload.Workload
	Seed     uint64

	Warmup time.Duration // before what is measured
	// WarmupLimit, if it is not zero, extends the warm-up of a run for a Duration until no client waits for its
	// first or second entry, but not beyond this.
	WarmupLimit time.Duration
	Duration    time.Duration // of what is measured; zero: until Entries
	Entries     uint64        // requests in all, warm-up included; zero: for Duration

	Latency     time.Duration    // of every message, if there is no Shaper
	Shaper      nodes.Shaper     // decides when messages arrive, and which do
	Reordering  bool             // messages of one link may arrive in any order
	Multicast   bool             // a broadcast is one publish
	FaultDriver port.FaultDriver // carries out faults; nil: there are none
	Trace       bool             // record all messages, numbered from 1, and which are lost
	Counts      bool             // record numbers of messages, at faults and where measuring begins and ends

	// Patience is how many messages may be handled and timers may run out, in all, without an entry while
	// somebody waits, before the run counts as stalled; zero: plenty. It ends runs in which messages circulate,
	// or are sent again, for ever.
	Patience uint64

	Interrupt <-chan struct{} // closed to end the run where it is; nil: never
	Beat      *atomic.Uint64  // counts up as long as handlers return; nil: nobody looks
}

// check says what is wrong with the options.
func (o *Options) check() error {
	if o.Duration == 0 && o.Entries == 0 {
		return errors.New("neither a duration nor a number of entries: the run would never end")
	}
	return o.Workload.CheckRate()
}
