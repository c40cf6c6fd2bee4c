package election

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/row"
)

var bullyFourPhasePrintedRow = row.Row{
	Spec: nodes.Spec{
		Name: "bully-four-phase-printed", Kind: nodes.Election,
		New: func(c nodes.Config) nodes.Machine {
			f := newFourPhase(c)
			f.unwatchful, f.printed = true, c.Value(mendedOption) == "nothing"
			return f
		},
		Timers:     fourPhaseTimers,
		Messages:   fourPhaseMessages,
		Options:    append(bullyFourPhaseRow.Options[:3:3], mendedOption),
		Safe:       bullyFourPhaseRow.Safe,
		Circulates: true,
		Grace:      bullyFourPhaseRow.Grace,
	},
	Family: "complete network",
	Source: bullyFourPhaseRow.Source,
	Summary: "bully-four-phase as the notes print it: NEW_STATE is not answered, so elections never end, and " +
		"nobody but who is told that the coordinator is down acts on it.",
	Elector: bullyFourPhaseRow.Elector,
	Flaw: &row.Flaw{
		Check: "agreement",
		At:    nodes.Config{N: 3},
	},
	Faults: beside(slices.Concat(
		under(unhit, "known to be broken: nobody ever leads whom the fault is for", "dead-leader",
			"dead-successor", "dead-winner", "leader-crashes", "leader-cut-off", "stopped-leader"),
		under(unhit, "node 0 sends nothing to nodes 1 and 2, since it does not coordinate", "unheard-node",
			"one-link"),
		under(blocks|unhit, "known to be broken: no election ends; nothing may be sent across (-)",
			"parted-bridge")),
		under(blocks, "known to be broken: NEW_STATE is not answered, so no election ends",
			slices.Concat(deaths, cuts, comebacks, others, []string{"chain"})...)),
}

// mendedOption says what of the printed algorithm is mended. As printed, an elector goes back to phase 1
// after phase 4 whenever a lower node is up, and never knows that it coordinates. With that mended there are
// leaders. But if one dies, and of those who notice none is the next in rank, a higher node answers their
// STATUS_POLL, they give up, and there is no leader for ever.
var mendedOption = nodes.Option{Name: "mended", Values: []string{"nothing", "phase-4"}, Default: "nothing",
	Usage: "what is mended: nothing, or that NEW_STATE is answered and the elector takes its own status"}
