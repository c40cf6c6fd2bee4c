package chaos

import (
	"slices"
	"testing"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/mutex"
)

// A scenario suits an algorithm if its faults can be carried out in the runs that it is for, and otherwise
// not, because there is no such node or message.
func TestScenariosSuitAlgorithms(t *testing.T) {
	all := Scenarios()
	for _, p := range Plans() {
		if slices.Contains(scenarios, p.Name) == slices.Contains(elections, p.Name) {
			t.Errorf("%s is neither a scenario nor for elections, or both", p.Name)
		}
	}
	for _, row := range mutex.Table {
		suited := 0
		for _, p := range all {
			s := &Scene{Spec: row, Config: nodes.Config{N: 5}, Measured: 4 * time.Second, Simulated: true,
				Brokers: p.Brokers}
			_, err := Resolve(p.Faults, s, 1)
			if suits := p.Suits(row); suits != (err == nil) {
				t.Errorf("%s suits %s: %v, and in a run: %v", p.Name, row.Name, suits, err)
			} else if suits {
				suited++
			}
		}
		if suited < len(all)/2 {
			t.Errorf("%s has %d scenarios of %d", row.Name, suited, len(all))
		}
	}
}

// Whoever permits is known, or nothing that permits could be lost.
func TestRowsSayWhatPermits(t *testing.T) {
	for _, row := range mutex.Table {
		permits := slices.ContainsFunc(row.Messages, func(k nodes.Kind) bool { return k.Permit })
		if !permits && !carriesToken(row) {
			t.Errorf("%s has no message that permits, and none that carries a token", row.Name)
		}
	}
}
