package election

import (
	"slices"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var bullyFourPhasePrintedAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "bully-four-phase-printed", Kind: nodes.Election,
		New: func(c nodes.Config) nodes.Machine {
			f := newFourPhase(c)
			f.unwatchful, f.printed = true, c.Value(mendedOption) == "nothing"
			return f
		},
		Timers:     fourPhaseTimers,
		Messages:   fourPhaseMessages,
		Options:    append(shownWith("mended=phase-4", bullyFourPhaseAlgorithm.Options...), mendedOption),
		Safe:       bullyFourPhaseAlgorithm.Safe,
		Circulates: true,
		Grace:      bullyFourPhaseAlgorithm.Grace,
	},
	Family: "complete network",
	Source: bullyFourPhaseAlgorithm.Source,
	Summary: "bully-four-phase as the notes print it: NEW_STATE is not answered, so elections never end, and " +
		"only a node that is told that the coordinator is down acts on it.",
	Elector: bullyFourPhaseAlgorithm.Elector,
	Flaw: &algorithm.Flaw{
		Check: "agreement",
		At:    nodes.Config{N: 3},
	},
	Faults: beside(slices.Concat(
		under(unhit, "known to be broken: the fault is for a leader, and nobody ever leads", "dead-leader",
			"dead-successor", "dead-winner", "leader-crashes", "leader-cut-off", "stopped-leader"),
		under(unhit, "node 0 sends nothing to nodes 1 and 2, since it does not coordinate", "unheard-node",
			"one-link"),
		under(blocks|unhit, "known to be broken: no election ends; nothing may be sent across (-)",
			"parted-bridge")),
		under(blocks, "known to be broken: NEW_STATE is not answered, so no election ends",
			slices.Concat(deaths, cuts, comebacks, others, []string{"chain"})...)),
}

// mendedOption names the corrected part of the printed algorithm. As printed, an elector goes back to phase 1
// after phase 4 whenever a lower node is up, and never knows that it coordinates. With that corrected there
// are leaders. But suppose that one dies and the next in rank does not notice. The nodes that notice send
// STATUS_POLL, a higher node answers, they give up, and nobody ever leads.
var mendedOption = nodes.Option{Name: "mended", Values: []string{"nothing", "phase-4"}, Default: "nothing",
	Usage: "what to correct: nothing, or that NEW_STATE is answered and the elector sets its own status",
	Shows: []nodes.Shown{
		{Value: "nothing", Figure: "leader", Least: -1, Most: -1, For: 3 * time.Second},
		{Value: "phase-4", Figure: "leader", Least: 4, Most: 4, For: 3 * time.Second},
	}}
