package experiment

import (
	"testing"

	"turnstile/internal/soak"
	"turnstile/nodes/election"
)

// What a node saves outlasts campaigns of random plans: kills come in the middle of inputs, and right after
// messages. Mutants of the testbed that save too little, or read more from it than it says, fail here.
func TestWhatIsSavedOutlastsCampaigns(t *testing.T) {
	spec, err := election.Find("bully-majority")
	if err != nil {
		t.Fatal(err)
	}
	c := Campaign{Experiment: of(spec), Simulated: soak.Pick(50, 50, 5000)}
	results, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Wrong != "" {
			t.Errorf("under %s: %s", r.Options.Plan, r.Wrong)
		}
	}
}
