package commands

import (
	"bytes"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"turnstile/algorithms/catalog"
	"turnstile/algorithms/election"
	"turnstile/bench/study"
	"turnstile/chaos/effect"
)

// Without a terminal, a long command prints first how long it takes, and then its progress each minute.
func TestLinesOfProgress(t *testing.T) {
	for _, test := range []struct {
		name  string
		takes time.Duration
		off   bool
		want  []string
	}{
		{"announced", 2*time.Minute + 30*time.Second, false, []string{
			"this takes about 2m30s, or longer if others use the machine",
			"after 1m: run 59", "after 2m: 50%, run 119"}},
		{"not known", 0, false, []string{"after 10s: run 9", "after 1m10s: run 69", "after 2m10s: 50%, run 129"}},
		{"off", time.Hour, true, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			var stderr bytes.Buffer
			b := (&app{stderr: &stderr}).newBar(test.off, test.takes)
			time.Sleep(time.Millisecond) // so that a line is due between two calls
			for second := range 150 {
				done := 0.0
				if second > 90 {
					done = 0.5
				}
				b.show(done, fmt.Sprintf("run %d", second))
				time.Sleep(time.Second)
				if second == 30 {
					b.clear() // as between trials
				}
			}
			b.clear()
			time.Sleep(time.Hour)
			var want string
			for _, line := range test.want {
				want += "orchestrator: " + line + "\n"
			}
			if stderr.String() != want {
				t.Errorf("%s: it says\n%s\nand not\n%s", test.name, &stderr, want)
			}
		})
	}
}

// Commands that make real runs for a duration know before they begin how long they take.
func TestCommandsKnowHowLongTheyTake(t *testing.T) {
	bully, err := election.Find("bully")
	if err != nil {
		t.Fatal(err)
	}
	cut, err := effect.ParseCut("0-2/3-4")
	if err != nil {
		t.Fatal(err)
	}
	all := study.Experiment{Algorithms: catalog.Table{}.Algorithms(), Seed: 1}
	electors := study.Experiment{Algorithms: election.Table}
	var one benchCall
	one.Trials, one.Warmup, one.Duration = 3, time.Second, 4*time.Second
	for name, takes := range map[string]time.Duration{
		"bench":  one.takes(),
		"chaos":  (&study.Campaign{Experiment: all, Real: 20}).Takes(),
		"matrix": (&study.Matrix{Experiment: all, Real: true, Runs: 1}).Takes(),
		"split-brain": (&study.SplitBrain{Experiment: electors, N: 5,
			Cuts: []effect.Cut{cut}, Real: true}).Takes(),
	} {
		if takes < 15*time.Second || takes > 2*time.Hour {
			t.Errorf("%s takes %v", name, takes)
		}
	}
	one.Entries = 5
	few := study.Matrix{Experiment: study.Experiment{Algorithms: []*spec{bully}}, Runs: 1}
	if one.takes() != 0 || few.Takes() > time.Second {
		t.Errorf("%d entries take %v, and few simulated runs %v", one.Entries, one.takes(), few.Takes())
	}
}
