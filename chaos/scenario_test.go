package chaos

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/election"
	"turnstile/nodes/mutex"
)

// A scenario suits an algorithm if its faults can be carried out in the runs that it is for, and in runs of
// as many nodes and as long as bench, simulate and elect make by default; otherwise not, because there is no
// such node or message.
func TestScenariosSuitAlgorithms(t *testing.T) {
	for _, p := range Plans() {
		if !slices.Contains(scenarios, p.Name) && !slices.Contains(elections, p.Name) {
			t.Errorf("%s is in no fault matrix", p.Name)
		}
	}
	exclusion, leaders := Scenarios(), Elections()
	for _, row := range slices.Concat(mutex.Table, election.Table) {
		all := exclusion
		if row.Elector != nil {
			all = leaders
		}
		var suited, listed []string
		for _, p := range ScenariosOf(row) {
			listed = append(listed, p.Name)
		}
		for _, p := range all {
			suits := p.Suits(row)
			for _, n := range []int{5, 8} {
				s := &Scene{Spec: row, Config: nodes.Config{N: n}, Measured: cmp.Or(p.Duration, 3*time.Second),
					Simulated: true, Brokers: p.Brokers}
				alone := p.Name == "first-network-cut" && row.Codec().Networks() == 1 // which shows nothing of it
				if _, err := Resolve(p.Faults, s, 1); suits != (err == nil && !alone) {
					t.Errorf("%s suits %s: %v, and in a run of %d nodes: %v", p.Name, row.Name, suits, n, err)
				}
			}
			if suits {
				suited = append(suited, p.Name)
			}
		}
		if len(suited) < len(all)/2 || !slices.Equal(suited, listed) {
			t.Errorf("%s has %d scenarios of %d, and these are listed: %v", row.Name, len(suited), len(all),
				listed)
		}
	}
}

// An elector has no critical section, and an algorithm of mutual exclusion no leader.
func TestPlansOfTheOtherKindSuitNobody(t *testing.T) {
	for text, suits := range map[string]struct{ elector, mutual bool }{
		"kill: holder": {false, true}, "cut: waiter": {false, true}, "pause: successor": {false, true},
		"kill: 0, when: any requests": {false, true}, "kill: 0, when: 1 enters": {false, true},
		"kill: 0, when: any exits": {false, true},
		"kill: leader":             {true, false}, "cut: leader": {true, false},
		"kill: 0, when: any leads":    {true, false},
		"kill: 0, when: any receives": {true, true}, "kill: random": {true, true},
	} {
		f, err := ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		p := &Plan{Faults: []Fault{f}}
		elector, _ := election.Find("bully")
		mutual, _ := mutex.Find("lamport")
		if p.Suits(elector) != suits.elector || p.Suits(mutual) != suits.mutual {
			t.Errorf("%s suits an elector: %v, and the other kind: %v", text, p.Suits(elector), p.Suits(mutual))
		}
	}
}

// Whoever permits is known, or nothing that permits could be lost.
func TestRowsSayWhatPermits(t *testing.T) {
	for _, row := range mutex.Table {
		permits := slices.ContainsFunc(row.Messages, func(k nodes.MessageKind) bool { return k.Permit })
		if !permits && !carriesToken(row) {
			t.Errorf("%s has no message that permits, and none that carries a token", row.Name)
		}
	}
}

// A plan that cuts named nodes off one way says who hears nothing of whom: those of the cut, and no others.
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
