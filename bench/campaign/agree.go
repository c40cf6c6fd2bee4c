package campaign

import (
	"context"
	"fmt"
	"strings"
	"time"

	"turnstile/bench"
	"turnstile/bench/check"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/internal/english"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// compared are the faults by which real runs are compared with simulated ones: of every kind that both can
// carry out. They begin with what is measured, or where something happens, so that they hit the same
// requests. Who is killed dies inside: all others wait for it, or else it would depend on speed what they do
// while it is down.
var compared = []string{
	"cut: 0/1-3",
	"loss: 3%",
	"loss: 'burst:2%,30%'",
	"loss: 100%, nth: 5, between: 0>1",
	"delay: 'exponential:5ms'",
	"duplicate: 20%",
	"reorder: 'uniform:0s,5ms'",
	"bandwidth: 10KB",
	"kill: holder",
	"kill: 2, when: '2 exits #2', for: 500ms",
	"kill: 2, when: '2 exits #2', for: 500ms, forget: true",
	"pause: 2, when: '2 enters #2', for: 20ms",
	"slow: 1, share: 50%, for: 50ms",
	"clock: 2, by: 1s, at: 20ms",
}

// Comparisons is how many comparisons there are for each row: one for each fault.
const Comparisons = 14

// An Agreement is what a real run and a simulated one made of one fault.
type Agreement struct {
	Case  *Case
	Fault string
	// Simulated and Real say what came of each: the verdict and, unless messages circulate or are sent again by
	// timers, how many entries there were, and how many messages of each kind.
	Simulated, Real string
	Err             error // why one of them could not be made
}

// Holds reports whether the two runs agree.
func (a *Agreement) Holds() bool { return a.Err == nil && a.Simulated == a.Real }

// comparable returns the rows whose real runs can be compared with simulated ones: those of mutual exclusion.
// What electors send depends on when their timers run out, which real time decides.
func (c *Campaign) comparable() (all []*nodes.Spec) {
	for _, row := range c.Rows {
		if row.Leads == nil {
			all = append(all, row)
		}
	}
	return all
}

// Comparable reports whether there is anything to compare.
func (c *Campaign) Comparable() bool { return len(c.comparable()) > 0 }

// Compare makes a comparison: it carries out a fault in a run of real processes and in a simulated one, in
// both of which requests come one at a time, so that counts do not depend on speed. The number, from 0, says
// which fault and which row: the first Comparisons are of different faults. There is a row: see Comparable.
func (c *Campaign) Compare(ctx context.Context, number int) *Agreement {
	rows := c.comparable()
	spec := rows[(number+number/len(compared))%len(rows)]
	a := &Agreement{Fault: compared[number%len(compared)], Case: &Case{Spec: spec, Real: true}}
	a.Err = c.compare(ctx, a, uint64(number))
	return a
}

func (c *Campaign) compare(ctx context.Context, a *Agreement, number uint64) error {
	fault, err := chaos.ParseFault(a.Fault)
	if err != nil {
		return err
	}
	spec, o := a.Case.Spec, bench.Defaults()
	o.Algorithm, o.Config.N, o.Seed = spec.Name, 4, c.Seed+number
	o.Workload = workload.Workload{Load: workload.Sequential, Hold: chance.Constant(time.Millisecond)}
	o.Latency, o.Faults = chance.Constant(time.Millisecond), []chaos.Fault{fault}
	o.Duration, o.Warmup, o.WarmupLimit, o.Entries = 0, 0, 0, 30
	o.Patience = 300 * time.Millisecond
	a.Case.Options = o
	simulated, err := bench.Try(ctx, spec, o)
	if err != nil {
		return err
	}
	run, err := bench.Make(ctx, spec, o, c.Setup)
	if run == nil || len(run.Trials) == 0 {
		return fmt.Errorf("making the real run: %w", err)
	}
	t := run.Trials[0]
	if t.Trouble != "" {
		return fmt.Errorf("making the real run: %s", t.Trouble)
	}
	a.Simulated = outcomeOf(spec, &simulated.Verdict, simulated.Measures.Messages.Kinds[:])
	a.Real = outcomeOf(spec, &t.Verdict, t.Measures.Messages.Kinds[:])
	return nil
}

// outcomeOf says what came of a run, as far as speed has no part in it.
func outcomeOf(spec *nodes.Spec, v *check.Verdict, kinds []history.KindTotals) string {
	words := []string{v.Outcome.String()}
	if v.Outcome != check.Valid {
		words[0] += " (" + v.Worst().Check + ")"
	}
	if v.OutsideModel {
		words[0] += " outside its model"
	}
	_, timed := spec.Machine(nodes.Config{N: 1}, 0).(nodes.Timed)
	if spec.Circulates || timed { // what moves meanwhile, or is sent again, depends on speed
		return words[0]
	}
	words = append(words, english.Count(v.Entries, "entry", "entries"))
	for i := range spec.Messages {
		words = append(words, fmt.Sprintf("%d %s", kinds[i].Sent, spec.Codec().Name(i)))
	}
	return strings.Join(words, ", ")
}
