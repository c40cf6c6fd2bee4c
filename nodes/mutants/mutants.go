// Package mutants judges the judges: it has the simulator and the checks look for what is wrong with
// algorithms of which one rule was changed.
package mutants

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"turnstile/bench/check"
	"turnstile/chaos"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/mutex"
	"turnstile/nodes/sim"
	"turnstile/nodes/workload"
)

// Budget is how many seeds a mutant is given to show itself.
const Budget = 3000

// A Catch is how a mutant was caught.
type Catch struct {
	Mutant mutex.Mutant
	By     string // the check; empty if the mutant survived
	Seed   uint64
	Says   string
}

// Hunt runs a mutant under one seed after another until a check catches it, or seeds are used up.
func Hunt(m mutex.Mutant, seeds uint64) (Catch, error) {
	for seed := range seeds {
		by, says, err := judge(m, seed)
		if err != nil {
			return Catch{}, fmt.Errorf("%s, in which %s: %w", m.Of, m.Name, err)
		}
		if by != "" {
			return Catch{m, by, seed, says}, nil
		}
	}
	return Catch{Mutant: m}, nil
}

// Sound returns the sound algorithm as a mutant that differs in nothing, where m is to fail.
func Sound(m mutex.Mutant) mutex.Mutant {
	m.Name, m.Spec = "nothing is changed", m.Sound
	return m
}

// judge makes a run and returns the check that fails, and what it says. That a machine breaks its contract,
// as with a second grant, counts as the check "panic".
func judge(m mutex.Mutant, seed uint64) (by, says string, err error) {
	r, err := sim.Run(options(m, seed))
	if err != nil {
		return "", "", err
	}
	var panicked *sim.Panic
	if errors.As(r.Cut, &panicked) {
		return "panic", panicked.Text, nil
	}
	by, says = fault(m, r.History)
	return by, says, nil
}

// fault returns the first check that a history fails, and what it says.
func fault(m mutex.Mutant, h *history.History) (by, says string) {
	cost := m.Spec.Cost(m.Config).Any
	s := check.Setting{Config: m.Config, Algorithm: m.Of, Cost: cost, CostKnown: true,
		Identities: m.Spec.Identities, Circulates: m.Spec.Circulates, Safe: m.Spec.Safe, Live: m.Spec.Live}
	s.Kinds = m.Spec.Codec().Names()
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
func options(m mutex.Mutant, seed uint64) sim.Options {
	o := sim.Options{Spec: &m.Spec, Config: m.Config, Seed: seed, Entries: uint64(8 * m.Config.N),
		Patience:   20_000,
		Reordering: m.Spec.Safe&nodes.FIFO == 0,
		Workload:   workload.Workload{Load: workload.Saturated, Hold: chance.Constant(time.Millisecond)}}
	if seed%2 == 1 {
		o.Workload.Load, o.Workload.Think = workload.Closed, exponential("4ms")
	}
	network := chaos.Network{Latency: exponential("1ms")}
	if m.Duplication {
		network.Duplication = 0.1
	}
	o.Shaper = network.Shaper(chance.Dice(seed))
	if m.Restarts {
		dice := chance.Dice(seed)
		for i := range uint64(3) {
			roll := chance.Roll{Purpose: chance.ForTrial, Count: i}
			at := time.Duration(dice.Unit(roll) * float64(5*time.Millisecond))
			o.Crashes = append(o.Crashes, sim.Crash{Node: nodes.ID(i) % nodes.ID(m.Config.N), Amnesia: true,
				At: at + time.Duration(i)*10*time.Millisecond, Restart: time.Millisecond})
		}
	}
	return o
}

func exponential(mean string) chance.Distribution {
	s, err := chance.ParseDistribution("exponential:" + mean)
	if err != nil {
		panic(err) // a slip of the pen above
	}
	return s
}

// fits reports whether a mutant was caught by a check that it states.
func fits(c Catch) bool { return c.By != "" && strings.Contains(c.Mutant.Check, c.By) }

// WriteTable hunts mutants, prints how each was caught, and returns how many survived or were caught for
// another reason than those they state. What an exploration finds stands beside that: an end within so many
// states, or a dash, since not everything shows among three nodes.
func WriteTable(w io.Writer, mutants []mutex.Mutant) (wrong int, err error) {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "ALGORITHM\tWHAT IS CHANGED\tNODES\tFAULTS\tCAUGHT BY\tSEEDS\tEXPLORED TO\tSTATES")
	for _, m := range mutants {
		c, err := Hunt(m, Budget)
		if err != nil {
			return wrong, err
		}
		faults := "none"
		switch {
		case m.Duplication:
			faults = "copies"
		case m.Restarts:
			faults = "restarts"
		}
		by := c.By
		switch {
		case by == "":
			by = "NOTHING"
			c.Seed = Budget - 1
		case !fits(c):
			by += ", NOT " + m.Check
		}
		if !fits(c) {
			wrong++
		}
		end, states, err := Explore(m)
		if err != nil {
			return wrong, err
		}
		fmt.Fprintf(out, "%s\t%s\t%d\t%s\t%s\t%d\t%s\t%d\n", m.Of, m.Name, m.Config.N, faults, by, c.Seed+1,
			cmp.Or(end, "-"), states)
	}
	return wrong, out.Flush()
}
