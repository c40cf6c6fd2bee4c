package explore

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/replay"
)

// CheckProgress is the name for the checks of deadlock and starvation together.
const CheckProgress = "progress"

// Named returns the checks that a name stands for: CheckProgress stands for two.
func Named(check string) []string {
	if check == CheckProgress {
		return []string{replay.CheckDeadlock, replay.CheckStarvation}
	}
	return []string{check}
}

// ShowFlaw returns the space in which the flaw of a known broken algorithm shows.
func ShowFlaw(a *algorithm.Algorithm) Space {
	o := Space{Spec: a, Config: a.Explicit(a.Flaw.At), Entries: 1}
	for _, fault := range []struct {
		breaks nodes.Assumption
		times  *int
	}{{nodes.NoCrash, &o.Crashes}, {nodes.NoLoss, &o.Losses}, {nodes.NoDuplication, &o.Duplicates},
		{nodes.PerfectDetector, &o.Suspicions}} {
		if a.Flaw.By&fault.breaks != 0 {
			*fault.times = max(1, a.Flaw.Times)
		}
	}
	if a.Flaw.Also != "" { // otherwise the search could stop at the other check
		o.Checks = Named(a.Flaw.Check)
	}
	if more := showMore[a.Kind]; more != nil {
		more(&o)
	}
	o.Reordering = !o.RestsOnFIFO()
	return o
}

// showMore has, by kind of algorithm, what else shows a flaw.
var showMore = map[nodes.Kind]func(*Space){nodes.Election: (*Space).showElection}

// showElection changes the space to one in which a flaw of an elector shows.
func (o *Space) showElection() {
	// One campaign suffices for a flaw to show, and keeps the state space small.
	o.Campaigns = 1
	o.Restarts = o.Crashes > 0 && o.Spec.Elector.Terms // a flaw of terms shows when a node restarts
	switch _, timed := o.Spec.Machine(o.Spec.Flaw.At, 0).(nodes.Timed); {
	case timed && o.Spec.Live&nodes.Timing != 0: // late messages are outside the model
		const takes = 40 * time.Millisecond
		o.Timing = &replay.Timing{Latency: replay.Latency{Least: takes, Most: takes}, Tick: takes / 2}
	case timed:
		o.Timeouts = o.Spec.Flaw.At.N
	}
}

// FlawCommand returns the arguments of the command that explores this space.
func FlawCommand(a *algorithm.Algorithm) []string {
	o := ShowFlaw(a)
	args := []string{"explore", "--algo", a.Name, "-n", fmt.Sprint(o.Config.N)}
	for _, name := range slices.Sorted(maps.Keys(a.Flaw.At.Options)) {
		args = append(args, "--"+name, a.Flaw.At.Options[name])
	}
	add := func(flag string, times int) {
		if times > 0 {
			args = append(args, flag, fmt.Sprint(times))
		}
	}
	add("--crashes", o.Crashes)
	add("--losses", o.Losses)
	add("--duplicates", o.Duplicates)
	add("--suspicions", o.Suspicions)
	if o.Checks != nil {
		args = append(args, "--check", a.Flaw.Check)
	}
	add("--campaigns", o.Campaigns)
	if o.Restarts {
		args = append(args, "--restarts")
	}
	if o.Timing != nil {
		args = append(args, "--timing", o.Timing.Latency.String(), "--tick", o.Timing.Tick.String())
	}
	add("--timeouts", o.Timeouts)
	return args
}

// RestsOnFIFO reports whether the properties that are checked rest on FIFO links.
func (o *Space) RestsOnFIFO() bool {
	rests := o.Spec.SafeIn(o.Config) | o.Spec.LiveIn(o.Config)
	if slices.Contains(o.Checks, replay.CheckFairness) {
		rests |= o.Spec.Exclusion().Fair
	}
	return rests&nodes.FIFO != 0
}
