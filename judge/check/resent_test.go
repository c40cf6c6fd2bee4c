package check

import (
	"strings"
	"testing"
)

// Messages that were sent again, since an answer took long, do not count in the published cost of an entry.
// All else is judged as usual.
func TestWhatIsSentAgainIsNoPartOfTheCost(t *testing.T) {
	again := func(resent uint64) *world {
		w := sound(5)
		w.send(0, 1, kindRequest)
		w.totals(0).Resent += resent
		return w
	}
	for name, c := range map[string]struct {
		*world
		cost, identities Outcome
		says             string
	}{
		"nothing":                    {sound(5), Valid, Valid, "8 messages per entry, as published"},
		"one message too many":       {again(0), Violated, Violated, "are published"},
		"one message sent again":     {again(1), Valid, Valid, "and 8 without what was sent again"},
		"two, and one too few of it": {again(2), Violated, Valid, "are published"},
	} {
		v := c.judge()
		cost, identities := finding(t, v, "cost"), finding(t, v, "identities")
		if cost.Outcome != c.cost || identities.Outcome != c.identities || !strings.Contains(cost.Says, c.says) {
			t.Errorf("%s: %v: %s; %v: %s", name, cost.Outcome, cost.Says, identities.Outcome, identities.Says)
		}
	}
}
