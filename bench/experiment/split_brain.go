package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"turnstile/bench"
	"turnstile/bench/option"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/row"
	"turnstile/nodes/workload"
	"turnstile/results"
)

// A SplitBrain says which runs are made of schemes of election whose cluster is cut in two, or some of its
// links, and healed: with the leader on either side.
type SplitBrain struct {
	Experiment
	Spread
	N     int
	Given map[string]string // options, for the schemes that have them
	Cuts  []effect.Cut      // none: the highest, fewer than half, from the others
	// For is how long they last; zero: Usual, and longer where that is too short for the scheme.
	For time.Duration
	// Duration is that of each run; zero: until the scheme has had the time that it needs after the heal.
	Duration time.Duration
	Real     bool // by processes
}

// Usual is how long a cut lasts unless the comparison says otherwise: enough for all schemes and five nodes.
const Usual = 2 * time.Second

const (
	settled = time.Second // before the cut
	// Time that processes may need beside the times of their row, since they share processors.
	spare    = 1500 * time.Millisecond
	shortest = time.Second
)

// Check completes the comparison, and says what is wrong with it, if anything is.
func (c *SplitBrain) Check() error {
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
		cut, err := effect.ParseCut(text)
		if err != nil {
			return err
		}
		c.Cuts = []effect.Cut{cut}
	}
	for _, check := range []func() error{c.checkOptions, c.settle, c.checkCuts} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// config returns the configuration of a scheme: it takes the options that it has.
func (c *SplitBrain) config(row *row.Row) nodes.Config {
	config := nodes.Config{N: c.N}
	for name, value := range c.Given {
		if row.Option(name) != nil {
			config = config.With(name, value)
		}
	}
	return config
}

// checkOptions says what is wrong with the options, if anything is.
func (c *SplitBrain) checkOptions() error {
	for name := range c.Given {
		if !slices.ContainsFunc(c.Rows, func(row *row.Row) bool { return row.Option(name) != nil }) {
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
func (c *SplitBrain) lasts() time.Duration { return cmp.Or(c.For, Usual) }

// checkCuts says what is wrong with the cuts.
func (c *SplitBrain) checkCuts() error {
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

// options returns those of the run of a case.
func (c *SplitBrain) options(x *partition) bench.Options {
	o := option.Defaults()
	o.Algorithm, o.Config, o.Seed = x.spec.Name, x.config, c.Seed
	o.Workload = workload.Workload{Load: workload.Campaign, Initiators: x.initiators()}
	o.Warmup, o.WarmupLimit, o.Faults = 0, 0, x.faults()
	if o.Duration = c.Duration; o.Duration == 0 {
		o.Duration = x.begins + x.lasts + x.spec.GraceOf(o.Config) + spare
	}
	if !c.Real {
		o.Latency = chance.Constant(latency)
	}
	c.over(&o)
	return o
}

// Takes returns about how long Run takes at least: real runs are made one after the other, and simulated ones
// take no time.
func (c *SplitBrain) Takes() (sum time.Duration) {
	for _, x := range c.cases() {
		if c.Real {
			sum += c.options(x).Duration
		}
	}
	return sum
}

// Run makes the run of each scheme in each partition, and says what came of it: once more if another led than
// was expected, who is put into the place then, or if the cut was too short for the scheme, and how long it
// lasts is left to us; and of processes up to three times. What must not be at any time stands. If ctx is
// done, it returns what there is, with the error of ctx.
func (c *SplitBrain) Run(ctx context.Context) ([]*Result, error) {
	cases := c.cases()
	return made(c.run(ctx, 1, len(cases), 0, len(cases), func(number int) *Result {
		return c.repeated(ctx, cases[number], c.once)
	})), ctx.Err()
}

func (c *SplitBrain) repeated(ctx context.Context, x *partition,
	once func(context.Context, *partition) *Result) *Result {
	return again(func() *Result { return once(ctx, x) }, func(r *Result) bool {
		if r.Err != nil || r.Wrong == inOneTerm {
			return false
		}
		moved := x.misplaced(r.Row)
		return moved || (r.Wrong != "" || r.Row.Inconclusive != "") && (c.lengthened(x, r.Row) || c.Real)
	})
}

// lengthened has the cut of a case begin later, and last longer, if that may make a run conclusive.
func (c *SplitBrain) lengthened(x *partition, row *results.SplitBrainRow) bool {
	if row.Inconclusive == "" || c.For != 0 || c.Duration != 0 || x.begins >= x.needs && x.lasts >= x.needs {
		return false
	}
	x.begins, x.lasts, x.again = max(x.begins, x.needs), max(x.lasts, x.needs), true
	return true
}

// once makes one run of a case.
func (c *SplitBrain) once(ctx context.Context, x *partition) *Result {
	o := c.options(x)
	x.left = o.Duration - x.begins - x.lasts
	var run *bench.Run
	j, err := bench.Resolve(o, x.spec, !c.Real)
	if err == nil {
		run, err = bench.Make(ctx, j, c.Setup)
	}
	if err == nil && len(run.Trials) == 0 {
		err = errors.New("it has no trial")
	}
	if err != nil {
		return &Result{Job: j, Err: fmt.Errorf("%s: %w", x.spec.Name, err)}
	}
	t := run.Trials[0]
	row := x.judged(t)
	row.Run, row.Verdict = run.Folder.Ref(), t.Verdict.Outcome.String()
	if t.Verdict.Missed && row.Differs == "" && row.Inconclusive == "" {
		row.ShowsNothing = "the cut hit no message, since none was sent across it"
	}
	return &Result{Job: j, Row: row, Wrong: row.Differs}
}
