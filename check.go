package turnstile

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"turnstile/bench"
	"turnstile/bench/plans"
	"turnstile/internal/english"
	"turnstile/nodes"
	"turnstile/nodes/explore"
)

// Bounds of what Check tries.
const (
	checkedStates = 1 << 17 // most states of each exploration
	checkedPlans  = 120     // how many runs on virtual time
	checkedSeed   = 1
)

// Check returns an error if an algorithm lacks a field or breaks a promise. It explores clusters of 1 to 3
// nodes, without faults and with a lost message, a doubled message or a crash: no order of events may break
// exclusion or leave a client waiting for ever. Then it makes 120 runs on virtual time under random faults. A
// failure outside the model of the algorithm, by its Safe and Live, is not an error. A panic is always an
// error: a machine has to ignore a second copy of a message, and a late grant. The error has the steps that
// lead to the failure and, after a run, its shrunk plan of faults with the command that repeats it.
//
// Explorations end after 131,072 states, so nil does not mean that all orders were tried: the result of
// [Explore] says whether they were. The same algorithm always gives the same result. Check takes some
// seconds.
func Check(algo *Algorithm) error {
	table, err := tableOf(algo)
	switch {
	case err != nil:
		return err
	case algo.Kind == nodes.Detection:
		return errors.New("Check is for mutual exclusion and election: check a failure detector with one")
	}
	tried := 0
	for n := 1; n <= 3; n++ {
		c := algo.Explicit(nodes.Config{N: n})
		if algo.Validate(c) != nil {
			continue
		}
		tried++
		if err := checkOrders(algo, c); err != nil {
			return err
		}
	}
	if tried == 0 {
		return fmt.Errorf("%s does not run with 1 to 3 nodes, so that nothing was checked", algo.Name)
	}
	sound := *algo
	sound.Flaw = nil // a failure counts even if the algorithm declares it as its flaw
	source := plans.Source{Algorithms: []*Algorithm{&sound}, Known: table, Seed: checkedSeed}
	for number := range checkedPlans {
		j, err := source.Job(number, false)
		if err != nil {
			return fmt.Errorf("%s under random faults: %w", algo.Name, err)
		}
		if err := checkRun(j); err != nil {
			return err
		}
	}
	return nil
}

// checkRun makes a run under random faults. If it fails, the error has the steps of the failure, the shrunk
// plan and the command that repeats it.
func checkRun(j *bench.Job) error {
	ctx := context.Background()
	tried, wrong := bench.Simulate(ctx, j)
	if wrong == nil {
		if says := plans.Wrong(j, &tried.Verdict); says != "" {
			wrong = errors.New(says)
		}
	}
	if wrong == nil {
		return nil
	}
	wrong = fmt.Errorf("%s, %s, seed %d, under %s: %w", j.Spec.Name,
		english.Count(j.Options.Config.N, "node", "nodes"), j.Options.Seed,
		strings.Join(j.Options.FaultTexts(), "; "), wrong)
	steps, plan, err := plans.ShrunkFile(ctx, j, "orchestrator")
	if err != nil || plan == "" {
		return wrong
	}
	return fmt.Errorf("%w\n%s", wrong, strings.Join(append(steps, plan), "\n"))
}

// checkOrders explores a cluster.
func checkOrders(algo *Algorithm, c nodes.Config) error {
	for _, x := range explore.Usual(algo, c) {
		x.States = checkedStates
		found, err := explore.Run(x)
		if err != nil {
			return fmt.Errorf("exploring %s with %d nodes: %w", algo.Name, c.N, err)
		}
		if v := found.Violation; v != nil {
			return fmt.Errorf("%s, %s: %s: %s\n%s\n%v", algo.Name, english.Count(c.N, "node", "nodes"), v.Check,
				v.Says, strings.Join(v.Story, "\n"), v.Schedule)
		}
	}
	return nil
}
