package election_test

import (
	"testing"

	"turnstile/bench/campaign"
	"turnstile/internal/soak"
	"turnstile/nodes"
	"turnstile/nodes/election"
)

// Campaigns of random plans find what nodes must save, without any test that knows what is wrong: kills come
// in the middle of inputs, and right after messages.
func TestMutantsOfSavesAreFoundByCampaigns(t *testing.T) {
	for _, m := range election.UnsavedMutants() {
		plans := m.Campaign
		if plans == 0 || plans > soak.Pick(100, 100, 10_000) {
			continue
		}
		c := campaign.Campaign{Rows: []*nodes.Spec{m.Spec}, Seed: 1, Simulated: plans}
		results, err := c.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, r := range results {
			if r.Class == campaign.ViolatedInside {
				found++
			}
		}
		t.Logf("%s: %d of %d plans show it", m.Rule, found, plans)
		if found == 0 {
			t.Errorf("%s: %d plans do not show it", m.Rule, plans)
		}
	}
}
