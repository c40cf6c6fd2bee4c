package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"turnstile/chaos"
)

const plansHelp = `List the plans that come with the program, and what plans are made of, or explain one.

A plan says what goes wrong in a run, and when: bench --plan NAME and
simulate --plan NAME carry it out. A plan of your own is a file: see
docs/plans.md.`

const plansExample = `  orchestrator plans
  orchestrator plans split-brain
  orchestrator plans ./mine.yaml
  orchestrator bench --algo ricart -n 5 --plan split-brain`

func (a *app) plansCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "plans [NAME]",
		Short:   "List the plans of what goes wrong, or explain one",
		Long:    plansHelp,
		Example: plansExample,
		Args:    atMostOne,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (names []string,
			_ cobra.ShellCompDirective) {
			for _, p := range chaos.Plans() {
				names = append(names, p.Name)
			}
			return names, cobra.ShellCompDirectiveDefault
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				writePlans(a.stdout)
				return nil
			}
			p, err := chaos.FindPlan(args[0], nil)
			if err != nil {
				return err
			}
			explainPlan(a.stdout, p)
			return nil
		},
	}
	return cmd
}

// writePlans lists the plans, and what plans are made of.
func writePlans(out io.Writer) {
	line := func(what, says string) {
		for i, part := range folded(says, plansWidth-plansIndent) {
			if i > 0 {
				what = ""
			}
			fmt.Fprintf(out, "%-*s%s\n", plansIndent, what, part)
		}
	}
	line("PLAN", "WHAT GOES WRONG")
	for _, p := range chaos.Plans() {
		line(p.Name, p.About)
	}
	line("random:SEED", "One to five faults, drawn by a seed.")
	line("inside:SEED", "The same, of faults that break nothing that the algorithm rests on.")
	line("\nFAULT", " WHAT HAPPENS")
	for i := range chaos.Kinds {
		k := &chaos.Kinds[i]
		line(k.Example, fmt.Sprintf("%s; breaks: %v", k.Says, k.Breaks))
	}
	line("\nTARGET", " WHO THAT IS")
	line("3, 0-2, 0-2,5", "these nodes")
	for _, t := range chaos.TargetWords {
		line(t.Word, t.Says)
	}
	line("\nMOMENT", " WHEN THAT IS")
	for _, o := range chaos.Occasions() {
		line(o.Example, o.Says)
	}
}

// The list of plans has two columns.
const (
	plansIndent = 27
	plansWidth  = 100
)

// folded folds a text into lines of so many characters at most, if its words allow that.
func folded(text string, width int) (lines []string) {
	line := ""
	for i, word := range strings.Split(text, " ") {
		if i > 0 && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines, line = append(lines, line), word
			continue
		}
		if i > 0 {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// explainPlan prints the file of a plan, and each of its faults in words.
func explainPlan(out io.Writer, p *chaos.Plan) {
	fmt.Fprintf(out, "%s: %s\n\n", p.Name, p.About)
	for i := range p.Faults {
		f := &p.Faults[i]
		fmt.Fprintf(out, "%d. %v\n   breaks: %v\n", i+1, f, f.Breaks())
	}
	fmt.Fprintf(out, "\nIts file, to copy and change:\n\n%s", p.Text)
}
