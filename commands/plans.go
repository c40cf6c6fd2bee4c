package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/internal/english"
	"turnstile/internal/input"
	"turnstile/internal/terminal"
)

const plansHelp = `List the built-in plans and the parts that plans are made of, or explain one plan.

A plan lists the faults of a run, and when they begin: bench --plan NAME and
simulate --plan NAME carry it out, and elect --plan NAME if it is for
elections. --algo lists the plans that fit an algorithm. A plan of your own
is a file: see docs/plans.md.`

const plansExample = `  orchestrator plans
  orchestrator plans --algo raft-election
  orchestrator plans split-brain
  orchestrator plans ./mine.yaml
  orchestrator bench --algo ricart -n 5 --plan split-brain`

// A plansCall is one call of plans.
type plansCall struct {
	known
	algorithm string
	json      bool
}

func plansCommand(k known) Command {
	c := &plansCall{known: k}
	return Command{
		Name:     "plans [NAME]",
		Short:    "List the plans of faults, or explain one",
		Help:     plansHelp,
		Example:  plansExample,
		Options:  c.addTo,
		Args:     atMostOne,
		Complete: completePlan,
		Run:      c.run,
	}
}

func (c *plansCall) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.algorithm, "algo", "", "list the plans that fit this algorithm, by `name` or alias")
	addJSON(cmd.Flags(), &c.json)
	cmd.RegisterFlagCompletionFunc("algo", c.completeAlgorithm)
	forOneCall(cmd, "algo")
}

// readPlan returns a plan by its name: a file or, if that does not exist, a built-in plan, or one drawn by a
// seed for a run (see chaos.FindPlan).
func readPlan(name string, s *chaos.Scene) (*chaos.Plan, error) {
	text, failed := input.Read(name)
	if failed == nil {
		return chaos.ReadPlan(input.Name(name), text)
	}
	if p, ours, err := chaos.FindPlan(name, s); ours {
		return p, err
	}
	if strings.ContainsAny(name, "/.") || !errors.Is(failed, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading a plan: %w", failed)
	}
	return nil, fmt.Errorf("there is no plan %s%s, or write a file, as in ./mine.yaml", name,
		chaos.HintAtPlan(name))
}

// run lists all plans or, with --algo, the plans that fit an algorithm, or explains the named plan.
func (c *plansCall) run(_ context.Context, a *app) error {
	names := a.args
	plans, says := chaos.Plans(), func() { writePlans(a.stdout) }
	switch {
	case len(names) > 0 && c.algorithm != "":
		return fmt.Errorf("--algo lists plans, and %s names one: leave out one of the two", names[0])
	case len(names) > 0:
		p, err := readPlan(names[0], nil)
		if err != nil {
			return err
		}
		plans, says = []*chaos.Plan{p}, func() { explainPlan(a.stdout, p) }
	case c.algorithm != "":
		algo, err := c.findAlgorithm(c.algorithm)
		if err != nil {
			return err
		}
		plans = chaos.ScenariosOf(algo)
		says = func() { listPlans(a.stdout, "that fit "+algo.Name, plans) }
	}
	if c.json {
		return terminal.PrintJSON(a.stdout, planEntries(plans))
	}
	says()
	return nil
}

// planEntries returns plans as plans --json prints them.
func planEntries(plans []*chaos.Plan) []map[string]any {
	all := []map[string]any{}
	for _, p := range plans {
		faults := []map[string]any{}
		for i := range p.Faults {
			f := &p.Faults[i]
			faults = append(faults, map[string]any{"says": fmt.Sprint(f), "breaks": needs(f.Breaks())})
		}
		all = append(all, map[string]any{"name": p.Name, "about": p.About, "faults": faults})
	}
	return all
}

// listPlans lists built-in plans under a heading that names what they have in common.
func listPlans(out io.Writer, which string, plans []*chaos.Plan) {
	plansLine(out, "PLAN", "WHAT GOES WRONG (plans "+which+")")
	for _, p := range plans {
		plansLine(out, p.Name, p.About)
	}
}

// plansLine prints a line of two columns, or several if the second takes more.
func plansLine(out io.Writer, what, says string) {
	if len(what) > plansIndent-2 {
		fmt.Fprintln(out, what)
		what = ""
	}
	for i, part := range english.Wrap(says, plansWidth-plansIndent) {
		if i > 0 {
			what = ""
		}
		fmt.Fprintf(out, "%-*s  %s\n", plansIndent-2, what, part)
	}
}

// writePlans lists the plans, and the faults, targets and moments that plans are made of.
func writePlans(out io.Writer) {
	var mutual, elections, both []*chaos.Plan
	for _, p := range chaos.Plans() {
		switch excludes, elects := p.Kinds(); {
		case excludes && elects:
			both = append(both, p)
		case elects:
			elections = append(elections, p)
		default:
			mutual = append(mutual, p)
		}
	}
	line := func(what, says string) { plansLine(out, what, says) }
	listPlans(out, "for mutual exclusion", mutual)
	fmt.Fprintln(out)
	listPlans(out, "for elections", elections)
	fmt.Fprintln(out)
	listPlans(out, "for both", both)
	line("random:SEED", "A few faults, drawn by a seed.")
	line("inside:SEED", "The same, with faults that keep the assumptions of the algorithm.")
	line("\nFAULT", " WHAT HAPPENS")
	for _, k := range effect.Kinds {
		line(k.Example, fmt.Sprintf("%s; breaks: %v", k.Says, k.Breaks))
	}
	line("\nTARGET", " WHAT IS HIT")
	line("3, 0-2, 0-2,5", "these nodes")
	line("host 1, host 0-2", "the nodes on these hosts; takes --hosts")
	line("broker 0, broker 0-1", "these brokers, with kill, pause and cut")
	line("server 0, server 0-1", "these servers of a service, with kill, pause, clock and cut; takes --service")
	line("server leader", "the server that leads at that time, or is the primary")
	line("server of holder", "the server whose answer came last to the next client to enter")
	for _, t := range effect.TargetWords {
		line(t.Word, t.Says)
	}
	line("\nMOMENT", " WHEN THAT IS")
	for _, o := range chaos.Occasions {
		line(o.Example, o.Says)
	}
}

// The width of the first of the two columns that plans prints, and of both together.
const (
	plansIndent = 27
	plansWidth  = 100
)

// explainPlan prints the file of a plan, and each of its faults in words.
func explainPlan(out io.Writer, p *chaos.Plan) {
	fmt.Fprintf(out, "%s: %s\n\n", p.Name, p.About)
	for i := range p.Faults {
		f := &p.Faults[i]
		fmt.Fprintf(out, "%d. %v\n   breaks: %v\n", i+1, f, f.Breaks())
	}
	fmt.Fprintf(out, "\nIts file, to copy and change:\n\n%s", p.Text)
}
