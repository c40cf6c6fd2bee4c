package chaos

import (
	"slices"

	"turnstile/nodes"
)

// scenarios are all plans of ours, in the order of the fault matrix.
var scenarios = []string{
	"dead-idle", "dead-waiter", "dead-holder", "dead-coordinator", "each-in-turn",
	"lost-token", "lost-request", "lost-reply", "lossy-links", "flaky-links",
	"split-brain", "half-cut", "holder-in-minority", "holder-in-majority", "one-way", "bridge", "majority-ring",
	"stopped-holder", "stopped-idle", "slow-node", "slow-links", "slow-network", "overtaking", "copies",
	"restarts", "amnesia", "empty-restarts", "empty-coordinator",
	"broker-restart", "split-brokers", "stalled-connection", "reset-connections", "skewed-clocks",
}

// elections are the plans of ours for runs about leaders, which the fault matrix does not have.
var elections = []string{"leader-crashes"}

// Scenarios returns the plans that come with the program, in the order in which the fault matrix has every
// algorithm run under them: whoever dies, what is lost, who is cut off, what is slow, who forgets, and what
// carries the messages. They are for five clients and four seconds.
func Scenarios() (all []*Plan) {
	plans := Plans()
	for _, name := range scenarios {
		all = append(all, plans[slices.IndexFunc(plans, func(p *Plan) bool { return p.Name == name })])
	}
	return all
}

// Suits reports whether an algorithm has what the faults of the plan are for: a coordinator, messages of
// those kinds, a token.
func (p *Plan) Suits(spec *nodes.Spec) bool {
	return !slices.ContainsFunc(p.Faults, func(f Fault) bool {
		t := f.target()
		_, kindErr := kindsOf(f.Kind, spec.Codec())
		_, whenErr := kindsOf(f.When.Kind, spec.Codec())
		return kindErr != nil || whenErr != nil ||
			t != nil && t.Word == "coordinator" && spec.Coordinator == nil ||
			t != nil && t.Word == "leader" && spec.Leads == nil ||
			t != nil && t.Word == "token" && !carriesToken(spec)
	})
}
