package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"turnstile/chaos"
	"turnstile/internal/chance"
)

// faultFlags are the flags that ask for faults. Each of some makes one fault; others say of all these when.
type faultFlags struct {
	plan       string
	written    []string    // faults as in a plan
	fault      chaos.Fault // its keys, of all kinds
	delay      chance.Distribution
	reorder    chance.Distribution
	loss       chaos.Losses
	duplicates chaos.Share
}

func (c *faultFlags) add(f *pflag.FlagSet) {
	f.StringVar(&c.plan, "plan", "",
		"the `plan` of what goes wrong: one of those that plans lists, a file, random:SEED or inside:SEED")
	c.addFaults(f)
}

// addFaults adds the flags that ask for single faults.
func (c *faultFlags) addFaults(f *pflag.FlagSet) {
	f.StringArrayVar(&c.written, "fault", nil,
		"a fault as plans write it, as in 'kill: 2, at: 1s, for: 10ms'; may be given several times")
	f.Var(&c.fault.Cut, "cut",
		"have messages between `groups` of nodes lost for some time, as in 0-1/2-4, or 0>1-2 for one way")
	f.Var(&c.loss, "loss", "have messages lost, as in 2%, or in bursts, as in burst:1%,20%")
	f.Var(&c.delay, "delay", "have messages delayed for some time, beside --latency")
	f.Var(&c.reorder, "reorder", "have messages delayed, and overtake each other")
	f.Var(&c.duplicates, "duplicate", "have a share of messages arrive twice")
	f.Var(&c.fault.Bandwidth, "bandwidth", "have so many bytes pass each link in a second, as in 10KB")
	f.StringVar(&c.fault.Kind, "kind", "", "have these hit one `kind` of message, or token")
	f.Uint64Var(&c.fault.Nth, "nth", 0, "have these hit the `n`th of such messages alone")
	f.Var(&c.fault.Kill, "kill", "have `nodes` killed, as in 2, 0-1, random, holder or token (see plans)")
	f.BoolVar(&c.fault.Forget, "forget", false, "have who was killed forget what it saved")
	f.IntVar(&c.fault.MidInput, "mid-input", 0,
		"have --kill come in the middle of an input, after so `many` of its saves and messages")
	f.Var(&c.fault.Pause, "pause", "have `nodes` stand still for some time, as in 2, 0-1 or holder")
	f.Var(&c.fault.Slow, "slow", "have `nodes` stand still again and again")
	f.Var(&c.fault.Share, "share", "of the time that --slow takes")
	f.Var(&c.fault.Clock, "clock", "have the clocks of `nodes` jump, or run at another rate")
	f.DurationVar(&c.fault.By, "by", 0,
		"how far --clock jumps ahead, or how much later --lag has things come")
	f.Float64Var(&c.fault.Rate, "clock-rate", 0, "the rate at which --clock runs, where 1 is right")
	f.Var(&c.fault.Lag, "lag", "have what passes the connections of `nodes` to their brokers come later")
	f.Var(&c.fault.Throttle, "throttle", "have few bytes pass the connections of `nodes`")
	f.Var(&c.fault.To, "to", "how many bytes pass in a second with --throttle, as in 100KB")
	f.Var(&c.fault.Stall, "stall", "have nothing pass the connections of `nodes` for some time")
	f.Var(&c.fault.Reset, "reset",
		"have the connections of `nodes` closed, and with --for refused for some time")
	f.Var(&c.fault.KillBroker, "kill-broker", "have `brokers` killed, as in 0, and restarted after some time")
	f.Var(&c.fault.PauseBroker, "pause-broker", "have `brokers` stand still for some time")
	f.Var(&c.fault.CutRoutes, "cut-routes",
		"have the routes between `groups` of brokers cut, as in 0/1-2; takes --brokers 3")
	f.DurationVar(&c.fault.At, "at", 0,
		"when a fault begins, from the end of the warm-up (default a third of --duration)")
	f.Var(&c.fault.When, "when", "what it waits for then, as in '3 enters' or 'any receives token #5'")
	f.DurationVar(&c.fault.After, "after", 0, "how long after that it begins")
	f.DurationVar(&c.fault.For, "for", 0,
		"how long it lasts, or who was killed stays down (default a third of --duration, or for good)")
	noZero(f, "for", "would be no time at all: leave it out for the default, or write a --fault without `for` "+
		"for one that lasts to the end")
	noZero(f, "mid-input", "would be before the input: write 1 for after the first save or message")
	noZero(f, "nth", "is no message: they count from 1; leave it out for all messages")
	noZero(f, "by", "would change nothing: write how far, as in 3s, or leave it out")
	noZero(f, "clock-rate", "would be a clock that stands still: it runs at 0.01 to 100 times the right rate")
}

// faultsBy are the flags each of which makes a fault.
var faultsBy = []string{"cut", "loss", "delay", "reorder", "duplicate", "bandwidth", "kill", "pause", "slow",
	"clock", "lag", "throttle", "stall", "reset", "kill-broker", "pause-broker", "cut-routes"}

// An ofFault is a flag that says more of some faults.
type ofFault struct {
	flag string
	of   []string
}

// ofFaults are the flags that say more of a fault, and the faults that they are for; nil: all.
var ofFaults = []ofFault{
	{"kind", faultsBy[:6]}, {"nth", faultsBy[1:5]}, {"forget", []string{"kill"}}, {"share", []string{"slow"}},
	{"mid-input", []string{"kill"}},
	{"by", []string{"clock", "lag"}}, {"to", []string{"throttle"}}, {"clock-rate", []string{"clock"}},
	{"at", nil}, {"when", nil}, {"after", nil}, {"for", nil},
}

// made returns the faults that the flags make, with when they begin and how long they last by default.
func (c *faultFlags) made(s settings, at, lasts time.Duration) (all []chaos.Fault) {
	for _, name := range faultsBy {
		if !s.given(name) {
			continue
		}
		f := chaos.Fault{At: c.fault.At, When: c.fault.When, After: c.fault.After, For: c.fault.For}
		switch name {
		case "cut":
			f.Cut, f.Kind = c.fault.Cut, c.fault.Kind
		case "loss":
			f.Loss, f.Kind, f.Nth = &c.loss, c.fault.Kind, c.fault.Nth
		case "delay":
			f.Delay, f.Kind, f.Nth = &c.delay, c.fault.Kind, c.fault.Nth
		case "reorder":
			f.Reorder, f.Kind, f.Nth = &c.reorder, c.fault.Kind, c.fault.Nth
		case "duplicate":
			f.Duplicate, f.Kind, f.Nth = &c.duplicates, c.fault.Kind, c.fault.Nth
		case "bandwidth":
			f.Bandwidth, f.Kind = c.fault.Bandwidth, c.fault.Kind
		case "kill":
			f.Kill, f.Forget, f.MidInput = c.fault.Kill, c.fault.Forget, c.fault.MidInput
		case "pause":
			f.Pause = c.fault.Pause
		case "slow":
			f.Slow, f.Share = c.fault.Slow, c.fault.Share
		case "clock":
			f.Clock, f.By, f.Rate = c.fault.Clock, c.fault.By, c.fault.Rate
		default:
			c.ofTransport(name, &f)
		}
		if !s.given("at") {
			f.At = at
		}
		if !s.given("for") && (f.Kill.IsZero() || f.Forget) && !f.ForGood() {
			f.For = lasts
		}
		all = append(all, f)
	}
	return all
}

// ofTransport makes f the fault of a connection or of brokers that a flag asks for.
func (c *faultFlags) ofTransport(name string, f *chaos.Fault) {
	switch name {
	case "lag":
		f.Lag, f.By = c.fault.Lag, c.fault.By
	case "throttle":
		f.Throttle, f.To = c.fault.Throttle, c.fault.To
	case "stall":
		f.Stall = c.fault.Stall
	case "reset":
		f.Reset = c.fault.Reset
	case "kill-broker":
		f.KillBroker = c.fault.KillBroker
	case "pause-broker":
		f.PauseBroker = c.fault.PauseBroker
	case "cut-routes":
		f.CutRoutes = c.fault.CutRoutes
	}
}

// resolve returns the faults of the plan and of the flags, and the name of the plan. It sets how many brokers
// the run has, and how long it is measured, if the plan says so and the user does not.
func (c *faultFlags) resolve(s settings, scene *chaos.Scene) (name string, all []chaos.Fault, err error) {
	var p *chaos.Plan
	if c.plan != "" {
		if p, err = chaos.FindPlan(c.plan, scene); err != nil {
			return "", nil, fmt.Errorf("--plan: %w", err)
		}
		if p.Brokers > 0 && !s.given("brokers") {
			scene.Brokers = p.Brokers
		}
		if p.Duration > 0 && !s.given("duration") && scene.Measured > 0 {
			scene.Measured = p.Duration
		}
	}
	flags := c.made(s, scene.Measured/3, scene.Measured/3)
	for i := range flags {
		if err := flags[i].Check(scene); err != nil {
			return "", nil, byItsFlag(err)
		}
	}
	for _, text := range c.written {
		f, err := chaos.ParseFault(text)
		if err == nil {
			err = f.Check(scene)
		}
		if err != nil {
			return "", nil, fmt.Errorf("--fault: %w", err)
		}
		flags = append(flags, f)
	}
	if p != nil {
		if _, err := chaos.Resolve(p.Faults, scene, 1); err != nil {
			return "", nil, fmt.Errorf("--plan: %s: %w", p.Name, err)
		}
		name, all = p.Name, p.Faults
	}
	victim := "holder"
	if scene.Spec.Leads != nil {
		victim = "leader"
	}
	if err := sayOfSome(s, victim); err != nil {
		return "", nil, err
	}
	all = append(all, flags...)
	if _, err := chaos.Resolve(all, scene, 1); err != nil {
		return "", nil, err
	}
	return name, all, nil
}

// byItsFlag names the flag that a mistake is in, where the fault does not say it.
func byItsFlag(err error) error {
	var m *chaos.Mistake
	if !errors.As(err, &m) || !slices.ContainsFunc(ofFaults, func(x ofFault) bool {
		return x.flag == strings.Replace(m.Key, "rate", "clock-rate", 1)
	}) {
		return err
	}
	return fmt.Errorf("--%s: %w", strings.Replace(m.Key, "rate", "clock-rate", 1), err)
}

// sayOfSome says which flag says more of a fault that there is not, if one does. A fault that there might be
// kills the victim.
func sayOfSome(s settings, victim string) error {
	for _, x := range ofFaults {
		if s.rank(x.flag) == byFlag && !anyGiven(s, x.of) {
			return fmt.Errorf("--%s says more of a fault, and there is none that it is for: add %s", x.flag,
				dashed(x.of, victim))
		}
	}
	return nil
}

func anyGiven(s settings, names []string) bool {
	if names == nil {
		names = faultsBy
	}
	for _, name := range names {
		if s.given(name) {
			return true
		}
	}
	return false
}

// dashed lists flags, or examples if there are none.
func dashed(names []string, victim string) string {
	if names == nil {
		return "one, as in --cut 0-1/2-4 or --kill " + victim
	}
	return "--" + strings.Join(names, ", --")
}
