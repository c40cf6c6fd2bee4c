package main

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/chaos/place"
	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/catalog"
	"turnstile/nodes/mutex"
)

const plansPage = "../../docs/plans.md"

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
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(text, -1) {
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
		row, _ := mutex.Find(name)
		scene := &chaos.Scene{Spec: row, Config: nodes.Config{N: 5}, Measured: 3 * time.Second, Brokers: 3,
			Servers: chaos.Servers{Service: "etcd", Count: 3, Leads: true, Promotes: true, Peers: true}}
		if scene.Placement, err = place.Parse("", 5+row.ServerCount(scene.Config), 4); err != nil {
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
		row, _ := catalog.Find("bully-second-network")
		scene := &chaos.Scene{Spec: row, Config: row.Explicit(nodes.Config{N: 5}), Measured: 3 * time.Second}
		if err := f.Check(scene); err != nil {
			t.Error(err)
		}
	case !strings.Contains(err.Error(), "elects no leader"): // no row does as yet
		t.Error(err)
	}
}

// simulated makes a small simulated run in this process, and returns its status and what it says.
func simulated(t *testing.T, args ...string) (status int, says string) {
	t.Helper()
	var out, errors bytes.Buffer
	args = append([]string{"simulate", "-n", "5", "--think", "100ms", "--results", t.TempDir()}, args...)
	status = run(t.Context(), args, &out, &errors)
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
	fault := reflect.TypeOf(new(chaos.Fault).Form()).Elem()
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
	paths, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(paths, "../../README.md") {
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

// checkVariables checks the variables of a call of make that has its flags from them.
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
