package claims

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The page contradicts itself in no claim, and each figure in a text of what was seen is in the evidence of
// its claim.
func TestPage(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		for _, err := range c.Check() {
			t.Error(err)
		}
	}
}

func TestWords(t *testing.T) {
	for command, want := range map[string][]string{
		`simulate -n 5`:                         {"simulate", "-n", "5"},
		`x --fault 'kill: 4, at: 0s'  y`:        {"x", "--fault", "kill: 4, at: 0s", "y"},
		`--fault "kill: 1, when: 'any enters'"`: {"--fault", "kill: 1, when: 'any enters'"},
	} {
		if got := Words(command); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

// A claim that names a figure without evidence is found, and so is one that says too much or too little.
func TestClaimsAreChecked(t *testing.T) {
	sound := func() *Claim {
		return &Claim{ID: "J1", Says: "it is so", Text: "so", Shown: Yes, Held: []string{"`go test`"},
			Verdict: Holds, Seen: "It takes N-1 messages, which is 2(N-1) in all."}
	}
	if wrong := sound().Check(); wrong != nil {
		t.Fatal(wrong)
	}
	for want, change := range map[string]func(*Claim){
		"62 was seen":                func(c *Claim) { c.Seen = "Each takes 62 of them." },
		"and not 4":                  func(c *Claim) { c.Seen = "One. Two. Three. Four." },
		"and not 0":                  func(c *Claim) { c.Seen = "" },
		"its verdict is neither":     func(c *Claim) { c.Verdict = Wrong }, // and nothing mends it
		"it is not said how":         func(c *Claim) { c.Text = "" },
		"nothing shows it, yet":      func(c *Claim) { c.Shown, c.Held = No, nil },
		"nothing shows that it is":   func(c *Claim) { c.Held = nil },
		`neither shown "yes", "no",`: func(c *Claim) { c.Shown = Part },
	} {
		c := sound()
		change(c)
		if got := fmt.Sprint(c.Check()); !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	c := sound()
	c.Seen = "Each takes 62.0 of them."
	c.Calls = []Call{{Prints: []string{"published 62 per entry"}}}
	if wrong := c.Check(); wrong != nil {
		t.Error(wrong)
	}
}

// Runs that processes can make are made so, and others say why not.
func TestRealRuns(t *testing.T) {
	for command, want := range map[string]string{
		"simulate --algo ricart -n 5 --seed 1":    "bench --algo ricart -n 5 --seed 1 --latency 1ms",
		"simulate --algo bully --latency 5ms":     "elect --scheme bully --latency 5ms",
		"bench --service etcd -n 4":               "bench --service etcd -n 4",
		"simulate --replay x.txt":                 "a schedule says in which order",
		"explore --algo ricart":                   "explore tries every order",
		"list":                                    "list makes no run of processes",
		"simulate --algo maekawa -n 1000":         "1,000 nodes are more processes than",
		"simulate --algo nobody-has-written-this": "unknown algorithm",
	} {
		c := Call{Args: Words(command)}
		args, err := c.Real()
		if got := strings.Join(args, " "); err == nil && got != want ||
			err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v", command, got, err)
		}
	}
}

// A real run has the verdict of the simulated one, and its published figure; times differ.
func TestRealRunsAreCompared(t *testing.T) {
	c := Call{Prints: []string{"VALID no two", "wait p50 2.00 ms", "published 8 per entry (2(N-1)): confirmed"}}
	real := "VALID  no two in 9\n\nwait  p50 3 ms\npublished   8 per entry (2(N-1)): confirmed\n"
	lines, err := c.AsSimulated(0, real)
	if err != nil || len(lines) != 3 || lines[1] != "wait  p50 3 ms" {
		t.Errorf("%q, %v", lines, err)
	}
	if _, err := c.AsSimulated(1, real); err == nil {
		t.Error("another verdict is not found")
	}
	if _, err := c.AsSimulated(0, strings.Replace(real, "8 per", "9 per", 1)); err == nil {
		t.Error("another figure is not found")
	}
}
