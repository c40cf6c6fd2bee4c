package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"turnstile/docs"
	"turnstile/internal/english"
	"turnstile/internal/proc"
	"turnstile/internal/suggest"
	"turnstile/internal/terminal"
	"turnstile/internal/yamlfile"
	"turnstile/judge/check"
)

// lectures are the claims, and the texts that make them. Comments at the top of docs/claims.yaml describe the
// keys.
type lectures struct {
	Sources map[string]string `yaml:"sources" json:"sources"` // title of each text, by its letter, as in J6
	Claims  []*claim          `yaml:"claims" json:"claims"`
}

// A claim is a statement of a text, with the runs and tests that show it.
type claim struct {
	ID      string      `yaml:"id" json:"id"`
	Says    string      `yaml:"says" json:"says"`
	Text    string      `yaml:"text" json:"text"`
	Verdict string      `yaml:"verdict" json:"verdict"`
	Seen    string      `yaml:"seen" json:"seen"`
	Lacks   string      `yaml:"lacks" json:"lacks"`
	NoRun   string      `yaml:"no-run" json:"no_run"`
	Runs    []claimRun  `yaml:"runs" json:"runs"`
	Tests   []claimTest `yaml:"tests" json:"tests"`
}

// A claimRun is a call of the program, and the lines that it has to print.
type claimRun struct {
	Command string `yaml:"command" json:"command"`
	Status  int    `yaml:"status" json:"status"`
	Needs   string `yaml:"needs" json:"needs"`
	Prints  string `yaml:"prints" json:"prints"`
}

// A claimTest is a call of go test. A test that changes a rule of a story has the rule in the field If, and
// how the story ends in the field Then; otherwise both are empty.
type claimTest struct {
	Test string `yaml:"test" json:"test"`
	If   string `yaml:"if" json:"if"`
	Then string `yaml:"then" json:"then"`
}

// readClaims reads the claims.
func readClaims() (*lectures, error) {
	var l lectures
	return &l, yamlfile.Decode(docs.Claims, &l)
}

const claimsHelp = `Run the experiments that check the claims of five lecture texts on mutual exclusion and
election.

A claim is named by the letter of its text and a number, as in J27. Without names and flags, all claims are
listed, each with its verdict. Most named claims are run on virtual time with fixed seeds, so that their
figures are the same each time, and some with processes. Figures are compared with docs/claims.yaml. For each
named claim the command prints what the text says, what was observed, and the lines of output on which the
verdict rests.

Exit status: 0 no claim is other than said, 1 one is, 2 no claim was shown in full or interrupted,
64 bad usage.`

const claimsExample = `  orchestrator claims
  orchestrator claims J6
  orchestrator claims --source L
  orchestrator claims --all`

// A claimsCall is one call of claims.
type claimsCall struct {
	source string
	all    bool
	json   bool
}

func claimsCommand() Command {
	c := &claimsCall{}
	return Command{
		Name:     "claims [NAME ...]",
		Short:    "Run the claims of lecture texts, and print what was seen",
		Help:     claimsHelp,
		Example:  claimsExample,
		Options:  c.addTo,
		Args:     cobra.ArbitraryArgs,
		Complete: completeClaim,
		Run:      c.run,
	}
}

func (c *claimsCall) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.source, "source", "", "the claims of one text, by its `letter`")
	cmd.Flags().BoolVar(&c.all, "all", false, "all claims")
	cmd.Flags().BoolVar(&c.json, "json", false, "print the list as one JSON document instead")
	forOneCall(cmd, "source", "all", "json")
	completeWith(cmd, "source", []string{"J", "T", "L", "K", "G"})
}

// completeClaim completes the name of a claim.
func completeClaim(*cobra.Command, []string, string) (ids []string, how cobra.ShellCompDirective) {
	l, _ := readClaims()
	for _, c := range l.Claims {
		ids = append(ids, cobra.CompletionWithDesc(c.ID, c.Says))
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// run lists the claims, or runs the named ones.
func (c *claimsCall) run(ctx context.Context, a *app) error {
	l, err := readClaims()
	if err != nil {
		return err
	}
	if !c.all && c.source == "" && len(a.args) == 0 {
		if c.json {
			return terminal.PrintJSON(a.stdout, l)
		}
		l.list(a.stdout)
		return nil
	}
	if c.json {
		return errors.New("--json is for the list of all claims: leave it out")
	}
	chosen, err := l.choose(a.args, strings.ToUpper(c.source), c.all)
	if err != nil {
		return err
	}
	return runClaims(ctx, a, chosen)
}

// choose returns the claims that have one of the names, or that the text source makes. It returns an error if
// there is no such claim or text.
func (l *lectures) choose(names []string, source string, all bool) (chosen []*claim, err error) {
	if source != "" && l.Sources[source] == "" {
		return nil, fmt.Errorf("--source: there is no text %q; there are: %s", source,
			strings.Join(slices.Sorted(maps.Keys(l.Sources)), ", "))
	}
	if all && len(names) > 0 {
		return nil, fmt.Errorf("--all runs all claims, and %s names some: leave out one of the two", names[0])
	}
	known := suggest.List{By: "claims"}
	for _, c := range l.Claims {
		known.Names = append(known.Names, c.ID)
		named := func(name string) bool { return strings.EqualFold(name, c.ID) }
		if all || c.ID[:1] == source || slices.ContainsFunc(names, named) {
			chosen = append(chosen, c)
		}
	}
	for _, name := range names {
		if id := strings.ToUpper(name); !slices.Contains(known.Names, id) {
			return nil, fmt.Errorf("there is no claim %q%s", name, known.Hint(id))
		}
	}
	return chosen, nil
}

// list lists claims, each with its verdict and the part that is not shown.
func (l *lectures) list(w io.Writer) {
	for _, c := range l.Claims {
		if source := c.ID[:1]; c.ID == source+"1" {
			fmt.Fprintf(w, "\n%s: %s\n", source, l.Sources[source])
		}
		word, _, _ := strings.Cut(c.Verdict, ":")
		says := strings.TrimSuffix(c.Says+"; not shown: "+c.Lacks, "; not shown: ")
		fmt.Fprint(w, labelled(fmt.Sprintf("%-4s %-18s", c.ID, word), says))
	}
	fmt.Fprintf(w, "\n%s claims NAME runs one claim, --source LETTER those of one text, --all all of them.\n",
		terminal.Invoked())
}

// runClaims makes the runs of claims, of as many claims at a time as there are processors. It prints the
// claims in their order.
func runClaims(ctx context.Context, a *app, chosen []*claim) error {
	folder, err := proc.TempDir("claims")
	if err != nil {
		return failure{fmt.Errorf("a folder for the runs: %w", err), check.Inconclusive.ExitCode()}
	}
	defer proc.RemoveTemp(folder)
	begun, count := time.Now(), map[check.Outcome]int{}
	made, free := make([]chan func(), len(chosen)), make(chan bool, runtime.GOMAXPROCS(0))
	for i, c := range chosen {
		made[i] = make(chan func(), 1)
		go func() {
			free <- true
			outcome, text := c.run(ctx, a.program, folder)
			made[i] <- func() {
				fmt.Fprintln(a.stdout, text)
				count[outcome]++
			}
			<-free
		}()
	}
	for _, m := range made {
		if tell := <-m; ctx.Err() == nil {
			tell()
		}
	}
	switch {
	case ctx.Err() != nil:
		return failure{errors.New("interrupted"), check.Inconclusive.ExitCode()}
	case count[check.Violated] > 0:
		a.status = check.Violated.ExitCode()
	case count[check.Valid] == 0:
		a.status = check.Inconclusive.ExitCode()
	}
	if len(chosen) > 1 {
		fmt.Fprintf(a.stdout,
			"%d of %d claims as said, %d NOT AS SAID, %d not shown by runs, or in part; it took %v\n",
			count[check.Valid], len(chosen), count[check.Violated], count[check.Inconclusive],
			time.Since(begun).Round(100*time.Millisecond))
	}
	return nil
}

// run makes the runs of a claim, and returns its outcome with a text. It is Valid if all runs print what they
// have to print, Violated if one does not, and Inconclusive if there is no run or one shows nothing.
func (c *claim) run(ctx context.Context, p program, folder string) (outcome check.Outcome, text string) {
	calls, verdict, seen := "", c.Verdict, c.Seen
	count := map[check.Outcome]int{}
	for i := 0; i < len(c.Runs) && ctx.Err() == nil; i++ {
		of, lines := c.Runs[i].run(ctx, p, folder)
		count[of]++
		calls += fmt.Sprintf("  $ %s%s\n      %s\n", terminal.Invoked(),
			strings.TrimPrefix(c.Runs[i].Command, "orchestrator"), strings.Join(lines, "\n      "))
	}
	outcome = check.Inconclusive
	switch shown := count[check.Valid]; {
	case count[check.Violated] > 0:
		outcome, verdict, seen = check.Violated, "NOT AS SAID", ""
	case len(c.Runs) == 0: // tests alone show it
	case shown == len(c.Runs):
		outcome = check.Valid
	case shown == 0:
		verdict, seen = "not shown here, since none of its calls shows anything", ""
	default:
		verdict, seen = fmt.Sprintf("shown in part here, by %d of its %d calls", shown, len(c.Runs)), ""
	}
	text = labelled(c.ID, c.Says) + labelled("  the text says", c.Text) + labelled("  verdict", verdict) + calls
	for _, t := range c.Tests {
		text += labelled("  test", t.Test)
		if t.If != "" {
			text += labelled("  changed rule", t.If+": "+t.Then)
		}
	}
	return outcome, text + labelled("  seen", seen) + labelled("  not shown", c.Lacks) +
		labelled("  no run", c.NoRun)
}

// labelled returns a text behind its label, wrapped, or "" if the text is empty.
func labelled(label, text string) (lines string) {
	indent, width := max(17, len(label)), 100
	if text == "" {
		return ""
	}
	for _, line := range english.Wrap(text, width-indent) {
		lines += fmt.Sprintf("%-*s%s\n", indent, label, line)
		label = ""
	}
	return lines
}

// shellWords splits a command at its spaces. What stands in quotes of either sort is one word.
func shellWords(command string) (words []string) {
	for _, word := range regexp.MustCompile(`'[^']*'|"[^"]*"|[^\s'"]+`).FindAllString(command, -1) {
		if word[0] == '\'' || word[0] == '"' {
			word = word[1 : len(word)-1]
		}
		words = append(words, word)
	}
	return words
}

// showsNothing reports whether a call with this exit status says nothing of its claim: its server is not
// installed or did not come up, the disk was full, or the machine was too busy for its processes.
func (r *claimRun) showsNothing(status int, processes bool) bool {
	switch status {
	case r.Status:
		return false
	case usage:
		return r.Needs != ""
	case check.Inconclusive.ExitCode(), check.Overloaded.ExitCode():
		return processes
	}
	return status == unreached || status == unwritten
}

// run makes a run within this process, and returns the printed lines that r expects, or all lines with what
// is wrong. Only the command line sets its flags. Its results go to the folder.
func (r *claimRun) run(ctx context.Context, p program, folder string) (outcome check.Outcome,
	lines []string) {
	args := shellWords(r.Command)[1:]
	processes := args[0] == "bench" || args[0] == "elect"
	if (processes || args[0] == "simulate") && !slices.Contains(args, "--replay") {
		args = append(args, "--results", folder)
	}
	var out bytes.Buffer
	status := run(context.WithValue(ctx, alone{}, true), p, args, &out, &out)
	printed := strings.Split(strings.TrimSpace(out.String()), "\n")
	if r.showsNothing(status, processes) {
		return check.Inconclusive, append([]string{"shows nothing:"}, printed...)
	}
	if status != r.Status {
		wrong := fmt.Sprintf("NOT AS SAID: the exit status is %d, and the claim expects %d:", status, r.Status)
		return check.Violated, append([]string{wrong}, printed...)
	}
	rest := printed
	for _, want := range strings.Split(strings.TrimSpace(r.Prints), "\n") {
		begins, differs := strings.CutSuffix(want, "...")
		at := slices.IndexFunc(rest, func(line string) bool {
			line = strings.Join(strings.Fields(line), " ")
			return line == want || differs && strings.HasPrefix(line, begins)
		})
		if at < 0 {
			wrong := fmt.Sprintf("NOT AS SAID: it does not print the line %q, or not in this order:", want)
			return check.Violated, append([]string{wrong}, printed...)
		}
		lines, rest = append(lines, strings.TrimSpace(rest[at])), rest[at+1:]
	}
	return check.Valid, lines
}
