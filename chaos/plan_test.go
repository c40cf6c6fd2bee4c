package chaos

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/algorithms/election"
	"turnstile/algorithms/mutex"
	"turnstile/internal/soak"
	"turnstile/internal/yamlfile"
	"turnstile/nodes"

	"go.yaml.in/yaml/v3"
)

// A message about a plan gives the file and the line, and says what would be right.
func TestMistakesInPlans(t *testing.T) {
	const head = "about: x\nfaults:\n"
	for text, want := range map[string]string{
		"":                  "it has no faults",
		"about: x\n":        "it has no faults",
		"- kill: 2\n":       "line 1: a list",
		head + "- kil: 2\n": "line 3: there is no key faults[0].kil: did you mean kill?",
		head + "- kill: hodler\n": "line 3: faults[0].kill: \"hodler\" is not a target: " +
			"did you mean holder?",
		head + "- kill: 2\n  at: soon\n":   "line 4: faults[0].at",
		head + "- kill: 2\n  when: noon\n": "line 4: faults[0].when: \"noon\" is not a moment",
		head + "- at: 1s\n":                "line 3: this does not say what goes wrong: add one of cut",
		head + "- kill: 2\n  pause: 2\n":   "this is kill and pause: write them as two faults",
		head + "- kill: 2\n  share: 50%\n": "line 4: kill takes no share; apart from the " +
			"times (at, for, every ...) it takes forget, mid-input",
		head + "- slow: 2\n":                     "slow takes the share",
		head + "- slow: 2\n  share: nan\n":       "line 4: faults[0].share: \"nan\" is not a share",
		head + "- clock: 2\n":                    "line 3: clock takes how far it jumps",
		head + "- clock: 2\n  rate: .nan\n":      "line 4: a rate of NaN",
		head + "- clock: 2\n  by: 1000h\n":       "line 4: a jump of 1000h",
		head + "- kill: 2\n  forget: true\n":     "line 4: forget takes a restart",
		head + "- loss: 1%\n  between: holder\n": "line 4: between takes groups of nodes",
		head + "- kill: 2\n  when: any enters #5\n": "line 4: to YAML, #5 is a comment: " +
			"write when: 'any enters #5'",
		head + "- kill: 2\n  kill: 3\n": "line 4",
		head + "- cut: 0/1\n  for: 0s\n": "line 4: for: 0s would be no time at all: leave `for` out for a fault " +
			"that lasts to the end",
		"duration: 0s\n" + head + "- kill: 2\n": "line 1: a duration of 0s: write for how long",
		head + "- kill: 2\n- ~\n":               "line 4: this does not say what goes wrong",
	} {
		p, err := ReadPlan("mine.yaml", []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), "mine.yaml: ") || !strings.Contains(err.Error(),
			want) {
			t.Errorf("%q: %v, want %q; %v", text, err, want, p)
		}
	}
}

// A zero never means the same as a key that is left out.
func TestZerosInPlans(t *testing.T) {
	meant := []string{"at: 0s", "after: 0s", "jitter: 0s", "hit: 0", "hit-servers: 0"}
	fault := reflect.TypeFor[Fault]()
	for i := range fault.NumField() {
		key, _, _ := strings.Cut(fault.Field(i).Tag.Get("yaml"), ",")
		if key == "" {
			continue // it is in no file
		}
		for _, zero := range []string{"", "''", "0", "0s", "0%"} {
			line := key + ": " + zero
			if strings.HasPrefix(zero, "0") && (key == "name" || key == "stand-in") {
				continue // a text like others
			}
			_, err := ReadPlan("mine.yaml", []byte("faults:\n- pause: 2\n  "+line+"\n"))
			_, written := ParseFault("pause: 2, " + line)
			if accepted := slices.Contains(meant, line); (err == nil) != accepted || (written == nil) != accepted {
				t.Errorf("%s in a plan: %v; as --fault: %v", line, err, written)
			}
		}
	}
}

// A fault that does not suit the run is refused before the run.
func TestMistakesOfFaults(t *testing.T) {
	for text, want := range map[string]string{
		"kill: 2, at: 3s":                                   "the run is measured for 3s",
		"cut: 0/1, at: 2s, for: 2s":                         "--duration 4s",
		"pause: 2, at: 1s, when: 2 enters, after: 1h":       "--duration 1h0m1s",
		"pause: 2, at: -1s":                                 "no time of it is negative",
		"pause: 2, for: 2500000h":                           "longer than 100 years",
		"pause: 2, for: 1ms, every: 1s, repeat: 9999999999": "a run has 400 faults at most",
		"pause: 2, for: 100us, every: 1ms":                  "more than 400 faults",
		"pause: 2, after: 1s":                               "after 1s of what?",
		"pause: 2, repeat: 3":                               "`repeat` needs `every`",
		"pause: holder, for: 1ms, every: 1s":                "occurs once",
		"pause: holder, jitter: 1ms":                        "no jitter",
		"loss: 1%, nth: 3, for: 1s":                         "has no duration",
		"pause: 2, every: 1s, for: 1s":                      "would not be healed in between",
		"pause: 2, every: 1s":                               "say how long it lasts, as in for: 500ms",
		"clock: 2, by: 1s, for: 1s":                         "a jump has no duration",
		"pause: 5":                                          "there is no node 5: they are 0 to 4",
		"pause: random:6":                                   "there are 5 clients",
		"cut: random:5":                                     "no node to be cut off from",
		"pause: coordinator":                                "has no coordinator",
		"pause: token":                                      "has no token: take holder",
		"pause: leader":                                     "elects no leader",
		"pause: 2, when: any leads":                         "elects no leader",
		"pause: holder, when: 2 enters":                     "the target already sets the moment",
		"loss: 1%, kind: repyl":                             "there is no message repyl",
		"kill: 2, mid-input: 1, when: 2 enters":             "leave out when, or mid-input",
		"kill: holder, mid-input: 1":                        "one node that is known before",
		"kill: 2, mid-input: 1, for: 1ms, every: 1s":        "occurs once",
		"kill: 2, mid-input: -1":                            "from 1, and not -1",
		"pause: 2, mid-input: 1":                            "pause takes no mid-input",
		"cut: grid":                                         "such as 4 or 9, and there are 5",
		"cut: grid:3":                                       "takes 9 nodes, and there are 5",
		"loss: 1%, kind: token":                             "no message carries a token",
	} {
		f, err := ParseFault(text)
		if err == nil {
			_, err = Resolve([]Fault{f}, scene(t, "ricart-agrawala"), 1)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for _, texts := range [][2]string{
		{"kill: 2, at: 1s", "kill: 2, at: 2s"}, {"kill: 2, at: 1s, for: 1s", "kill: 2-3, at: 1500ms"},
		{"clock: 2, rate: 2, at: 1s", "clock: 2, rate: 1.5, at: 2s"},
		{"kill: 2, at: 1s", "pause: 2, at: 2s, for: 1ms"},
		{"kill: all, at: 1s", "slow: 1-2, share: 10%, at: 2s, for: 1ms"},
		{"kill: all, at: 1s", "pause: random, at: 2s"},
	} {
		if _, err := Resolve(read(t, texts[:]...), scene(t, "ricart-agrawala"), 1); err == nil {
			t.Errorf("%s and %s hold together", texts[0], texts[1])
		}
	}
	for _, texts := range [][2]string{
		{"kill: 2, at: 1s, for: 100ms", "pause: 2, at: 2s, for: 1ms"},
		{"kill: 2, at: 1s", "pause: 1-2, at: 2s, for: 1ms"},
		{"pause: 2, at: 1s, for: 1s", "kill: 2, at: 1500ms"},
		{"kill: random, at: 1s", "kill: 3, at: 1s"}, {"pause: random, at: 1s", "kill: 1-4, at: 500ms"},
	} {
		for seed := range uint64(20) {
			if _, err := Resolve(read(t, texts[:]...), scene(t, "ricart-agrawala"), seed); err != nil {
				t.Errorf("%s and %s do not hold together: %v", texts[0], texts[1], err)
			}
		}
	}
}

// read reads faults in one line each.
func read(t testing.TB, texts ...string) (all []Fault) {
	t.Helper()
	for _, text := range texts {
		f, err := ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	return all
}

// everyKind is a plan with faults of all kinds and targets.
var everyKind = []string{"cut: 0-1/2-4, at: 10ms, for: 5ms", "cut: 0>1, for: 5ms", "cut: bridge, for: 5ms",
	"cut: ring, for: 5ms, kind: token", "cut: minority, for: 5ms", "cut: majority, for: 5ms",
	"cut: random:2, for: 5ms", "cut: holder, for: 5ms", "loss: 2%, between: 0/1, for: 5ms",
	"loss: burst:1%,20%, kind: request", "loss: 100%, kind: token, nth: 5", "delay: uniform:5ms,50ms",
	"duplicate: 0.1%", "duplicate: 0%", "reorder: 5ms", "bandwidth: 10KB, at: 1ms",
	"kill: random, at: 10ms, for: 5ms, every: 50ms, repeat: 3, jitter: 20ms", "kill: holder, at: 1s",
	"kill: token, for: 10ms, forget: true", "kill: 2, mid-input: 1, at: 1s, for: 5ms",
	"kill: random, mid-input: 2, at: 2500ms", "pause: random:2, every: 1s, for: 3ms",
	"pause: minority, for: 10ms", "pause: majority", "pause: all, for: 1ms", "pause: successor, for: 1ms",
	"pause: waiter, for: 1ms", "slow: random, share: 33%", "clock: 2, by: -3s", "clock: 3, rate: 0.9, by: 1h",
	"clock: 1, rate: 1.5, for: 1s", "name: x, kill: 3, at: 2s, when: '0-2 enters #7', after: 5ms",
	"pause: 3, when: any receives token, for: 5ms", "seed: 77, pause: random, for: 1ms, every: 100ms",
	"lag: random, by: 5ms, for: 5ms", "throttle: 1, to: 1KB, for: 5ms", "stall: holder, for: 5ms",
	"reset: minority", "reset: 2, for: 5ms", "kill: broker 0-1, at: 1s, for: 5ms",
	"pause: broker 0, at: 1500ms, for: 5ms", "cut: broker 0/broker 1-2, at: 2s, for: 5ms"}

// same reports whether two lists of faults say the same.
func same(a, b []Fault) bool {
	strip := func(all []Fault) (texts []string) {
		for _, f := range all {
			f.lines = nil
			text, err := json.Marshal(f)
			if err != nil {
				panic(err)
			}
			texts = append(texts, string(text))
		}
		return texts
	}
	return reflect.DeepEqual(strip(a), strip(b))
}

// A resolved plan that is written to run.yaml or to the nodes, and read back, resolves to itself, and it cuts
// the same links.
func TestResolvedPlansResolveToThemselves(t *testing.T) {
	s := scene(t, "suzuki-kasami")
	s.Brokers = 3
	for seed := range soak.Pick[uint64](10, 50, 2000) {
		all, err := Resolve(read(t, everyKind...), s, seed)
		if err != nil {
			t.Fatal(err)
		}
		text, err := yaml.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			Faults []Fault `yaml:"faults"`
		}
		if err := yamlfile.Decode([]byte("faults:\n"+string(text)), &file); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		again, err := Resolve(file.Faults, s, seed+1)
		if err != nil || !same(again, all) {
			t.Fatalf("%v: a resolved plan resolves to another:\n%v\n%v", err, all, again)
		}
		packed, err := json.Marshal(all)
		var unpacked []Fault
		if err == nil {
			err = json.Unmarshal(packed, &unpacked)
		}
		if err != nil || !same(unpacked, all) {
			t.Fatalf("%v: as JSON:\n%s", err, packed)
		}
		for i := range all { // the same links are cut
			for link := range nodes.ID(25) {
				x, y := all[i].cut(), unpacked[i].cut()
				if x.Separates(link/5, link%5) != y.Separates(link/5, link%5) {
					t.Fatalf("%v cuts other links once read back", x)
				}
			}
		}
	}
}

// FuzzReadPlan: every text is a plan, or gives an error.
func FuzzReadPlan(f *testing.F) {
	for _, p := range Plans() {
		f.Add(p.Text)
	}
	f.Add("faults:\n- kill: random\n  every: 1s") // one at 3s would begin as the run ends
	for _, text := range everyKind {
		f.Add("faults:\n- " + strings.ReplaceAll(text, ", ", "\n  "))
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ReadPlan("x", []byte(text))
		if err != nil {
			return
		}
		s := scene(t, "suzuki-kasami")
		all, err := Resolve(p.Faults, s, 1)
		if err != nil {
			return
		}
		if again, err := Resolve(all, s, 2); err != nil || !same(all, again) {
			t.Errorf("%v: %v resolves to %v", err, all, again)
		}
		for i := range all {
			if f := &all[i]; f.At < 0 || f.At > s.Measured+time.Second || f.String() == "" {
				t.Errorf("%v", f)
			}
		}
	})
}

// A scenario suits an algorithm if its faults can be carried out in runs of five and of eight nodes, as the
// fault matrix and the commands make by default. It does not suit an algorithm that lacks a node or a message
// of its faults.
func TestScenariosSuitAlgorithms(t *testing.T) {
	for _, p := range Plans() {
		if !slices.Contains(scenarios, p.Name) && !slices.Contains(elections, p.Name) {
			t.Errorf("%s is in no fault matrix", p.Name)
		}
	}
	exclusion, leaders := Scenarios(), Elections()
	for _, algo := range slices.Concat(mutex.Table, election.Table) {
		all := exclusion
		if algo.Elector != nil {
			all = leaders
		}
		var suited, listed []string
		for _, p := range ScenariosOf(algo) {
			listed = append(listed, p.Name)
		}
		for _, p := range all {
			suits := p.Suits(algo)
			for _, n := range []int{5, 8} {
				s := &Scene{Spec: algo, Config: nodes.Config{N: n}, Measured: cmp.Or(p.Duration, 3*time.Second),
					Simulated: true, Brokers: p.Brokers}
				alone := p.Name == "first-network-cut" && algo.Codec().Networks() == 1 // the plan is for two networks
				if _, err := Resolve(p.Faults, s, 1); suits != (err == nil && !alone) {
					t.Errorf("%s suits %s: %v, and in a run of %d nodes: %v", p.Name, algo.Name, suits, n, err)
				}
			}
			if suits {
				suited = append(suited, p.Name)
			}
		}
		if len(suited) < len(all)/2 || !slices.Equal(suited, listed) {
			t.Errorf("%s has %d scenarios of %d, and these are listed: %v", algo.Name, len(suited), len(all),
				listed)
		}
	}
}

// Algorithms mark the messages that permit to enter; otherwise no fault could lose a permit.
func TestAlgorithmsSayWhatPermits(t *testing.T) {
	for _, algo := range mutex.Table {
		permits := slices.ContainsFunc(algo.Messages, func(k nodes.MessageKind) bool { return k.Permit })
		if !permits && !carriesToken(algo) {
			t.Errorf("%s has no message that permits, and none that carries a token", algo.Name)
		}
	}
}

// The about text of a plan that cuts named nodes off one way names the nodes of the cut, and no others.
func TestOneWayPlansSayWhomTheyCut(t *testing.T) {
	for _, p := range Plans() {
		for i := range p.Faults {
			if p.Faults[i].cut().String() == "0>1-2" &&
				(!strings.Contains(p.About, "node 0") || !strings.Contains(p.About, "nodes 1 and 2")) {
				t.Errorf("%s cuts off what node 0 sends to nodes 1 and 2, and says: %s", p.Name, p.About)
			}
		}
	}
}
