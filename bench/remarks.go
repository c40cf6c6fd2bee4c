package bench

import (
	"fmt"
	"time"

	"turnstile/internal/english"
	"turnstile/nodes"
	"turnstile/nodes/detector"
)

// fewHeartbeats is how many heartbeats a second leave a core with time for other things: the 80,640 of 64
// nodes, 50 ms apart, have taken all the time of two cores.
const fewHeartbeats = 20_000

// manyNodes is how many processes a core can run: 256 were measured on two cores, and of 1,000 nobody entered
// within 3 s.
const manyNodes = 200

// Remarks says what of valid options is allowed and yet likely to show something else than is expected, of a
// run of processes on so many cores; of a simulated one, cores is 0.
func (o *Options) Remarks(spec *nodes.Spec, cores int) (all []string) {
	remark := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	for _, in := range o.beside() {
		if most := float64(fewHeartbeats * cores); cores > 0 && detector.Rate(in) > most {
			longer := time.Duration(float64(detector.Period(in)) * detector.Rate(in) / most)
			remark("%d nodes send each other %s heartbeats a second, for which %s may have no time: nodes that are "+
				"up will be suspected; take fewer nodes, --detector %s, or simulate", o.Config.N,
				english.Thousands(detector.Rate(in)), english.Count(cores, "core", "cores"),
				detector.Slower(in, longer.Truncate(10*time.Millisecond)+10*time.Millisecond))
		}
	}
	if n := o.Config.N; cores > 0 && n > manyNodes*cores {
		remark("%s processes share %s, and an entry may take minutes: simulate -n %d makes such a run on "+
			"virtual time", english.Thousands(float64(n)), english.Count(cores, "core", "cores"), n)
	}
	for _, in := range o.stack(spec).Instances() {
		for _, short := range in.Short(o.delays()) {
			remark("%s", tooShort(short))
		}
	}
	if len(o.TooShort(spec)) > 0 {
		remark("so this run is not judged by what %s promises where delays are bounded", spec.Name)
	}
	if what, takes := o.takes(spec); o.Duration > 0 && takes > o.Duration {
		remark("%s may take %v, and %v are measured: that may show nothing; take --duration %v or more", what,
			takes.Round(time.Millisecond), o.Duration, (takes + time.Second).Truncate(time.Second))
	}
	switch n := o.Config.N; {
	case (spec.Safe|spec.Live)&nodes.Majority == 0:
	case n < 3:
		remark("a majority of %d is all: the crash of any stops the rest; it takes 3 nodes to outlast one", n)
	case n%2 == 0:
		remark("a majority of %d is %d, one more than of %d, which outlast as many crashes: %d", n, n/2+1, n-1,
			n/2-1)
	}
	if o.Detector == NoDetector {
		remark("%s listens to a failure detector, and none runs: it takes no notice of crashes", spec.Name)
	}
	return all
}

// takes returns how long an election or an entry takes because of the delays of the run; 0: not for long.
func (o *Options) takes(spec *nodes.Spec) (what string, takes time.Duration) {
	d := o.delays()
	if spec.Leads == nil {
		hops := spec.Cost(o.Config).Delay.Max
		return "an entry", d.Hold + time.Duration(min(hops, float64(o.Config.N))*float64(d.Message))
	}
	const laps = 8 // of messages one after the other: few elections of schemes without timeouts take more
	what, takes = "an election", o.stack(spec).Grace()
	if takes == 0 {
		return what, laps * time.Duration(o.Config.N) * d.Message
	}
	plain := Options{Config: nodes.Config{N: o.Config.N}}
	if scene, err := plain.Scene(spec, true); err == nil && takes <= scene.Stack.Grace() {
		return what, 0
	}
	return what, takes
}

// tooShort says that a timeout does not cover the delays of the run.
func tooShort(s nodes.ShortTimeout) string {
	then := "what is slow will be taken for lost"
	switch {
	case s.Spec.Detector:
		then = "nodes that are up will be suspected"
	case s.Spec.Leads != nil:
		then = "several may come to lead, or none"
	}
	instead := "leave it out, or take " + s.Enough
	if s.Enough == "" {
		instead = "no value that goes with the other options is"
	}
	return fmt.Sprintf("%s of %s is %s, and has to be longer than %s: %s; %s", s.Option.Name, s.Spec.Name,
		s.Config.Value(*s.Option), s.Covers, then, instead)
}
