// Package splitbrain cuts a cluster in two, or some of its links, under every scheme of election, heals it,
// and compares who led with what the row of the scheme says: with the leader on either side.
package splitbrain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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
	Rows  []*nodes.Spec
	N     int
	Given map[string]string // options, for the schemes that have them
	Cuts  []chaos.Cut       // none: the highest, fewer than half, from the others
	// For is how long they last; zero: Usual, and longer where that is too short for the scheme.
	For time.Duration
	// Duration is that of each run; zero: until the scheme has had the time that it needs after the heal.
	Duration time.Duration
	Real     bool // by processes
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
	if c.Cuts == nil {
		text := fmt.Sprintf("0-%d/%d-%d", c.N/2, c.N/2+1, c.N-1)
		if c.N == 2 {
			text = "0/1"
		}
		cut, err := chaos.ParseCut(text)
		if err != nil {
			return err
		}
		c.Cuts = []chaos.Cut{cut}
	}
	if err := c.checkOptions(); err != nil {
		return err
	}
	return c.checkCuts()
}

// config returns the configuration of a scheme: it takes the options that it has.
func (c *Comparison) config(row *nodes.Spec) nodes.Config {
	config := nodes.Config{N: c.N}
	for name, value := range c.Given {
		if row.Option(name) != nil {
			config = config.With(name, value)
		}
	}
	return config
}

// checkOptions says what is wrong with the options, if anything is.
func (c *Comparison) checkOptions() error {
	for name := range c.Given {
		if !slices.ContainsFunc(c.Rows, func(row *nodes.Spec) bool { return row.Option(name) != nil }) {
			return fmt.Errorf("--%s: none of these schemes has it: leave it out, or name one that does (see list)",
				name)
		}
	}
	for _, row := range c.Rows {
		if err := row.Validate(c.config(row)); err != nil {
			return fmt.Errorf("%s: %w", row.Name, err)
		}
	}
	return nil
}

// lasts returns how long the cut of a first run lasts.
func (c *Comparison) lasts() time.Duration { return cmp.Or(c.For, Usual) }

// checkCuts says what is wrong with the cuts.
func (c *Comparison) checkCuts() error {
	for _, cut := range c.Cuts {
		if !cut.Links() {
			return fmt.Errorf("--cut: %v: name the nodes between which messages are lost, as in 0-1/2-4, or 0>1-2 "+
				"for one way", cut)
		}
		if err := cut.Check(c.N); err != nil {
			return fmt.Errorf("--cut: %v: %w", cut, err)
		}
		if len(cut.Sides()) == c.N && c.N > 2 {
			return fmt.Errorf("--cut: %v: this cuts off every node from every other, and leaves no side to compare",
				cut)
		}
	}
	return nil
}

// Options returns the options of the run of a case.
func (c *Comparison) Options(x *Case) bench.Options {
	o := bench.Defaults()
	o.Algorithm, o.Config, o.Seed = x.Spec.Name, x.config, c.Seed
	o.Workload = workload.Workload{Load: workload.Campaign, Initiators: x.initiators()}
	o.Warmup, o.WarmupLimit, o.Faults = 0, 0, x.faults()
	if o.Duration = c.Duration; o.Duration == 0 {
		o.Duration = x.begins + x.lasts + x.Spec.GraceOf(o.Config) + spare
	}
	if !c.Real {
		o.Latency = chance.Constant(latency)
	}
	return o
}

// Make makes the run of a case, and says what came of it: once more if another led than was expected, who is
// put into the place then, or if the cut was too short for the scheme, and how long it lasts is left to us;
// and of processes up to three times. What must not be at any time stands. An error says why a run could not
// be made.
func (c *Comparison) Make(ctx context.Context, x *Case) (*results.SplitBrainRow, error) {
	return c.repeated(ctx, x, c.once)
}

func (c *Comparison) repeated(ctx context.Context, x *Case,
	once func(context.Context, *Case) (*results.SplitBrainRow, error)) (*results.SplitBrainRow, error) {
	row, err := once(ctx, x)
	for range again - 1 {
		if err != nil || row.Differs == inOneTerm {
			break
		}
		moved, fine := x.misplaced(row), row.Differs == "" && row.Inconclusive == ""
		if !moved && (fine || !c.lengthened(x, row) && !c.Real) {
			break
		}
		row, err = once(ctx, x)
	}
	return row, err
}

// lengthened has the cut of a case begin later, and last longer, if that may make a run conclusive.
func (c *Comparison) lengthened(x *Case, row *results.SplitBrainRow) bool {
	if row.Inconclusive == "" || c.For != 0 || c.Duration != 0 || x.begins >= x.needs && x.lasts >= x.needs {
		return false
	}
	x.begins, x.lasts, x.again = max(x.begins, x.needs), max(x.lasts, x.needs), true
	return true
}

// once makes one run of a case.
func (c *Comparison) once(ctx context.Context, x *Case) (*results.SplitBrainRow, error) {
	make := bench.Simulate
	if c.Real {
		make = bench.Make
	}
	o := c.Options(x)
	x.left = o.Duration - x.begins - x.lasts
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
	if t.Verdict.Missed && row.Differs == "" && row.Inconclusive == "" {
		row.ShowsNothing = "the cut hit no message, since none was sent across it"
	}
	return row, nil
}
