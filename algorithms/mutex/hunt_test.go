package mutex

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/internal/soak"
	"turnstile/judge/algotest"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/explore"
	"turnstile/nodes/history"
	"turnstile/nodes/replay"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

// budget is how many seeds a mutant is given to show itself.
const budget = 3000

// A catch is how a mutant was caught.
type catch struct {
	by   string // the check; empty if the mutant survived
	seed uint64
	says string
}

// hunt runs a mutant under one seed after another until a check catches it, or seeds are used up.
func (m mutant) hunt(seeds uint64) (catch, error) {
	for seed := range seeds {
		by, says, err := m.judge(seed)
		if err != nil {
			return catch{}, fmt.Errorf("%s, in which %s: %w", m.sound.Name, m.rule, err)
		}
		if by != "" {
			return catch{by, seed, says}, nil
		}
	}
	return catch{}, nil
}

// unchanged returns the sound algorithm as a mutant that differs in nothing, where m is to fail.
func (m mutant) unchanged() mutant {
	m.rule, m.spec = "nothing is changed", *m.sound
	return m
}

// judge makes a run and returns the check that fails, and what it says. That a machine breaks its contract,
// as with a second grant, counts as the check "panic".
func (m mutant) judge(seed uint64) (by, says string, err error) {
	h, o := &history.History{}, m.options(seed)
	r, err := sim.Run(o, h)
	if err != nil {
		return "", "", err
	}
	var panicked *sim.Panic
	if errors.As(r.Cut, &panicked) {
		return "panic", panicked.Text, nil
	}
	by, says = m.fault(h, o.Workload.Load, seed)
	return by, says, nil
}

// fault returns the first check that a history fails, and what it says.
func (m mutant) fault(h *history.History, load workload.Load, seed uint64) (by, says string) {
	cost := m.spec.Mutex.Cost(m.config).Any
	if load == workload.Sequential {
		cost = m.spec.Mutex.Cost(m.config).Sequential
	}
	s := check.SettingOf(m.options(0).Stack)
	s.Cost, s.CostKnown, s.Alone = cost, true, load == workload.Sequential
	s.Fills = m.hold >= longHold
	if m.unfair() {
		s.Promise = check.PromiseOf(&m.spec, m.config, time.Millisecond)
	}
	if m.cut {
		o := sim.Options{Seed: seed}
		s = check.SettingOf(m.options(seed).Stack)
		s.Faults = cutsAsked(m.part(&o))
	}
	v := check.Judge(h, s)
	at := slices.IndexFunc(v.Findings, func(f check.Finding) bool {
		return f.Outcome == check.Violated && !f.OutsideModel
	})
	if at < 0 {
		return "", ""
	}
	return v.Findings[at].Check, v.Findings[at].Says
}

// options returns a short run with the faults that the mutant is to meet. Loads take turns.
func (m mutant) options(seed uint64) sim.Options {
	detector := "perfect"
	if m.suspects {
		detector = jumpy
	}
	stack := algotest.StackOf(&m.spec, m.config, besides(&m.spec, m.config.N, detector)...)
	o := sim.Options{Stack: stack, Seed: seed, Entries: uint64(max(8*m.config.N, m.entries)),
		Patience:   20_000,
		Reordering: m.spec.Safe&nodes.FIFO == 0,
		Workload: workload.Workload{Load: workload.Saturated, Take: sizes(&m.spec, m.config),
			Hold: chance.Constant(cmp.Or(m.hold, time.Millisecond))}}
	if seed%2 == 1 {
		o.Workload.Load, o.Workload.Think = workload.Closed, algotest.Drawn("exponential:4ms")
	}
	if m.alone {
		o.Workload.Load = workload.Sequential
	}
	if m.lasting {
		o.Workload.Hold = chance.Constant(15 * time.Millisecond)
	}
	network := chaos.Network{Latency: algotest.Drawn("exponential:1ms")}
	if m.unfair() { // overtaking counts only 2N longest delays after a request, so delays must be short
		network.Latency, o.Entries = chance.Constant(time.Millisecond), uint64(40*m.config.N)
	}
	var faults []chaos.Fault
	if m.cut {
		faults = m.part(&o)
	}
	if m.copies {
		faults = append(faults, chaos.Fault{Effect: &effect.Duplicate{Of: 0.1}})
	}
	if m.losses {
		faults = append(faults, chaos.Fault{Effect: &effect.Loss{Of: effect.Losses{Rate: 0.05}}})
	}
	if m.crashes {
		roll := chance.Roll{Purpose: chance.ForTrial, Count: 3}
		victim := effect.Target{List: nodes.Group{nodes.ID(seed) % nodes.ID(m.config.N)}}
		at := time.Duration(chance.Dice(seed).Unit(roll) * float64(15*time.Millisecond))
		faults = append(faults, chaos.Fault{Effect: &effect.Kill{Who: victim},
			Schedule: chaos.Schedule{At: at}})
	}
	if m.restarts {
		dice := chance.Dice(seed)
		for i := range uint64(3) {
			roll := chance.Roll{Purpose: chance.ForTrial, Count: i}
			at := time.Duration(dice.Unit(roll) * float64(5*time.Millisecond))
			victim := nodes.ID(i) % nodes.ID(m.config.N)
			kill := effect.Kill{Who: effect.Target{List: nodes.Group{victim}}, Forget: true}
			faults = append(faults, chaos.Fault{Effect: &kill,
				Schedule: chaos.Schedule{At: at + time.Duration(i)*10*time.Millisecond, For: time.Millisecond}})
		}
	}
	algotest.Over(&o, &network, faults...)
	return o
}

// fits reports whether the check that caught the mutant is one that the mutant states.
func (m mutant) fits(by string) bool { return by != "" && strings.Contains(m.fails, by) }

// A hunted is a mutant, how a simulation caught it, and what an exploration found: the failed check (end)
// after so many states, or nothing, since three nodes do not show every fault.
type hunted struct {
	mutant
	catch
	seeds  uint64 // that were tried
	end    string
	states uint64
}

// try hunts a mutant in both ways.
func (m mutant) try(seeds uint64) (h hunted, err error) {
	h.mutant = m
	if h.catch, err = m.hunt(seeds); err != nil {
		return h, err
	}
	if h.seeds = h.seed + 1; h.by == "" {
		h.seeds = seeds
	}
	h.end, h.states, err = m.explore()
	return h, err
}

// caughtBy names the check that caught the mutant, and adds the expected checks if it is none of them.
func (h hunted) caughtBy() string {
	switch {
	case h.by == "":
		return "NOTHING"
	case !h.fits(h.by):
		return h.by + ", NOT " + h.fails
	}
	return h.by
}

// met names the faults that the mutant meets.
func (m mutant) met() (all string) {
	for _, f := range []struct {
		name  string
		meets bool
	}{{"copies", m.copies}, {"restarts", m.restarts}, {"a crash", m.crashes}, {"losses", m.losses},
		{"suspicions", m.suspects}, {"a cut", m.cut}} {
		if f.meets {
			all += ", " + f.name
		}
	}
	return strings.TrimPrefix(all, ", ")
}

// writeTable prints how each mutant was caught.
func writeTable(w io.Writer, all []*hunted) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "ALGORITHM\tWHAT IS CHANGED\tNODES\tFAULTS\tCAUGHT BY\tSEEDS\tEXPLORED TO\tSTATES")
	for _, h := range all {
		fmt.Fprintf(out, "%s\t%s\t%d\t%s\t%s\t%d\t%s\t%d\n", h.sound.Name, h.rule, h.config.N,
			cmp.Or(h.met(), "none"), h.caughtBy(),
			h.seeds, cmp.Or(h.end, "-"), h.states)
	}
	return out.Flush()
}

// explore goes through every order of events of a few nodes, until a mutant does what it must not. It
// returns the check, and how many states it took; the check is empty if there was none to find within bounds.
func (m mutant) explore() (by string, states uint64, err error) {
	for _, size := range []struct{ nodes, entries int }{{2, 1}, {2, 2}, {3, 1}, {3, 2}} {
		o := explore.Space{Spec: &m.spec, Entries: size.entries,
			Config:     nodes.Config{N: size.nodes, Units: m.config.Units, Fenced: m.config.Fenced},
			Take:       sizes(&m.spec, m.config),
			Reordering: m.spec.Safe&nodes.FIFO == 0, States: soak.Pick[uint64](100, 5000, 50_000)}
		if _, timed := m.spec.New(o.Config).(nodes.Timed); timed {
			o.Copies = 1
		}
		if m.copies {
			o.Duplicates = 1
		}
		if m.losses {
			o.Losses = 1
		}
		if m.suspects {
			o.Suspicions = 1
		}
		if m.crashes {
			o.Crashes = 1
		}
		if m.unfair() {
			o.Checks = []string{replay.CheckFairness}
		}
		if m.cut {
			o.Crashes, o.Checks = 2, []string{replay.CheckMinority}
		}
		if m.restarts {
			o.Crashes, o.Restarts, o.Amnesia = 1, true, true
		}
		x, err := explore.Run(o)
		if err != nil {
			return "", states, fmt.Errorf("%s, in which %s: %w", m.sound.Name, m.rule, err)
		}
		states += x.States
		if x.Violation != nil {
			return x.Violation.Check, states, violatedWhenPlayed(x.Violation)
		}
	}
	return "", states, nil
}

// violatedWhenPlayed plays the schedule of an explored violation. It returns an error if the checks of runs
// miss it. They call a deadlock one of progress, and find no starvation, since a schedule ends before it.
func violatedWhenPlayed(x *explore.Violation) error {
	name := strings.Replace(x.Check, replay.CheckDeadlock, "progress", 1)
	r, err := replay.Play(x.Schedule)
	if err != nil || name == replay.CheckStarvation {
		return err
	}
	v := check.Judge(r.History, check.SettingOfReplay(r.Stack))
	if v.Violates(name) {
		return nil
	}
	return fmt.Errorf("explored, it breaks %s; replayed, %+v:\n%s", x.Check, v, x.Schedule)
}
