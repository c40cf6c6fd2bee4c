package study

import (
	"context"
	"fmt"
	"strings"
	"time"

	"turnstile/bench"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/internal/english"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/workload"
	"turnstile/option"
)

// compared are the faults of comparisons: at least one of each kind that real and simulated runs can both
// carry out. Apart from a jump of a clock, a fault begins when the measurement begins or at an event, so that
// it hits the same requests in both runs. A node is killed inside its critical section or at its exit, so
// that the speed of the others does not matter.
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

// Comparisons is the number of faults that comparisons go through in turn.
const Comparisons = 14

// Comparable returns the algorithms of mutual exclusion. Runs of electors cannot be compared: what electors
// send depends on when their timers fire in real time.
func (c *Campaign) Comparable() []*algorithm.Algorithm {
	return byKind(c.Algorithms)[nodes.MutualExclusion]
}

// Compare makes count comparisons. Each makes a real run and a simulated run under the same fault, with
// requests one at a time, so that counts do not depend on speed. A comparison is wrong if the verdicts
// differ. It is also wrong if the numbers of entries or of messages of a kind differ, unless messages
// circulate or timers send them again. The comparisons go through the faults in turn. Comparable must return
// some algorithms. The results are from the real runs. If ctx is done, or results cannot be written, the
// error says so.
func (c *Campaign) Compare(ctx context.Context, count int) ([]*Result, error) {
	algos := c.Comparable()
	return made(c.run(ctx, 1, count, 0, count, func(number int) *Case {
		algo, fault := algos[(number+number/len(compared))%len(algos)], compared[number%len(compared)]
		real, virtual := c.compared(algo, fault, number, false), c.compared(algo, fault, number, true)
		real.Expect = func(r *Result) {
			if r.Says = fault; r.Err != nil {
				r.Wrong = r.Err.Error()
				return
			}
			simulated := c.once(ctx, virtual)
			if simulated.Err != nil {
				r.Err, r.Wrong = simulated.Err, simulated.Err.Error()
			} else if was, is := outcomeOf(algo, simulated.tried), outcomeOf(algo, r.tried); was != is {
				r.Wrong = fmt.Sprintf("simulated: %s\n       real:      %s", was, is)
			}
		}
		return real
	})), c.ended(ctx)
}

// compared returns the case of an algorithm under a fault, real or simulated.
func (c *Campaign) compared(algo *algorithm.Algorithm, fault string, number int, simulated bool) *Case {
	f, err := chaos.ParseFault(fault)
	if err != nil {
		return &Case{Job: &bench.Job{Spec: algo}, Err: err}
	}
	o := option.Defaults()
	o.Config.N, o.Seed = 4, c.Seed+uint64(number)
	o.Workload = workload.Workload{Load: workload.Sequential, Hold: chance.Constant(time.Millisecond)}
	o.Workload.Receive = c.Receive
	o.Latency, o.Faults = chance.Constant(latency), []chaos.Fault{f}
	o.Duration, o.Warmup, o.WarmupLimit, o.Entries = 0, 0, 0, 30
	o.Patience = 300 * time.Millisecond
	j, err := bench.Resolve(c.Known, o, algo, simulated)
	return &Case{Job: j, Err: err}
}

// outcomeOf describes the parts of a run's outcome that do not depend on speed.
func outcomeOf(spec *algorithm.Algorithm, t *bench.Tried) string {
	v, kinds := &t.Verdict, t.Measures.Kinds
	words := []string{v.Outcome.String()}
	if v.Outcome != check.Valid {
		words[0] += " (" + v.Worst().Check + ")"
	}
	if v.OutsideModel {
		words[0] += " outside its model"
	}
	_, timed := spec.Machine(nodes.Config{N: 1}, 0).(nodes.Timed)
	if spec.Circulates || timed { // how much circulates or is sent again depends on speed
		return words[0]
	}
	words = append(words, english.Count(v.Entries, "entry", "entries"))
	for i, name := range spec.Codec().Names() { // the kinds are those of the run, since it sets no options
		words = append(words, fmt.Sprintf("%d %s", kinds[i].Sent, name))
	}
	return strings.Join(words, ", ")
}
