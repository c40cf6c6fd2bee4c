package turnstile_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"turnstile"
	"turnstile/algorithms/catalog"
	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// greedy is an algorithm that is wrong: a node asks all others, and enters once one of them has agreed.
type greedy struct{ inside bool }

type (
	ask   struct{} // asks to enter
	agree struct{} // permits it
)

func (g *greedy) Request(env *nodes.Env) { env.Broadcast(ask{}) }
func (g *greedy) Release(*nodes.Env)     { g.inside = false }
func (g *greedy) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m.(type) {
	case ask:
		env.Send(from, agree{})
	case agree:
		if !g.inside {
			g.inside = true
			env.Grant()
		}
	default:
		nodes.Unexpected(g, m)
	}
}

var greedyAlgorithm = turnstile.Algorithm{
	Spec: nodes.Spec{
		Name:     "greedy",
		New:      func(nodes.Config) nodes.Machine { return &greedy{} },
		Messages: []nodes.MessageKind{{Zero: ask{}}, {Zero: agree{}, Permit: true}},
		Live:     nodes.NoLoss | nodes.NoCrash,
	},
	Mutex: &algorithm.Exclusion{},
}

func ExampleSimulate() {
	ricart, err := catalog.Table{}.Find("ricart-agrawala")
	if err != nil {
		panic(err)
	}
	run, err := turnstile.Simulate(context.Background(), turnstile.Run{Algorithm: ricart, N: 32, Entries: 1000})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%v: %s\n", run.Verdict.Outcome, run.Verdict.Reason)
	fmt.Println(run.Figures["messages_per_entry"], "messages per entry")
	// Output:
	// valid: no two were inside together in 1,000 entries
	// 62 messages per entry
}

func ExampleExplore() {
	found, err := turnstile.Explore(turnstile.Exploration{Spec: &greedyAlgorithm, Config: nodes.Config{N: 2},
		Entries: 1})
	if err != nil {
		panic(err)
	}
	fmt.Println(found.Violation.Check)
	for _, line := range found.Violation.Story {
		fmt.Println(line)
	}
	// Output:
	// exclusion
	// node 0 asks and sends ask to node 1
	// node 1 gets ask from node 0 and sends agree to node 0
	// node 0 gets agree from node 1
	// node 0 enters
	// node 1 asks and sends ask to node 0
	// node 0 gets ask from node 1 and sends agree to node 1
	// node 1 gets agree from node 0
	// node 1 enters: INSIDE TOGETHER WITH 0
}

func ExampleJudge() {
	const history = `{"at_ns":1000,"node":0,"event":"requested","entry":1}
{"at_ns":1500,"node":1,"event":"requested","entry":1}
{"at_ns":2000,"node":0,"event":"entered","entry":1}
{"at_ns":3000,"node":1,"event":"entered","entry":1}
{"at_ns":4000,"node":0,"event":"exited","entry":1}
{"at_ns":5000,"node":1,"event":"exited","entry":1}
`
	v, err := turnstile.Judge(strings.NewReader(history), turnstile.Recorded{Algorithm: &greedyAlgorithm,
		Config: nodes.Config{N: 2}})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%v: %s\n", v.Outcome, v.Reason)
	// Output:
	// violated: 2 entries overlapped: nodes 0 and 1 were inside together for 1.0 us
}

func ExampleCheck() {
	err := turnstile.Check(&greedyAlgorithm)
	fmt.Println(strings.Split(err.Error(), "\n")[0])
	// Output:
	// greedy, 1 node: deadlock: nothing is left to happen, and node 0 waits
}

// Check finds nothing wrong with the sound algorithms of this project, and refuses all that are known to be
// broken.
func TestCheckTellsSoundFromBroken(t *testing.T) {
	rare := []string{"raft-forgetful"} // two nodes have to vote, crash, and vote again in one term
	for _, algo := range soak.Few(catalog.Table{}.Algorithms()) {
		if slices.Contains(rare, algo.Name) {
			continue
		}
		t.Run(algo.Name, func(t *testing.T) {
			t.Parallel()
			switch err := turnstile.Check(algo); {
			case algo.Flaw == nil && err != nil:
				t.Error(err)
			case algo.Flaw != nil && err == nil:
				t.Error("Check finds nothing wrong")
			}
		})
	}
}

// An algorithm that lacks what a run needs, or has the name of another, is refused, with what would be right.
func TestAlgorithmsAreRefused(t *testing.T) {
	for says, spoil := range map[string]func(algo *turnstile.Algorithm){
		`the algorithm "greedy" lacks New: `:           func(algo *turnstile.Algorithm) { algo.New = nil },
		`the algorithm "greedy" lacks Mutex: `:         func(algo *turnstile.Algorithm) { algo.Mutex = nil },
		`the algorithm "greedy" lacks Live: `:          func(algo *turnstile.Algorithm) { algo.Live = 0 },
		`the algorithm "" lacks Name: `:                func(algo *turnstile.Algorithm) { algo.Name = "" },
		`the algorithm raymond has the name "raymond"`: func(algo *turnstile.Algorithm) { algo.Name = "raymond" },
		`the algorithm greedy has the name "RA", which ric`: func(algo *turnstile.Algorithm) {
			algo.Aliases = []string{"RA"}
		},
	} {
		algo := greedyAlgorithm
		spoil(&algo)
		if err := turnstile.Check(&algo); err == nil || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
}

// A tired machine passes a token around. It panics when its client leaves for the tenth time or, if it is
// picky, when a second token comes after that. A babbler answers its own messages for ever.
type (
	tired struct {
		has, wants, picky bool
		left              uint8
	}
	babbler struct{ greedy }
	turn    struct{} // the token
)

func (t *tired) Start(env *nodes.Env) {
	if env.Incarnation() == 0 && env.Self() == 0 {
		t.has = true
		t.pass(env)
	}
}

func (t *tired) pass(env *nodes.Env) {
	if !t.wants && env.N() > 1 {
		t.has = false
		env.Send(nodes.ID((int(env.Self())+1)%env.N()), turn{})
	}
}

func (t *tired) Request(env *nodes.Env) {
	if t.wants = true; t.has {
		env.Grant()
	}
}

func (t *tired) Release(env *nodes.Env) {
	if t.left++; t.left == 10 && !t.picky {
		panic("enough")
	}
	t.wants = false
	t.pass(env)
}

func (t *tired) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	if _, ok := m.(turn); !ok || t.has {
		if t.picky && t.left >= 10 {
			panic("twice")
		}
		return
	}
	if t.has = true; t.wants {
		env.Grant()
	} else {
		t.pass(env)
	}
}

func (b *babbler) Request(env *nodes.Env)                              { env.Send(env.Self(), ask{}) }
func (b *babbler) Receive(env *nodes.Env, _ nodes.ID, _ nodes.Message) { env.Send(env.Self(), ask{}) }

// Check returns an error if a machine panics, with the steps of the run, the faults that matter and the
// command that repeats it. It returns an error if a machine sends messages to itself without end.
func TestCheckOfPanics(t *testing.T) {
	panics := func(nodes.Config) nodes.Machine { return &tired{} }
	picky := func(nodes.Config) nodes.Machine { return &tired{picky: true} }
	babbles := func(nodes.Config) nodes.Machine { return &babbler{} }
	for says, makes := range map[string]func(nodes.Config) nodes.Machine{
		`^greedy, \d+ nodes, seed \d+, under .*: node \d+ panicked after .*: enough(?s:.*)` +
			`\n# orchestrator simulate --algo greedy --nodes \d+ .* --seed \d+ --plan ./shrunk.yaml\n`: panics,
		`panicked after .*: twice(?s:.*)\n# Shrunk from \d+ faults? to 1 by(?s:.*)\n  - duplicate: `: picky,
		`in its own node never end`: babbles,
	} {
		algo := greedyAlgorithm
		algo.New, algo.Circulates, algo.Safe = makes, true, nodes.NoDuplication
		algo.Messages = append(slices.Clone(algo.Messages), nodes.MessageKind{Zero: turn{}, Token: true})
		if err := turnstile.Check(&algo); err == nil || !regexp.MustCompile(says).MatchString(err.Error()) {
			t.Errorf("%v, want %s", err, says)
		}
	}
}

// A run that cannot be made is refused before it begins.
func TestRunsAreRefused(t *testing.T) {
	run := func(option, value string) turnstile.Run {
		return turnstile.Run{Algorithm: &greedyAlgorithm, Options: map[string]string{option: value}}
	}
	for says, run := range map[string]turnstile.Run{
		"a run without an algorithm: set Algorithm":     {},
		`there is no load "fast"`:                       run("load", "fast"),
		"the option latency: ":                          run("latency", "long"),
		`the option entries: "x" is not a whole number`: run("entries", "x"),
		"the option trials: ":                           run("trials", "2"),
		"greedy has no option colour: it has none":      run("colour", "red"),
		`the fault "kill": `:                            {Algorithm: &greedyAlgorithm, Faults: []string{"kill"}},
		"-1 nodes: it takes at least one":               {Algorithm: &greedyAlgorithm, N: -1},
		"elect: greedy follows no leader: ":             run("elect", "bully"),
	} {
		if _, err := turnstile.Simulate(t.Context(), run); err == nil || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
}

// A history that cannot be read is refused, with the line.
func TestHistoriesAreRefused(t *testing.T) {
	of := turnstile.Recorded{Algorithm: &greedyAlgorithm, Config: nodes.Config{N: 2}}
	const first = `{"at_ns":2,"node":0,"event":"entered"}`
	for _, test := range []struct{ text, says string }{
		{"", "a history without events cannot be judged"},
		{"at_ns,node", "line 1: not an object of JSON: "},
		{`{"at_ns":1}`, "line 1: node is missing"},
		{`{"at_ns":"x","node":0,"event":"entered"}`, "line 1: at_ns: x is not a number"},
		{`{"at_ns":1,"node":0,"event":"arrived"}`, `line 1: event: there is no event "arrived"`},
		{`{"at_ns":1,"node":0,"event":"entered","colour":"red"}`, `line 1: there is no column "colour"`},
		{`{"at_ns":1,"node":0,"event":"sent","kind":"letter"}`, `line 1: kind: the algorithm has no message "`},
		{`{"at_ns":1,"node":0,"event":"elected","term":1}`, "line 1: leader is missing: an event elected has it"},
		{first + "\n" + `{"at_ns":1,"node":0,"event":"exited"}`, "line 2: at_ns is 1, and was 2"},
		{`{"trial":1,` + first[1:] + "\n" + `{"trial":2,` + first[1:], "line 2: trial is 2, and was 1"},
		{first + first, "line 1: there is more behind the object"},
		{"\n\ufeff" + first, "line 2: it begins with a byte order mark"},
		{first + "\n" + strings.Repeat(" ", 1<<20) + first, "line 2: it is longer than 1048576 bytes"},
		{`{"at_ns":1,"node":0,"event":"requested","units":-1}`, "line 1: units: -1 is out of range"},
		{`{"at_ns":1,"node":0,"event":"exited","units":1}`, "line 1: an event exited has no column units"},
	} {
		_, err := turnstile.Judge(strings.NewReader(test.text), of)
		if err == nil || !strings.HasPrefix(err.Error(), test.says) {
			t.Errorf("%q: %v, want %s", test.text, err, test.says)
		}
	}
}

// The exported names of package turnstile use no type of internal/, which other modules cannot name.
func TestDoorShowsNothingInternal(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var look func(of reflect.Type, path string)
	look = func(of reflect.Type, path string) {
		if seen[of] {
			return
		}
		seen[of] = true
		if strings.HasPrefix(of.PkgPath(), "turnstile/internal/") {
			t.Errorf("%s is a %v", path, of)
			return
		}
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map, reflect.Chan:
			if look(of.Elem(), path+"[]"); of.Kind() == reflect.Map {
				look(of.Key(), path+"[key]")
			}
		case reflect.Func:
			for i := range of.NumIn() {
				look(of.In(i), path+"(in)")
			}
			for i := range of.NumOut() {
				look(of.Out(i), path+"(out)")
			}
		case reflect.Struct:
			for _, f := range reflect.VisibleFields(of) {
				if f.IsExported() && !f.Anonymous {
					look(f.Type, path+"."+f.Name)
				}
			}
		}
	}
	for name, of := range map[string]any{"Simulate": turnstile.Simulate,
		"Explore": turnstile.Explore, "Judge": turnstile.Judge, "Check": turnstile.Check} {
		look(reflect.TypeOf(of), name)
	}
	look(reflect.TypeFor[nodes.Machine](), "Machine")
}

// wantSource wants the folder of a published set to have the source of an algorithm, and to name its module.
func wantSource(t *testing.T, dir, folder string) {
	t.Helper()
	readme, _ := os.ReadFile(filepath.Join(dir, folder, "README.md"))
	if !strings.Contains(string(readme), "of the module example.com/regional ") {
		t.Errorf("the README does not name the module:\n%s", readme)
	}
	was, _ := os.ReadFile(filepath.Join(dir, "ring.go"))
	is, err := os.ReadFile(filepath.Join(dir, folder, "source", "ring.go"))
	if err != nil || !bytes.Equal(was, is) {
		t.Errorf("the source in %s: %v", folder, err)
	}
}

// A copy of examples/algorithm outside this tree builds a program with an algorithm of its own: that runs in
// processes, is simulated, explored, compared in the matrix, and swept. It knows the regions of its nodes.
// The page docs/extending.md does the same.
func TestAModuleOfItsOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS("examples/algorithm")); err != nil {
		t.Fatal(err)
	}
	call := func(status int, program string, args ...string) string {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != status {
			t.Fatalf("%v: status %d, %v\n%s", cmd.Args, got, err, out)
		}
		return string(out)
	}
	call(0, "go", "mod", "edit", "-replace=turnstile="+root)
	call(0, "go", "build", "-o", "program", "./cmd/regional")
	call(0, "go", "test", ".")

	program := filepath.Join(dir, "program")
	shows := func(want, program string, args ...string) string {
		t.Helper()
		out := call(0, program, args...)
		if !regexp.MustCompile("(?m)" + want).MatchString(out) {
			t.Errorf("%v does not say %q:\n%s", args, want, out)
		}
		return out
	}
	shows("^VALID ", program, "bench", "--algo", "regional-ring", "-n", "3", "--duration", "300ms")
	shows("^VALID .*", program, "verify")
	shows(`^turnstile +v0\.0\.0 in example\.com/regional `, program, "--version")
	shows("^EXHAUSTED ", program, "explore", "--algo", "regional-ring", "-n", "3")
	cells := call(0, program, "matrix", "--simulated", "--algo", "regional-ring", "--runs", "1", "--seed", "1")
	if !strings.Contains(cells, " cells: 0 as expected, 0 not, 29 without an expectation") {
		t.Errorf("the matrix says\n%s", cells)
	}
	shows(`^2 runs: 2 valid\.$`, program, "sweep", "--algo", "regional-ring", "-n", "2,3", "--trials", "1",
		"--simulated", "--duration", "300ms")
	for _, folder := range []string{"tables", "archived"} {
		form := map[string]string{"tables": "--tables", "archived": "--histories"}[folder]
		call(0, program, "runs", "publish", "sweep", "--to", folder, form)
		shows("nothing that was compared in it differs$", program, "verify", "./"+folder, "--again")
		wantSource(t, dir, folder)
	}
	perSecond := func(algorithm string) float64 {
		out := shows("^VALID ", program, "simulate", "--algo", algorithm, "-n", "6", "--duration", "2s",
			"--regions", "regions.yaml", "--seed", "1")
		found := regexp.MustCompile(`(?m)^throughput +([0-9.]+) entries/s`).FindStringSubmatch(out)
		if found == nil {
			t.Fatalf("there is no throughput:\n%s", out)
		}
		x, err := strconv.ParseFloat(found[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	if ours, ring := perSecond("regional-ring"), perSecond("token-ring"); ours < 2*ring {
		t.Errorf("%v entries/s, and %v in a ring that does not know its regions", ours, ring)
	}
}

// A history without marks is valid if every request was served, and is refused if a node is unknown.
func TestHistoriesOfOthers(t *testing.T) {
	of := turnstile.Recorded{Algorithm: &greedyAlgorithm, Config: nodes.Config{N: 2}}
	line := func(at, node int, event string) string {
		return fmt.Sprintf("{\"at_ns\":%d,\"node\":%d,\"event\":%q,\"entry\":1}\n", at*1000, node, event)
	}
	first := line(1, 0, "requested") + line(2, 0, "entered") + line(3, 0, "exited")
	for _, test := range []struct{ text, says string }{
		{first + line(4, 1, "requested") + line(5, 1, "entered") + line(6, 1, "exited"), "valid"},
		{first + line(4, 1, "requested"), "inconclusive"},
	} {
		v, err := turnstile.Judge(strings.NewReader(test.text), of)
		if err != nil || v.Outcome.String() != test.says {
			t.Errorf("%+v, %v, want %s", v, err, test.says)
		}
	}
	_, err := turnstile.Judge(strings.NewReader(line(1, 9, "entered")), of)
	if err == nil || !strings.HasPrefix(err.Error(), "line 1: there is an event of node 9: ") {
		t.Error(err)
	}
}
