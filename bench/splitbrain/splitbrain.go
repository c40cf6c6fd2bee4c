// Package splitbrain cuts a cluster in two under every scheme of election, heals it, and compares who led
// with what the row of the scheme says.
package splitbrain

import (
	"cmp"
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
	For      time.Duration // how long it lasts; zero: Usual, and longer where that is too short for the scheme
	Duration time.Duration // of each run; zero: until the scheme has had the time that it needs after the heal
	Real     bool          // by processes
	Seed     uint64
	Setup    bench.Setup
}

// Usual is how long a cut lasts unless the comparison says otherwise: enough for all schemes and five nodes.
const Usual = 2 * time.Second

// again is how often a run of processes is made that does not show what its row says, since they share a
// machine with others.
const again = 3

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
	case c.For != 0 && c.For < shortest:
		return fmt.Errorf("--for: %v: let the cut last for %v or more, or nobody has noticed it when it is healed",
			c.For, shortest)
	case c.Duration != 0 && c.Duration <= settled+c.lasts():
		return fmt.Errorf("--duration: %v: the cut begins after %v and lasts for %v: let the run last longer, "+
			"such as %v", c.Duration, settled, c.lasts(), settled+c.lasts()+4*time.Second)
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

// lasts returns how long the cut of a first run lasts.
func (c *Comparison) lasts() time.Duration { return cmp.Or(c.For, Usual) }

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
	again bool          // its cut is longer than it was
	needs time.Duration // within which it has a leader on each side that is to have one, and no other
	left  time.Duration // from the heal to the end of the run
}

// Cases returns the cases, those of one scheme one after the other.
func (c *Comparison) Cases() (all []*Case) {
	for _, row := range c.Rows {
		says := row.Leads.Partitions
		if len(says) == 0 {
			says = []nodes.Partition{{}}
		}
		for _, p := range says {
			x := &Case{Spec: row, Says: p, Sides: c.Cut.Sides(), N: c.N, cut: c.fault(row, p.Cuts)}
			if x.needs = row.GraceOf(nodes.Config{N: c.N}); c.Real {
				x.needs += spare
			}
			all = append(all, x)
		}
	}
	return all
}

// fault returns the cut for a scheme.
func (c *Comparison) fault(row *nodes.Spec, what nodes.Severed) chaos.Fault {
	f := chaos.Fault{Cut: c.Cut, At: settled, For: c.lasts()}
	switch what {
	case nodes.FirstNetwork:
		f.Network = new(chaos.Net)
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
		o.Duration = x.cut.At + x.cut.For + x.Spec.GraceOf(o.Config) + spare
	}
	if !c.Real {
		o.Latency = chance.Constant(latency)
	}
	return o
}

// Make makes the run of a case, and says what came of it: once more if the cut was too short for the scheme,
// and how long it lasts is left to us, and of processes up to three times. What must not be at any time
// stands. An error says why a run could not be made.
func (c *Comparison) Make(ctx context.Context, x *Case) (*results.SplitBrainRow, error) {
	return c.repeated(ctx, x, c.once)
}

func (c *Comparison) repeated(ctx context.Context, x *Case,
	once func(context.Context, *Case) (*results.SplitBrainRow, error)) (*results.SplitBrainRow, error) {
	row, err := once(ctx, x)
	for range again - 1 {
		if err != nil || row.Differs == inOneTerm || row.Differs == "" && row.Inconclusive == "" ||
			!c.lengthened(x, row) && !c.Real {
			break
		}
		row, err = once(ctx, x)
	}
	return row, err
}

// lengthened has the cut of a case begin later, and last longer, if that may make a run conclusive.
func (c *Comparison) lengthened(x *Case, row *results.SplitBrainRow) bool {
	if row.Inconclusive == "" || c.For != 0 || c.Duration != 0 || x.cut.At >= x.needs && x.cut.For >= x.needs {
		return false
	}
	x.cut.At, x.cut.For, x.again = max(x.cut.At, x.needs), max(x.cut.For, x.needs), true
	return true
}

// once makes one run of a case.
func (c *Comparison) once(ctx context.Context, x *Case) (*results.SplitBrainRow, error) {
	make := bench.Simulate
	if c.Real {
		make = bench.Make
	}
	o := c.Options(x)
	x.left = o.Duration - x.cut.At - x.cut.For
	r, err := make(ctx, x.Spec, o, c.Setup)
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
