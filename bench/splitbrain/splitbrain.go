// Package splitbrain cuts a cluster in two under every scheme of election, heals it, and compares who led
// with what the row of the scheme says.
package splitbrain

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"turnstile/bench"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/workload"
	"turnstile/results"
)

// A Comparison says which runs are made.
type Comparison struct {
	Rows     []*nodes.Spec
	N        int
	Cut      chaos.Cut     // none: the highest, fewer than half, from the others
	For      time.Duration // how long it lasts
	Duration time.Duration // of each run; zero: until the scheme has had the time that it needs after the heal
	Real     bool          // by processes
	Seed     uint64
	Setup    bench.Setup
}

const (
	settled = time.Second // before the cut
	// What processes may need beside the times that their row says, as they share processors.
	spare    = 1500 * time.Millisecond
	shortest = time.Second
	latency  = time.Millisecond // simulated
)

// Check completes the comparison, and says what is wrong with it, if anything is.
func (c *Comparison) Check() error {
	switch {
	case c.N < 2:
		return fmt.Errorf("-n: %d: a cluster that is to be cut in two has 2 nodes or more", c.N)
	case c.For < shortest:
		return fmt.Errorf("--for: %v: let the cut last for %v or more, or nobody has noticed it when it is healed",
			c.For, shortest)
	case c.Duration != 0 && c.Duration <= settled+c.For:
		return fmt.Errorf("--duration: %v: the cut begins after %v and lasts for %v: let the run last longer, "+
			"such as %v", c.Duration, settled, c.For, settled+c.For+4*time.Second)
	}
	if c.Cut.None() {
		text := fmt.Sprintf("0-%d/%d-%d", c.N/2, c.N/2+1, c.N-1)
		if c.N == 2 {
			text = "0/1"
		}
		var err error
		if c.Cut, err = chaos.ParseCut(text); err != nil {
			return err
		}
	}
	return c.checkSides()
}

// checkSides says what is wrong with the cut.
func (c *Comparison) checkSides() error {
	sides := c.Cut.Sides()
	if sides == nil {
		return fmt.Errorf("--cut: %v: name the nodes of each side, as in 0-1/2-4", c.Cut)
	}
	in := map[nodes.ID]bool{}
	for _, side := range sides {
		if err := side.Check(c.N); err != nil {
			return fmt.Errorf("--cut: %v: %w", c.Cut, err)
		}
		for _, id := range side {
			in[id] = true
		}
	}
	for id := range nodes.ID(c.N) {
		if !in[id] {
			return fmt.Errorf("--cut: %v: node %d is on no side, and would reach all: name every node once", c.Cut,
				id)
		}
	}
	if len(sides) == c.N && c.N > 2 {
		return fmt.Errorf("--cut: %v: this cuts off every node from every other, and leaves no side to compare",
			c.Cut)
	}
	return nil
}

// A Case is a scheme in a partition.
type Case struct {
	Spec  *nodes.Spec
	Says  nodes.Partition
	Sides []chaos.Group
	N     int
	cut   chaos.Fault
}

// Cases returns the cases, those of one scheme one after the other.
func (c *Comparison) Cases() (all []*Case) {
	for _, row := range c.Rows {
		says := row.Leads.Partitions
		if len(says) == 0 {
			says = []nodes.Partition{{}}
		}
		for _, p := range says {
			all = append(all, &Case{Spec: row, Says: p, Sides: c.Cut.Sides(), N: c.N, cut: c.fault(row, p.Cuts)})
		}
	}
	return all
}

// fault returns the cut for a scheme.
func (c *Comparison) fault(row *nodes.Spec, what nodes.Severed) chaos.Fault {
	f := chaos.Fault{Cut: c.Cut, At: settled, For: c.For}
	switch what {
	case nodes.FirstNetwork:
		f.Network = new(uint8)
	case nodes.ServersToo:
		words := []string{c.Cut.String()}
		for i := range row.ServerCount(nodes.Config{N: c.N}) {
			words = append(words, fmt.Sprint(c.N+i))
		}
		cut, err := chaos.ParseCut(strings.Join(words, "/"))
		if err != nil {
			panic(err) // it has one side more
		}
		f.Cut = cut
	}
	return f
}

// Options returns the options of the run of a case.
func (c *Comparison) Options(x *Case) bench.Options {
	o := bench.Defaults()
	o.Algorithm, o.Config, o.Seed = x.Spec.Name, nodes.Config{N: c.N}, c.Seed
	o.Workload = workload.Workload{Load: workload.Campaign, Initiators: workload.AllInitiate}
	o.Warmup, o.WarmupLimit, o.Faults = 0, 0, []chaos.Fault{x.cut}
	if o.Duration = c.Duration; o.Duration == 0 {
		o.Duration = settled + c.For + x.Spec.GraceOf(o.Config) + spare
	}
	if !c.Real {
		o.Latency = chance.Constant(latency)
	}
	return o
}

// Make makes the run of a case, and says what came of it. An error says why it could not be made.
func (c *Comparison) Make(ctx context.Context, x *Case) (*results.SplitBrainRow, error) {
	make := bench.Simulate
	if c.Real {
		make = bench.Make
	}
	r, err := make(ctx, x.Spec, c.Options(x), c.Setup)
	if err == nil && len(r.Trials) == 0 {
		err = errors.New("it has no trial")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", x.Spec.Name, err)
	}
	t := r.Trials[0]
	row := x.judged(results.LedgerOf(t.Beliefs, t.Faults, t.Number), &t.Row)
	row.Run, row.Verdict = r.Folder.Ref(), t.Verdict.Outcome.String()
	return row, nil
}
