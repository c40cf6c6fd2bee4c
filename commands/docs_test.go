package commands

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/detector"
	"turnstile/algorithms/election"
	"turnstile/algorithms/mutex"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/chaos/place"
	"turnstile/internal/soak"
	"turnstile/judge/check"
	"turnstile/nodes"
)

var updateReadme = flag.Bool("update-readme", false, "bring the tables of algorithms up to date")

// TestReadme wants the tables of algorithms to be what list --markdown prints.
func TestReadme(t *testing.T) {
	var table bytes.Buffer
	if status := run(t.Context(), program{}, []string{"list", "--markdown"}, &table, os.Stderr); status != 0 {
		t.Fatalf("list --markdown: exit status %d", status)
	}
	wantTable(t, "../docs/algorithms.md", "algorithms", table.String())
}

// TestLinks wants the files, and the headings in them, to which pages link.
func TestLinks(t *testing.T) {
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(pages, "../README.md", "../CHANGELOG.md", "../CONTRIBUTING.md",
		"../SECURITY.md") {
		text := codeForm.ReplaceAllString(page(t, path), "")
		for _, found := range linkForm.FindAllStringSubmatch(text, -1) {
			to, heading := filepath.Join(filepath.Dir(path), found[1]), found[2]
			if strings.Contains(found[1], "://") {
				continue
			}
			if found[1] == "" {
				to = path
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s, which is not there", path, found[1])
			} else if heading != "" && !slices.Contains(anchors(page(t, to)), heading) {
				t.Errorf("%s links to #%s of %s, which has no such heading", path, heading, to)
			}
		}
	}
}

var (
	codeForm    = regexp.MustCompile("(?s)```.*?```")
	linkForm    = regexp.MustCompile(`\]\(([^)#\s]*)#?([^)\s]*)\)`)
	headingForm = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors returns the anchors that GitHub makes of the headings of a page.
func anchors(text string) (all []string) {
	for _, m := range headingForm.FindAllStringSubmatch(codeForm.ReplaceAllString(text, ""), -1) {
		plain := notInAnchor.ReplaceAllString(strings.ToLower(m[1]), "")
		all = append(all, strings.ReplaceAll(plain, " ", "-"))
	}
	return all
}

// TestFaultTable wants the tables of faults to say what the effects and the algorithms say.
func TestFaultTable(t *testing.T) {
	wantTable(t, plansPage, "kinds of faults", kindTable())
	wantTable(t, matricesPage, "faults", faultTable(mutex.Table, chaos.Scenarios()))
	wantTable(t, matricesPage, "faults of elections", faultTable(election.Table, chaos.Elections()))
}

// kindTable returns the table of what can go wrong.
func kindTable() string {
	var table strings.Builder
	fmt.Fprintln(&table, "| key | example | what happens | broken assumptions |\n|---|---|---|---|")
	for _, k := range effect.Kinds {
		fmt.Fprintf(&table, "| `%s` | `%s` | %s | %v |\n", k.Key, k.Example, k.Says, k.Breaks)
	}
	return table.String()
}

// faultTable returns the table of the outcomes that are expected of algorithms under plans. Algorithms with
// equal cells share a column, and plans with equal cells share a line.
func faultTable(algos []*spec, plans []*chaos.Plan) string {
	var says [][]string // by plan and algorithm
	for _, plan := range plans {
		var line []string
		for _, algo := range algos {
			cell := ""
			if plan.Suits(algo) {
				found, _ := algo.FaultCell(plan.Name)
				cell = strings.ReplaceAll(found.May.String(), "|", " ")
			}
			line = append(line, cell)
		}
		says = append(says, line)
	}
	columns := alike(len(algos), func(i int) (column []string) {
		for _, line := range says {
			column = append(column, line[i])
		}
		return column
	})
	var table strings.Builder
	fmt.Fprint(&table, "| plan |")
	for _, of := range columns {
		fmt.Fprintf(&table, " %s |", names(of, func(i int) string { return algos[i].Name }))
	}
	fmt.Fprintf(&table, "\n|---|%s\n", strings.Repeat("---|", len(columns)))
	for _, of := range alike(len(plans), func(i int) []string { return says[i] }) {
		fmt.Fprintf(&table, "| %s |", names(of, func(i int) string { return plans[i].Name }))
		for _, column := range columns {
			fmt.Fprintf(&table, " %s |", says[of[0]][column[0]])
		}
		fmt.Fprintln(&table)
	}
	return table.String()
}

// alike groups the numbers below n: numbers with equal cells are in one group.
func alike(n int, cells func(i int) []string) (groups [][]int) {
	for i := range n {
		at := slices.IndexFunc(groups, func(g []int) bool { return slices.Equal(cells(g[0]), cells(i)) })
		if at < 0 {
			groups = append(groups, []int{i})
			continue
		}
		groups[at] = append(groups[at], i)
	}
	return groups
}

// names lists the names of some things, as code.
func names(of []int, name func(i int) string) string {
	var all []string
	for _, i := range of {
		all = append(all, "`"+name(i)+"`")
	}
	return strings.Join(all, ", ")
}

// wantTable wants the named table of a page to equal table. With -update-readme it writes table to the page.
func wantTable(t *testing.T, path, name, table string) {
	t.Helper()
	const end = "<!-- end -->"
	begin := fmt.Sprintf("<!-- %s: made by `make readme` -->\n", name)
	before, rest, ok := strings.Cut(page(t, path), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table, between %q and %q", path, begin, end)
	}
	want := before + begin + table + end + after
	switch {
	case want == page(t, path):
	case !*updateReadme:
		t.Errorf("the table of %s in %s is out of date: type make readme", name, path)
	default:
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const plansPage = "../docs/plans.md"

// page returns a page of the documentation.
func page(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// tableCells returns the cells of a line of a table, without backquotes around them.
func tableCells(line string) (cells []string, is bool) {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "|") {
		return nil, false
	}
	for _, cell := range strings.Split(strings.Trim(line, "|"), "|") {
		cells = append(cells, strings.Trim(strings.TrimSpace(cell), "`"))
	}
	return cells, true
}

// column returns the cells of the columns with a heading, of all tables of a page, without their backquotes.
func column(text, heading string) (cells []string) {
	at := -1
	for line := range strings.Lines(text) {
		row, table := tableCells(line)
		switch {
		case !table:
			at = -1
		case at < 0:
			at = slices.Index(row, heading)
		case at < len(row) && !strings.HasPrefix(row[at], "---"):
			cells = append(cells, row[at])
		}
	}
	return cells
}

// blocks returns the blocks of code of a page in a language.
func blocks(text, language string) (all []string) {
	form := regexp.MustCompile("(?s)```" + language + "(?: [^\n]*)?\n(.*?)```")
	for _, m := range form.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// Every example of the page on plans is a fault or a plan that some algorithm can be run with, and is run.
func TestExamplesOfPlans(t *testing.T) {
	text := page(t, plansPage)
	examples := column(text, "example")
	if len(examples) < len(effect.Kinds)+len(effect.TargetWords)+len(chaos.Occasions) {
		t.Fatalf("the page has %d examples of faults", len(examples))
	}
	for _, example := range soak.Few(examples) {
		t.Run(example, func(t *testing.T) { runFault(t, example) })
	}
	for i, plan := range blocks(text, "yaml") {
		path := filepath.Join(t.TempDir(), "plan.yaml")
		if err := os.WriteFile(path, []byte(plan), 0o644); err != nil {
			t.Fatal(err)
		}
		if status, says := simulated(t, "--algo", "ricart", "--plan", path); status == usage {
			t.Errorf("plan %d of the page: %s", i+1, says)
		}
	}
}

// runFault simulates a fault with the first algorithm that it is for. What the simulator refuses is checked
// for a real run.
func runFault(t *testing.T, text string) {
	f, err := chaos.ParseFault(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ricart-agrawala", "suzuki-kasami", "central"} {
		algo, _ := mutex.Find(name)
		scene := &chaos.Scene{Spec: algo, Config: nodes.Config{N: 5}, Measured: 3 * time.Second, Brokers: 3,
			Servers: chaos.Servers{Service: "etcd", Count: 3, Leads: true, Promotes: true, Peers: true,
				Deletes: true, Queues: true, Expires: true}}
		if scene.Placement, err = place.Parse("", 5+algo.ServerCount(scene.Config), 4); err != nil {
			t.Fatal(err)
		}
		if err = f.Check(scene); err != nil {
			continue
		}
		scene.Simulated = true
		if f.Check(scene) != nil {
			return
		}
		status, says := simulated(t, "--algo", name, "--fault", text, "--brokers", "3", "--hosts", "4")
		if status == usage {
			t.Error(says)
		}
		return
	}
	switch {
	case f.Network != nil: // no algorithm of mutual exclusion has two
		algo, _ := (catalog.Table{}).Find("bully-second-network")
		scene := &chaos.Scene{Spec: algo, Config: algo.Explicit(nodes.Config{N: 5}), Measured: 3 * time.Second}
		if err := f.Check(scene); err != nil {
			t.Error(err)
		}
	case strings.Contains(err.Error(), "to leave in order"): // nor does any leave
	case !strings.Contains(err.Error(), "elects no leader"): // no algorithm of mutual exclusion elects yet
		t.Error(err)
	}
}

// simulated makes a small simulated run in this process, and returns its status and what it says.
func simulated(t *testing.T, args ...string) (status int, says string) {
	t.Helper()
	var out, errors bytes.Buffer
	args = append([]string{"simulate", "-n", "5", "--think", "100ms", "--results", t.TempDir()}, args...)
	status = run(t.Context(), program{}, args, &out, &errors)
	return status, out.String() + errors.String()
}

// The page says of every fault, target, moment and key of a plan what it is, with an example.
func TestPlansPageIsComplete(t *testing.T) {
	text := page(t, plansPage)
	keys, targets, moments := column(text, "key"), column(text, "target"), column(text, "moment")
	all := strings.Join(keys, " ")
	has := func(list []string, word string) {
		t.Helper()
		if !slices.Contains(list, word) {
			t.Errorf("docs/plans.md has no row for %s", word)
		}
	}
	for _, k := range effect.Kinds {
		has(keys, k.Key)
	}
	for _, w := range effect.TargetWords {
		has(targets, w.Word)
	}
	for _, o := range chaos.Occasions {
		has(moments, strings.Fields(o.Example)[2])
	}
	fault := reflect.TypeOf(new(chaos.Fault).Form(new(yaml.Node))).Elem()
	for i := range fault.NumField() {
		key, _, _ := strings.Cut(fault.Field(i).Tag.Get("yaml"), ",")
		if key != "" && !strings.Contains(all, key) && !strings.Contains(text, "`"+key+"`") {
			t.Errorf("docs/plans.md does not say what %s is", key)
		}
	}
	for _, example := range slices.Concat(kindExamples(), targetForms()) {
		if _, err := chaos.ParseFault(example); err != nil {
			t.Errorf("orchestrator plans: %v", err)
		}
	}
	restarts := chaos.Plans()[slices.IndexFunc(chaos.Plans(), func(p *chaos.Plan) bool {
		return p.Name == "restarts"
	})]
	if got := blocks(text, "yaml")[0]; got != restarts.Text {
		t.Errorf("the plan that docs/plans.md explains is not chaos/plans/restarts.yaml, but\n%s", got)
	}
}

// kindExamples returns the examples that the list of plans has.
func kindExamples() (examples []string) {
	for _, k := range effect.Kinds {
		examples = append(examples, k.Example)
	}
	return examples
}

// targetForms returns a fault for each target.
func targetForms() (examples []string) {
	for _, w := range effect.TargetWords {
		examples = append(examples, "kill: "+w.Word)
	}
	return examples
}

// Commands of the documentation have flags that there are.
func TestCommandsOfDocuments(t *testing.T) {
	paths, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(paths, "../README.md") {
		for _, block := range blocks(page(t, path), "sh") {
			for line := range strings.Lines(block) {
				checkCommand(t, path, line)
			}
		}
	}
}

// checkCommand checks the flags of a line that calls the orchestrator.
func checkCommand(t *testing.T, path, line string) {
	line, _, _ = strings.Cut(strings.TrimSpace(line), " # ")
	line, _, _ = strings.Cut(line, "    #")
	if words, makes := strings.CutPrefix(line, "make "); makes {
		checkVariables(t, path, strings.Fields(words))
	}
	line, calls := strings.CutPrefix(line, "bin/orchestrator ")
	if !calls || strings.Contains(line, "__complete") {
		return
	}
	args := shellWords(strings.TrimSuffix(line, `\`))
	a := &app{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}
	cmd, rest, err := a.root().Find(args)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err != nil && !strings.Contains(err.Error(), "help requested") {
		t.Errorf("%s: %s: %v", path, line, err)
	}
}

// checkVariables checks that each variable in a call of make is a flag of the command that make runs.
func checkVariables(t *testing.T, path string, words []string) {
	a := &app{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}
	cmd, _, err := a.root().Find(words[:1])
	if err != nil || cmd == a.root() {
		return // a target that builds or tests
	}
	for _, word := range words[1:] {
		name, _, sets := strings.Cut(word, "=")
		if !sets {
			return // a comment
		}
		flag := strings.ToLower(strings.ReplaceAll(name, "_", "-"))
		if name != "ARGS" && flag != "n" && cmd.Flags().Lookup(flag) == nil {
			t.Errorf("%s: make %v: %s has no flag %s", path, words, cmd.Name(), flag)
		}
	}
}

// The page on running names each failure detector and, somewhere, each of its options with what it is if it
// is not given.
func TestDetectorsAreDescribed(t *testing.T) {
	page, err := os.ReadFile("../docs/running.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, algo := range detector.Table {
		words := []string{"\n| `" + algo.Name + "` |"}
		for _, o := range algo.Options {
			words = append(words, fmt.Sprintf("`%s` (%s)", o.Name, o.Default))
		}
		for _, word := range words {
			if !strings.Contains(string(page), word) {
				t.Errorf("docs/running.md does not say %q of %s", word, algo.Name)
			}
		}
	}
}

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
	}{{"J", 40}, {"T", 23}, {"L", 28}, {"K", 17}, {"G", 20}} {
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
	wantTable(t, "../docs/coverage.md", "claims", claimTables(l))
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

// A figure is not part of a formula or of a name, unlike the numbers in N-1, 2(N-1), 2√N and K5.
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

// checkTest returns an error unless a test is in its package. If the test changes a rule, its story needs a
// form with that rule, and with the line test.Then. The test itself plays the form.
func checkTest(test claimTest) error {
	m := testForm.FindStringSubmatch(test.Test)
	if m == nil {
		return fmt.Errorf("it is no call of go test")
	}
	folder := filepath.Join("..", m[1], m[2])
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

// The claims are as said. The short form of this test runs every eighth claim.
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

// A claim holds or does not hold, or its calls show it in part or not at all.
func TestOutcomesOfClaims(t *testing.T) {
	const lists = "orchestrator list lamport"
	const promises = "safety rests on FIFO links, no amnesia\nprogress rests on..."
	asSaid := claimRun{Command: lists, Prints: promises}
	unmet := claimRun{Command: "orchestrator bench --service etcd", Needs: "etcd", Prints: "VALID..."}
	for _, test := range []struct {
		name    string
		runs    []claimRun
		outcome check.Outcome
		prints  string
	}{
		{"as said", []claimRun{asSaid}, check.Valid, "verdict        holds\n"},
		{"another status", []claimRun{{Command: lists, Status: 1, Prints: promises}}, check.Violated,
			"NOT AS SAID: the exit status is 0, and the claim expects 1"},
		{"no such line", []claimRun{{Command: lists, Prints: "safety rests on"}}, check.Violated,
			`NOT AS SAID: it does not print the line "safety rests on"`},
		{"another order", []claimRun{{Command: lists, Prints: "progress rests on...\nsafety rests on..."}},
			check.Violated, `NOT AS SAID: it does not print the line "safety rests on..."`},
		{"no server", []claimRun{unmet}, check.Inconclusive,
			"verdict        not shown here, since none of its calls shows anything\n"},
		{"one of two without its server", []claimRun{asSaid, unmet}, check.Inconclusive,
			"verdict        shown in part here, by 1 of its 2 calls\n"},
		{"no server, and another call goes wrong", []claimRun{unmet, {Command: lists, Prints: "safety"}},
			check.Violated, "verdict        NOT AS SAID\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := claim{ID: "J1", Verdict: "holds", Seen: "it was so", Runs: test.runs}
			outcome, text := c.run(t.Context(), program{}, t.TempDir())
			if outcome != test.outcome || !strings.Contains(text, test.prints) ||
				strings.Contains(text, "it was so") != (outcome == check.Valid) {
				t.Errorf("%v, want %v and %q:\n%s", outcome, test.outcome, test.prints, text)
			}
		})
	}
}

// A call shows nothing if its server did not come up, or the machine was too busy.
func TestCallsThatShowNothing(t *testing.T) {
	for _, test := range []struct {
		status    int
		needs     string
		processes bool
		nothing   bool
	}{
		{0, "etcd", true, false}, {1, "etcd", true, false},
		{2, "zookeeper", true, true}, {3, "", true, true}, {2, "", false, false},
		{usage, "etcd", true, true}, {usage, "", true, false},
		{unreached, "zookeeper", true, true}, {unwritten, "", false, true},
	} {
		r := claimRun{Needs: test.needs}
		if got := r.showsNothing(test.status, test.processes); got != test.nothing {
			t.Errorf("%+v: shows nothing: %v", test, got)
		}
	}
	if r := (claimRun{Status: check.Inconclusive.ExitCode()}); r.showsNothing(r.Status, true) {
		t.Error("a status that a claim expects shows nothing")
	}
}
