package bench

import (
	"fmt"
	"time"

	"turnstile/algorithms/detector"
	"turnstile/internal/english"
	"turnstile/nodes"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
	"turnstile/option"
)

// fewHeartbeats is how many heartbeats a second leave a core time for other work. Measured: 64 nodes that
// send every 50 ms exchange 80,640 heartbeats a second, which use up two cores.
const fewHeartbeats = 20_000

// manyNodes is how many node processes a core can run. Measured: two cores managed 256, but with 1,000 no
// client entered within 3 s.
const manyNodes = 200

// Remarks warns about valid options that are likely to show something other than expected. Cores is the
// number of cores of a run of processes, and 0 for a simulated run.
func (j *Job) Remarks(cores int) (all []string) {
	remark := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	for _, in := range j.Stack.Instances()[1:] {
		if most := float64(fewHeartbeats * cores); cores > 0 && detector.Rate(in) > most {
			longer := time.Duration(float64(detector.Period(in)) * detector.Rate(in) / most)
			remark("%d nodes send each other %s heartbeats a second, for which %s may have no time: nodes that are "+
				"up will be suspected; take fewer nodes, --detector %s, or simulate", j.Config.N,
				english.Thousands(detector.Rate(in)), english.Count(cores, "core", "cores"),
				detector.Slower(in, longer.Truncate(10*time.Millisecond)+10*time.Millisecond))
		}
	}
	if n := j.Config.N; cores > 0 && n > manyNodes*cores {
		remark("%s processes share %s, and an entry may take minutes: simulate -n %d makes such a run on "+
			"virtual time", english.Thousands(float64(n)), english.Count(cores, "core", "cores"), n)
	}
	for _, in := range j.Stack.Instances() {
		for _, short := range in.Core().Short(j.Delays()) {
			remark("%s", tooShort(short))
		}
		for _, short := range in.Core().AsksAgain(j.Delays()) {
			remark("%s of %s is %s, but an answer may take %s: messages will be repeated needlessly; %s",
				short.Option.Name, short.Spec.Name, short.Config.Value(*short.Option), short.Covers,
				instead(short))
		}
	}
	if len(j.TooShort()) > 0 {
		remark("so this run is outside the model of %s, which needs bounded delays: failures are "+
			"reported, but they do not count as violations", j.Spec.Name)
	}
	demand := kindOf(j.Problem.Kind).demand
	if takes, longer := demand.tooLong(j); j.Duration > 0 && takes > 0 {
		remark("%s may take %v, but the run measures only %v and may show nothing: take --duration %v or more",
			demand.one(), takes.Round(time.Millisecond), j.Duration, (longer + time.Second).Truncate(time.Second))
	}
	if least, _, bounded := j.Workload.Hold.Bounds(); j.Simulated && !j.Problem.Leads && bounded &&
		least < sim.LeastCycle {
		remark("hold %v: from its request until it leaves a client takes at least %v, so that virtual time passes",
			j.Workload.Hold, sim.LeastCycle)
	}
	switch n := j.Config.N; {
	case (j.Spec.Safe|j.Spec.Live)&nodes.Majority == 0:
	case n < 3:
		remark("a majority of %d is all nodes: one crash stops the rest; with 3 nodes, one may crash", n)
	case n%2 == 0:
		remark("%d nodes tolerate no more crashes than %d nodes do, namely %d", n, n-1, n/2-1)
	}
	if j.Detector == option.NoDetector {
		remark("%s listens to a failure detector, and none runs: it will not notice crashes", j.Spec.Name)
	}
	return all
}

// Lockstep warns that the nodes of a simulated run move in lockstep: every message and every hold takes the
// same time, and clients do not think. Real nodes never do, so rates may be far off. Lockstep returns "" if
// there is nothing to warn about.
func (j *Job) Lockstep() string {
	l := j.Latency.Mean()
	if !j.Simulated || j.Config.N < 2 || j.Workload.Load != workload.Saturated ||
		!j.Latency.IsConstant() || l == 0 || !j.Regions.None() || !j.Workload.Hold.IsConstant() {
		return ""
	}
	return fmt.Sprintf("the nodes move in lockstep, since every message takes %v: rates may be far from "+
		"those with --latency uniform:%v,%v", l, l*9/10, l*11/10)
}

// outlasts returns how long a run must last to go on for a given time after its last fault. A fault that
// begins after a third of the duration, the default, is assumed to begin there in the longer run too.
func (j *Job) outlasts(by time.Duration) (longest time.Duration) {
	longest = by
	for i := range j.Faults {
		f := &j.Faults[i]
		longer := f.At + f.For + by
		if f.At == j.Duration/3 {
			longer = (f.For + by) / 2 * 3
		}
		longest = max(longest, longer)
	}
	return longest
}

// tooShort reports that a timeout does not cover the run's delays.
func tooShort(s nodes.ShortTimeout) string {
	return fmt.Sprintf("%s of %s is %s, and has to be longer than %s: %s; %s", s.Option.Name, s.Spec.Name,
		s.Config.Value(*s.Option), s.Covers, kindOf(s.Spec.Kind).tooSoon,
		instead(s))
}

// instead suggests a value for a timeout that is too short.
func instead(s nodes.ShortTimeout) string {
	if s.Enough == "" {
		return "no value that its options allow is long enough: take shorter delays"
	}
	return "leave it out, or take " + s.Enough
}
