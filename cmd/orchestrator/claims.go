package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"turnstile/bench/claims"
	"turnstile/internal/english"
	"turnstile/internal/suggest"
	"turnstile/internal/terminal"
)

const claimsHelp = `Run what shows the claims of five lecture texts on mutual exclusion and election.

A claim is named by the letter of its text and a number, as in J27. Without names and flags all are
listed, with the verdict on each. A claim that is named is run: on virtual time, with fixed seeds, so its
figures are the same each time and are compared with what docs/coverage.md says. What is printed are the
lines that decide, beside what the text says, and what was seen. A claim that is wrong as the text prints
it has the rule that mends it.

--real makes the runs on processes instead, where that is possible: verdicts have to be those of the
simulated runs, and times are those of this machine.

Themes:
%s

Exit status: 0 all is as said, 1 something is not, 2 nothing was shown, or not to the end, 64 bad usage.`

const claimsExample = `  orchestrator claims
  orchestrator claims J6
  orchestrator claims --source L
  orchestrator claims --theme tokens --real
  orchestrator claims --gaps
  orchestrator claims --all`

// A claimsCall is one call of claims.
type claimsCall struct {
	source, theme            string
	all, gaps, real, verbose bool
}

func (a *app) claimsCommand() *cobra.Command {
	var c claimsCall
	var themes []string
	for _, t := range claims.Themes {
		themes = append(themes, t.Name)
	}
	themes = english.Wrap(strings.Join(themes, ", "), 100)
	cmd := &cobra.Command{
		Use:               "claims [NAME ...]",
		Short:             "Run what lecture texts claim, and say what was seen",
		Long:              fmt.Sprintf(claimsHelp, strings.Join(themes, "\n")),
		Example:           claimsExample,
		ValidArgsFunction: completeClaim,
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := settingsOf(cmd); err != nil {
				return err
			}
			return a.claims(cmd.Context(), &c, args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&c.source, "source", "", "the claims of one text, by its `letter`")
	f.StringVar(&c.theme, "theme", "", "the claims about one theme, by its `name`")
	f.BoolVar(&c.all, "all", false, "all claims")
	f.BoolVar(&c.gaps, "gaps", false, "list what is not shown, and run nothing")
	f.BoolVar(&c.real, "real", false, "make the runs on processes, where that is possible")
	f.BoolVar(&c.verbose, "verbose", false, "print all that the runs print")
	forOneCall(cmd, "source", "theme", "all", "gaps", "real", "verbose")
	cmd.RegisterFlagCompletionFunc("source", completeSource)
	cmd.RegisterFlagCompletionFunc("theme", completeTheme)
	return cmd
}

// claims runs the claims that are asked for, or lists them.
func (a *app) claims(ctx context.Context, c *claimsCall, names []string) error {
	all, err := claims.All()
	if err != nil {
		return err
	}
	asked := c.all || c.source != "" || c.theme != "" || len(names) > 0
	if c.all && len(names) > 0 {
		return fmt.Errorf("--all runs all claims, and %s names some: leave out one of the two", names[0])
	}
	if c.gaps && (c.real || c.verbose) {
		return errors.New("--gaps lists what is not shown, and runs nothing: leave out --real and --verbose")
	}
	chosen, err := c.choose(all, names)
	switch {
	case err != nil:
		return err
	case c.gaps:
		a.listGaps(chosen)
	case !asked:
		a.listClaims(chosen)
	default:
		return a.runClaims(ctx, c, chosen)
	}
	return nil
}

// choose returns the claims that are asked for: all of no name, text or theme is given.
func (c *claimsCall) choose(all []*claims.Claim, names []string) (chosen []*claims.Claim, err error) {
	known := suggest.List{By: "claims"}
	var sources, themes []string
	for _, claim := range all {
		known.Names = append(known.Names, claim.ID)
		if !slices.Contains(sources, claim.Source.Letter) {
			sources = append(sources, claim.Source.Letter)
		}
	}
	for _, t := range claims.Themes {
		themes = append(themes, t.Name)
	}
	for i, name := range names {
		if names[i] = strings.ToUpper(name); !slices.Contains(known.Names, names[i]) {
			return nil, fmt.Errorf("there is no claim %q%s", name, known.Hint(names[i]))
		}
	}
	if c.source = strings.ToUpper(c.source); c.source != "" && !slices.Contains(sources, c.source) {
		return nil, fmt.Errorf("--source: there is no text %q; there are: %s", c.source, textsOf(all))
	}
	if c.theme != "" && !slices.Contains(themes, c.theme) {
		return nil, fmt.Errorf("--theme: there is no theme %q%s", c.theme,
			suggest.List{Names: themes, By: "claims --help"}.Hint(c.theme))
	}
	for _, claim := range all {
		if (len(names) == 0 || slices.Contains(names, claim.ID)) &&
			(c.source == "" || claim.Source.Letter == c.source) &&
			(c.theme == "" || slices.Contains(claim.Themes, c.theme)) {
			chosen = append(chosen, claim)
		}
	}
	if len(chosen) == 0 {
		if len(names) == 1 && c.source != "" && names[0][:1] != c.source {
			return nil, fmt.Errorf("--source: %s is a claim of text %s, and not of %s", names[0], names[0][:1],
				c.source)
		}
		return nil, errors.New("no claim is all that: name fewer of claims, --source and --theme")
	}
	return chosen, nil
}

// textsOf lists the texts that make claims.
func textsOf(all []*claims.Claim) string {
	var texts []string
	for _, c := range all {
		if text := fmt.Sprintf("%s (%s)", c.Source.Letter, c.Source.Title); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, ", ")
}

// listClaims lists claims, with the verdict on each.
func (a *app) listClaims(all []*claims.Claim) {
	source := ""
	for _, c := range all {
		if c.Source.Letter != source {
			source = c.Source.Letter
			fmt.Fprintf(a.stdout, "\n%s: %s\n", source, c.Source.Title)
		}
		a.claimLine(c.ID, verdictOf(c), c.Says)
	}
	fmt.Fprintf(a.stdout, "\n%s NAME runs one, --source and --theme several, --all all.\n",
		terminal.Invoked()+" claims")
}

// claimLine prints a line of a list of claims, or several if it takes more.
func (a *app) claimLine(id, verdict, says string) {
	const indent, width = 24, 100
	for _, part := range english.Wrap(says, width-indent) {
		fmt.Fprintf(a.stdout, "%-4s %-18s %s\n", id, verdict, part)
		id, verdict = "", ""
	}
}

// verdictOf says in a few words what is thought of a claim.
func verdictOf(c *claims.Claim) string {
	switch {
	case c.Shown == claims.No:
		return "not shown"
	case c.Verdict == claims.None:
		return "shown"
	}
	return string(c.Verdict)
}

// listGaps lists what is not shown.
func (a *app) listGaps(all []*claims.Claim) {
	gaps := 0
	for _, c := range all {
		if gap := c.Gap(); gap != "" {
			gaps++
			shown := "in part"
			if c.Shown == claims.No {
				shown = "not shown"
			}
			a.claimLine(c.ID, shown, c.Says+": "+gap)
		}
	}
	if gaps == 0 {
		fmt.Fprintf(a.stdout, "Each of %s is shown.\n", english.Count(len(all), "claim", "claims"))
	}
}

func completeClaim(*cobra.Command, []string, string) (names []string, how cobra.ShellCompDirective) {
	all, _ := claims.All()
	for _, c := range all {
		names = append(names, cobra.CompletionWithDesc(c.ID, c.Says))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func completeSource(*cobra.Command, []string, string) (letters []string, how cobra.ShellCompDirective) {
	all, _ := claims.All()
	for _, c := range all {
		if letter := cobra.CompletionWithDesc(c.Source.Letter, c.Source.Title); !slices.Contains(letters, letter) {
			letters = append(letters, letter)
		}
	}
	return letters, cobra.ShellCompDirectiveNoFileComp
}

func completeTheme(*cobra.Command, []string, string) (names []string, how cobra.ShellCompDirective) {
	for _, t := range claims.Themes {
		names = append(names, cobra.CompletionWithDesc(t.Name, t.About))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
