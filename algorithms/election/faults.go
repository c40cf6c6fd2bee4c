package election

import (
	"slices"

	"turnstile/nodes/algorithm"
)

// The outcomes of electors under faults, with five nodes. A reason names the paper that it rests on; without
// a paper it is derived from the rules of the elector, and the runs of the fault matrix show it. Two leaders
// at once are X (broken) unless the algorithm tells their terms apart, even for electors that have one leader
// per side by design.

// Short names of the outcomes.
const (
	recovers = algorithm.Recovers
	starves  = algorithm.Starves
	blocks   = algorithm.Blocks
	breaks   = algorithm.Breaks
	unhit    = algorithm.Unhit
)

var under, beside = algorithm.Under, algorithm.Completed

// Names of fault plans that apply to every elector, by kind of fault.
var (
	deaths = []string{"dead-leader", "dead-successor", "dead-winner", "dead-highest", "leader-crashes",
		"each-in-turn"}
	cuts = []string{"parted", "parted-halves", "lowest-cut-off", "highest-cut-off", "leader-cut-off",
		"split-election"}
	comebacks = []string{"restarts", "amnesia", "empty-restarts", "restless-election", "forgetful-election"}
	others    = []string{"flapping-links", "stopped-node", "slow-node", "slow-links", "late-election",
		"overtaking-election", "copied-election", "lossy-election", "broker-restart", "skewed-clocks"}
)

// silent returns the cells of a ring elector without timeouts: those in own, and common cells for all other
// faults. Such an elector sends nothing once a node leads.
func silent(own ...[]algorithm.FaultCell) []algorithm.FaultCell {
	return beside(slices.Concat(own...), slices.Concat(
		under(blocks, "the ring is broken and no node acts on silence: the others go on following the dead node, "+
			"which does not know that it led if it comes up again", deaths...),
		under(blocks, "messages of the election that cross the cut are lost, and are not sent again",
			"split-election"),
		under(unhit, "silence starts no election, so nothing is sent that could be lost (see "+
			"split-election for a cut during one)", "parted", "parted-halves", "parted-bridge",
			"lowest-cut-off", "highest-cut-off", "leader-cut-off", "unheard-node", "one-link", "chain",
			"flapping-links"),
		under(recovers|unhit, "nothing is sent that could be lost with the broker, and processes connect "+
			"again", "broker-restart"),
		under(unhit, "nothing is sent that could be late", "slow-links"),
		under(recovers, "no node acts on silence, so the others wait until it goes on", "stopped-leader",
			"stopped-node", "slow-node", "skewed-clocks"),
		under(recovers, "there are no timeouts, and messages name their round",
			"late-election", "overtaking-election"),
		under(recovers, "elections are numbered, and a node heeds the first announcement of each",
			"copied-election"),
		under(recovers|starves|blocks|unhit, "a lost identity ends the election (B), and a "+
			"lost announcement leaves the nodes behind it without a leader (P), unless the message was to "+
			"be dropped anyway (L) or no message is lost (-)",
			"lossy-election"),
		under(starves|blocks, "a node that comes up again knows of no leader and nobody tells it (P); if it "+
			"was the leader, nobody leads (B); elections are numbered, so it takes part in each once",
			comebacks...),
	))
}

// watchful returns the cells of an elector that acts on silence: those in own, and cells for all other
// faults, from which it recovers.
func watchful(own ...[]algorithm.FaultCell) []algorithm.FaultCell {
	return beside(slices.Concat(own...), slices.Concat(
		under(recovers, "a node that waits in vain begins another election", deaths...),
		under(recovers, "cuts of 300 ms end before silent nodes are given up",
			"flapping-links"),
		under(recovers, "no node follows or asks the one that is not heard", "unheard-node"),
		under(recovers, "both hear the leader", "one-link"),
		under(recovers, "the node does not lead, and is heard again when it goes on",
			"stopped-node", "slow-node"),
		under(recovers, "delays are shorter than the timeouts allow for", "slow-links",
			"overtaking-election"),
		under(recovers, "messages are idempotent, and numbered where they could be stale",
			"copied-election"),
		under(recovers, "a node that waits in vain asks again, or learns the leader from a heartbeat",
			"lossy-election"),
		under(recovers, "a node that comes up again asks for the leader, or holds an election",
			comebacks...),
		under(recovers, "a node whose timers run out at once asks, and is answered",
			"skewed-clocks"),
	))
}

// splitting returns the cells of an elector that acts on silence and leaves each side of a cut with a leader:
// those in own, and common cells for all other faults. Such electors lack terms: two leaders are X (broken).
func splitting(why string, own ...[]algorithm.FaultCell) []algorithm.FaultCell {
	return beside(slices.Concat(own...), watchful(
		under(breaks, why, cuts...),
		under(breaks, "both ends of the chain lead: neither hears the other", "chain"),
		under(recovers|breaks, why+" (X), unless the leader is the bridge, and all hear it (L)", "parted-bridge"),
		under(recovers|breaks, why+" while the broker is away; X if that exceeds the overlap that the scheme "+
			"allows", "broker-restart"),
		under(recovers, "it is replaced; when it goes on it learns so at once, and both lead for "+
			"no longer than a take-over takes", "stopped-leader"),
		under(recovers|breaks, "delays beyond the timeouts make two leaders (X), until the late messages have come",
			"late-election"),
	))
}

// single returns the cells of an elector that acts on silence and has one leader per term, whatever becomes
// of messages. It recovers from every fault that own does not list.
func single(why string, own ...[]algorithm.FaultCell) []algorithm.FaultCell {
	return beside(slices.Concat(own...), watchful(
		under(recovers, why, cuts...),
		under(recovers, why, "parted-bridge", "chain", "broker-restart"),
		under(recovers, "it is replaced, and steps down when it goes on and hears of the higher term",
			"stopped-leader"),
		under(recovers, "a vote is for one term, and its term gives away a late message", "late-election"),
	))
}
