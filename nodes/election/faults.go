package election

import (
	"slices"

	"turnstile/nodes"
)

// What becomes of the electors under faults, of five nodes. The source is the dossier of the algorithms,
// ALGORITHMS.md; where it is silent, or a run shows more, the reason says so. Two leaders at once are X
// unless the row tells their terms apart: so they are of electors that have one per side by design as well.

// The outcomes, as nodes has them.
const (
	recovers = nodes.Recovers
	starves  = nodes.Starves
	blocks   = nodes.Blocks
	breaks   = nodes.Breaks
	unhit    = nodes.Unhit
)

const dossier = "ALGORITHMS.md 3.4.2, "

var under, beside = nodes.Under, nodes.Completed

// The plans for electors, by their sorts, but for those that only some take.
var (
	deaths = []string{"dead-leader", "dead-successor", "dead-winner", "dead-highest", "leader-crashes",
		"each-in-turn"}
	cuts = []string{"parted", "parted-halves", "lowest-cut-off", "highest-cut-off", "leader-cut-off",
		"split-election"}
	comebacks = []string{"restarts", "amnesia", "empty-restarts", "restless-election", "forgetful-election"}
	others    = []string{"flapping-links", "stopped-node", "slow-node", "slow-links", "late-election",
		"overtaking-election", "copied-election", "lossy-election", "broker-restart", "skewed-clocks"}
)

// silent returns the cells of an elector without timeouts on a ring: its own, and for all other faults what
// holds for all of these. Once somebody leads it sends nothing.
func silent(own ...[]nodes.FaultCell) []nodes.FaultCell {
	return beside(slices.Concat(own...), slices.Concat(
		under(blocks, dossier+"crash during election: B; the ring is broken, and nobody acts on silence: "+
			"those who follow the dead go on to, and it does not know that it led if it comes up again",
			deaths...),
		under(blocks, dossier+"partition: B; what an election sends across the cut is lost, and comes no "+
			"more", "split-election"),
		under(unhit, dossier+"partition: B in an election, see split-election; but nobody holds one for "+
			"silence, so nothing is sent that could be lost", "parted", "parted-halves", "parted-bridge",
			"lowest-cut-off", "highest-cut-off", "leader-cut-off", "unheard-node", "flapping-links"),
		under(recovers|unhit, "nothing is sent that could be lost with the broker, and processes connect "+
			"again", "broker-restart"),
		under(unhit, "nothing is sent that could be late", "slow-links"),
		under(recovers, dossier+"slow node: waits, L on resume; nobody acts on silence", "stopped-leader",
			"stopped-node", "slow-node", "skewed-clocks"),
		under(recovers, dossier+"delay: L; there are no timeouts, and what belongs to a round says so",
			"late-election", "overtaking-election"),
		under(recovers, dossier+"duplicate: absorbed, since elections are numbered and each node heeds the "+
			"first announcement of one", "copied-election"),
		under(recovers|starves|blocks|unhit, "of loss the dossier says nothing: an identity that is lost "+
			"ends the election (B), and an announcement leaves without a leader who is behind it (P), "+
			"unless the message was to be dropped anyway (L) or none is lost of so few (-)",
			"lossy-election"),
		under(starves|blocks, dossier+"amnesic restart: B, if it was the leader, and otherwise P: who "+
			"comes up again knows of no leader and nobody tells it; that it takes part twice the numbers "+
			"of elections rule out", comebacks...),
	))
}

// watchful returns the cells of an elector that acts on silence: its own, and for all other faults that it
// recovers.
func watchful(own ...[]nodes.FaultCell) []nodes.FaultCell {
	return beside(slices.Concat(own...), slices.Concat(
		under(recovers, dossier+"crash during election: L; whoever waits in vain begins again", deaths...),
		under(recovers, "cuts of 300 ms are over before those who are missed are given up",
			"flapping-links"),
		under(recovers, "nobody follows or asks the one that is not heard", "unheard-node"),
		under(recovers, dossier+"slow node: L; it does not lead, and is heard of again when it goes on",
			"stopped-node", "slow-node"),
		under(recovers, "delays are shorter than the timeouts allow for", "slow-links",
			"overtaking-election"),
		under(recovers, dossier+"duplicate: L; messages are idempotent, and those that could be stale are "+
			"numbered", "copied-election"),
		under(recovers, "of loss the dossier says nothing: whoever waits in vain asks again, or hears it "+
			"from a heartbeat", "lossy-election"),
		under(recovers, dossier+"amnesic restart: L; who comes up again asks, or holds an election",
			comebacks...),
		under(recovers, "ALGORITHMS.md 3.5, F15: a node whose timers run out at once asks, and is answered",
			"skewed-clocks"),
	))
}

// splitting returns the cells of an elector that acts on silence and by which each side of a cut has a
// leader: its own, and for all other faults what holds for all of these. They have no terms, so two leaders
// are X.
func splitting(why string, own ...[]nodes.FaultCell) []nodes.FaultCell {
	split := dossier + "partition: " + why
	return beside(slices.Concat(own...), watchful(
		under(breaks, split, cuts...),
		under(recovers|breaks, split+", unless all hear the leader, who is the bridge (L)", "parted-bridge"),
		under(recovers|breaks, split+"; X where the broker is away for longer than two may lead",
			"broker-restart"),
		under(recovers, dossier+"slow node: it is replaced; when it goes on it hears that at once, and leads "+
			"beside the other for no longer than a take-over takes", "stopped-leader"),
		under(recovers|breaks, dossier+"delay beyond timeouts: two leaders, until what is late has come "+
			"(CE-15)", "late-election"),
	))
}

// single returns the cells of an elector that acts on silence and has one leader per term, whatever happens
// to messages: its own, and for all other faults that it recovers.
func single(why string, own ...[]nodes.FaultCell) []nodes.FaultCell {
	return beside(slices.Concat(own...), watchful(
		under(recovers, dossier+"partition: "+why, cuts...),
		under(recovers, dossier+"partition: "+why, "parted-bridge", "broker-restart"),
		under(recovers, dossier+"slow node: replaced, and steps down when it goes on and hears of the "+
			"higher term", "stopped-leader"),
		under(recovers, dossier+"delay: a vote is for one term, and what is late is known by its term",
			"late-election"),
	))
}
