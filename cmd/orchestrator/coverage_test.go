package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"turnstile/internal/soak"
	"turnstile/judge/check"
)

// Claims of the five texts are numbered, have a verdict and what was seen, and runs and tests show them.
func TestCoverage(t *testing.T) {
	l, err := readClaims()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, text := range []struct {
		letter string
		claims int
	}{{"J", 40}, {"T", 23}, {"L", 27}, {"K", 17}, {"G", 20}} {
		for n := range text.claims {
			ids = append(ids, fmt.Sprint(text.letter, n+1))
		}
	}
	var have []string
	root := (&app{stdout: io.Discard, stderr: io.Discard}).root()
	for _, c := range l.Claims {
		have = append(have, c.ID)
		for _, err := range checkClaim(c, root) {
			t.Errorf("%s: %v", c.ID, err)
		}
	}
	if !slices.Equal(have, ids) {
		t.Errorf("the claims are %q, and not %q", have, ids)
	}
	wantTable(t, "../../docs/coverage.md", "claims", claimTables(l))
}

var verdictForm = regexp.MustCompile(`^(holds|holds in part: .+|wrong as printed: .+)$`)

// checkClaim returns what is wrong with a claim. It makes no run.
func checkClaim(c *claim, root *cobra.Command) (wrong []error) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if c.Says == "" || c.Text == "" || c.Seen == "" || !verdictForm.MatchString(c.Verdict) {
		say("it is not said what it says, how the text has it, what was seen, or what the verdict is")
	}
	if (len(c.Runs) == 0) != (c.NoRun != "") || len(c.Runs)+len(c.Tests) == 0 {
		say("it has no run and no reason for that, or both, or nothing that shows it")
	}
	evidence := strings.Join([]string{c.Says, c.Text, c.Verdict, c.Lacks}, " ")
	for _, r := range c.Runs {
		evidence += " " + r.Command + " " + r.Prints
		args := shellWords(r.Command)
		cmd, _, err := root.Find(args[1:])
		if args[0] != "orchestrator" || err != nil || strings.TrimSpace(r.Prints) == "" {
			say("%s: it is no call of the orchestrator, or it is not said what it prints", r.Command)
			continue
		}
		for _, arg := range args {
			flag, _, _ := strings.Cut(arg, "=")
			if name, is := strings.CutPrefix(flag, "--"); is && cmd.Flags().Lookup(name) == nil {
				say("%s: there is no flag %s", r.Command, arg)
			}
		}
	}
	for _, test := range c.Tests {
		evidence += " " + test.Test + " " + test.If
		if err := checkTest(test); err != nil {
			say("%s: %v", test.Test, err)
		}
	}
	for _, n := range figuresIn(c.Seen) {
		if !slices.Contains(figuresIn(evidence), n) {
			say("%s was seen, and stands neither in a call of it nor in what a call prints", n)
		}
	}
	return wrong
}

// A figure is no part of a formula or of a name, as those in N-1, 2(N-1), 2√N and K5 are.
var figureForm = regexp.MustCompile(`(?:^|[^\w.,-])([0-9]+(?:[.,][0-9]+)*)([(√N]?)`)

// figuresIn returns the numbers in a text. 9 and 9.0000 are the same.
func figuresIn(text string) (all []string) {
	for _, m := range figureForm.FindAllStringSubmatch(text, -1) {
		if strings.Contains(m[1], ".") {
			m[1] = strings.TrimRight(strings.TrimRight(m[1], "0"), ".")
		}
		if m[2] == "" {
			all = append(all, m[1])
		}
	}
	return all
}

// Services are a module of their own: go test is called in its folder.
var testForm = regexp.MustCompile(`^(?:cd (services) && )?go test \./(\S+) -run (Test\w+)(?:/(\S+))?$`)

// checkTest returns an error unless a test is in its package. If it is about a changed rule, a form of its
// story has to have that rule, and end so. The test itself plays it.
func checkTest(test claimTest) error {
	m := testForm.FindStringSubmatch(test.Test)
	if m == nil {
		return fmt.Errorf("it is no call of go test")
	}
	folder := filepath.Join("../..", m[1], m[2])
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(files, func(file string) bool {
		b, err := os.ReadFile(file)
		return err == nil && bytes.Contains(b, []byte("\nfunc "+m[3]+"(t *testing.T) {"))
	}) {
		return fmt.Errorf("there is no such test")
	}
	if test.If == "" {
		return nil
	}
	story, err := os.ReadFile(filepath.Join(folder, "testdata", m[4]+".txt"))
	_, form, _ := strings.Cut(string(story), "\n---- "+test.If+"\n")
	form, _, _ = strings.Cut(form, "\n----")
	if err == nil && !strings.Contains("\n"+form+"\n", "\n"+test.Then+"\n") {
		err = fmt.Errorf("if %s, its story does not end with %q", test.If, test.Then)
	}
	return err
}

// claimTables returns the tables of the page: a line for each claim.
func claimTables(l *lectures) string {
	var text strings.Builder
	parts := 0
	for _, c := range l.Claims {
		if c.Lacks != "" {
			parts++
		}
	}
	all := len(l.Claims)
	fmt.Fprintf(&text, "Of %d claims %d are shown, and %d in part.\n", all, all-parts, parts)
	for _, c := range l.Claims {
		if letter := c.ID[:1]; c.ID == letter+"1" {
			fmt.Fprintf(&text, "\n## %s: %s\n\n%s\n|---|---|---|---|---|---|\n", letter, l.Sources[letter],
				"| claim | says | the text has it so | verdict | what was seen | shown by |")
		}
		var by []string
		for _, r := range c.Runs {
			by = append(by, "`"+r.Command+"`")
		}
		for _, test := range c.Tests {
			by = append(by, "`"+test.Test+"`")
			if test.If != "" {
				by[len(by)-1] += ": if `" + test.If + "`, `" + test.Then + "`"
			}
		}
		verdict := strings.TrimSuffix(c.Verdict+"; not shown: "+c.Lacks, "; not shown: ")
		cells := []string{c.ID, c.Says, c.Text, verdict, c.Seen, strings.Join(by, "<br>")}
		fmt.Fprintf(&text, "| %s |\n", strings.Join(cells, " | "))
	}
	return text.String()
}

// What claims say is so: in the short form, of every eighth claim.
func TestClaimsAreAsSaid(t *testing.T) {
	t.Parallel()
	l, err := readClaims()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"claims"}
	for _, c := range soak.Few(l.Claims) {
		args = append(args, c.ID)
	}
	if out, err := orchestrator(t, t.TempDir(), args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A claim is as said, or it is not, or it cannot be shown here.
func TestOutcomesOfClaims(t *testing.T) {
	const lists = "orchestrator list lamport"
	const promises = "safety rests on FIFO links, no amnesia\nprogress rests on..."
	for _, test := range []struct {
		name    string
		run     claimRun
		outcome check.Outcome
		prints  string
	}{
		{"as said", claimRun{Command: lists, Prints: promises}, check.Valid, "verdict        holds\n"},
		{"another status", claimRun{Command: lists, Status: 1, Prints: promises}, check.Violated,
			"NOT AS SAID: it ends with status 0, and not 1"},
		{"no such line", claimRun{Command: lists, Prints: "safety rests on"}, check.Violated,
			`NOT AS SAID: it does not print the line "safety rests on"`},
		{"another order", claimRun{Command: lists, Prints: "progress rests on...\nsafety rests on..."},
			check.Violated, `NOT AS SAID: it does not print the line "safety rests on..."`},
		{"no server", claimRun{Command: "orchestrator bench --service etcd", Needs: "etcd", Prints: "VALID..."},
			check.Inconclusive, "verdict        not shown here"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := claim{ID: "J1", Verdict: "holds", Seen: "it was so", Runs: []claimRun{test.run}}
			outcome, text := c.run(t.Context(), t.TempDir())
			if outcome != test.outcome || !strings.Contains(text, test.prints) ||
				strings.Contains(text, "it was so") != (outcome == check.Valid) {
				t.Errorf("%v, want %v and %q:\n%s", outcome, test.outcome, test.prints, text)
			}
		})
	}
}
