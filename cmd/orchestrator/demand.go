package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"turnstile/bench/option"
	"turnstile/internal/chance"
	"turnstile/judge/check"
	"turnstile/nodes/election"
	"turnstile/nodes/workload"
)

// A runCommand is what one of the commands that make runs has of its own.
type runCommand struct {
	naming    string // the flag that names the algorithm
	one       string // what it names
	algorithm string // unless another is named
	nodes     int    // unless told otherwise
	find      func(name string) (*spec, error)
	problems  []*check.Problem // that its runs may be about
}

// The commands that make runs.
var (
	benchRuns = runCommand{naming: "algo", one: "algorithm", algorithm: "ricart-agrawala", nodes: 8,
		find: findAlgorithm, problems: problemsOf("bench")}
	electRuns = runCommand{naming: "scheme", one: "scheme of election", algorithm: "bully", nodes: 5,
		find: election.Find, problems: problemsOf("elect")}
	simulateRuns = runCommand{benchRuns.naming, benchRuns.one, benchRuns.algorithm, benchRuns.nodes,
		findAlgorithm, check.Problems}
)

// runCommands are those that make real runs, by name.
var runCommands = map[string]*runCommand{"bench": &benchRuns, "elect": &electRuns}

// problemsOf returns the problems of which a command makes real runs.
func problemsOf(command string) (all []*check.Problem) {
	for _, p := range check.Problems {
		if p.Command == command {
			all = append(all, p)
		}
	}
	return all
}

// table returns the algorithms that the command takes.
func (c *runCommand) table() []*spec {
	return rowsWith(func(row *spec) bool { return slices.Contains(c.problems, check.ProblemOf(row)) })
}

// resolveDemand works out what the flags ask of nodes. Options of the other problem are refused on the
// command line; elsewhere they are for other runs.
func (c *benchCall) resolveDemand(s settings) error {
	var extra []string
	for _, o := range option.Table {
		if o.Is(c.Problem.Load) {
			continue
		}
		if s.rank(o.Name) == byFlag {
			extra = append(extra, "--"+o.Name)
		}
		o.Reset(&c.Options)
	}
	if len(extra) > 0 {
		return fmt.Errorf("%s %s: leave out %s", c.Spec.Name, c.Problem.Misplaced, strings.Join(extra, ", "))
	}
	w := &c.Workload
	w.Load = cmp.Or(w.Load, c.Problem.Load)
	if !option.Find("load").Is(c.Problem.Load) {
		return nil
	}
	implications := []struct {
		flag string
		load workload.Load
		drop func()
	}{
		{"think", workload.Closed, func() { w.Think = chance.Distribution{} }},
		{"rate", workload.Open, func() { w.Rate = 0 }},
		{"arrivals", workload.Open, func() { w.Evenly = false }},
	}
	top := s.rank("load")
	for _, i := range implications {
		if s.rank(i.flag) > top {
			w.Load, top = i.load, s.rank(i.flag)
		}
	}
	if _, err := workload.ParseLoad(string(w.Load)); err != nil {
		return fmt.Errorf("--load: %w", err)
	}
	for _, i := range implications {
		switch {
		case !s.given(i.flag) || w.Load == i.load:
		case s.rank(i.flag) < top:
			i.drop()
		default:
			return fmt.Errorf("--%s is for a load that is %s, and this one is %s: leave out one of the two",
				i.flag, i.load, w.Load)
		}
	}
	if w.Load == workload.Open && !s.given("rate") {
		return errors.New("a load that is open takes --rate, the requests per second of each node")
	}
	if err := w.CheckRate(); err != nil {
		return fmt.Errorf("--rate: %w", err)
	}
	return nil
}
