package mutex

import (
	"slices"

	"turnstile/nodes"
)

// What becomes of the algorithms under faults. The source is the dossier of the algorithms, ALGORITHMS.md;
// where it is silent, or a run shows more, the reason says so. Where it says X, exclusion can break: which
// schedule of messages a run has decides whether it does, so other outcomes are there as well.

// The outcomes, as nodes has them.
const (
	recovers = nodes.Recovers
	starves  = nodes.Starves
	blocks   = nodes.Blocks
	breaks   = nodes.Breaks
	unhit    = nodes.Unhit
)

const (
	dossier   = "ALGORITHMS.md 3.4, "
	dossierFT = "ALGORITHMS.md 3.5, "
)

var under, beside = nodes.Under, nodes.Completed

// withoutTimeouts returns the cells of an algorithm that acts on nothing but messages: its own, and for all
// other faults what holds for all of these algorithms.
func withoutTimeouts(own ...[]nodes.FaultCell) []nodes.FaultCell {
	return beside(slices.Concat(own...), slices.Concat(
		under(recovers, dossier+"pause and resume: L; nobody acts on silence, so the others wait",
			"stopped-holder", "stopped-idle", "slow-node", "stalled-connection"),
		under(recovers, dossier+"reorder: L; what comes late comes in time for who has no timeouts",
			"slow-links", "slow-network", "overtaking"),
		under(recovers, dossier+"duplicate: L; requests and permissions are numbered, so a copy is "+
			"known", "copies"),
		under(recovers, dossierFT+"F15: no effect; it reads no clock and sets no timer", "skewed-clocks"),
		under(blocks, dossier+"crash of the holder: B; what it held is never given back, and all who "+
			"are up wait", "dead-holder"),
		under(blocks, dossierFT+"F3, without its remedy: what comes to the dead never goes on, and all "+
			"who are up wait", "dead-waiter"),
		under(blocks, dossier+"loss: B; all wait for a message that does not come again, or behind "+
			"those who do", "lossy-links", "flaky-links", "broker-restart", "split-brokers",
			"reset-connections"),
		under(blocks, dossier+"partition: B; what crosses it is lost, and after the heal all wait for "+
			"it", "split-brain", "half-cut", "holder-in-minority", "holder-in-majority", "one-way",
			"bridge", "majority-ring"),
		under(blocks, dossier+"crash, and nothing is saved: B; what the dead held or owed is lost with "+
			"it", "each-in-turn", "restarts", "amnesia", "empty-restarts"),
	))
}

// withCensus returns the cells of an algorithm that makes up for what is lost by a census: its own, and for
// all other faults that it recovers. Five nodes have a majority under all of them, or will have one again.
func withCensus(own ...[]nodes.FaultCell) []nodes.FaultCell {
	return beside(slices.Concat(own...), slices.Concat(
		under(recovers, dossierFT+"what the dead held is made or granted again once a majority has answered, and "+
			"all who are not suspected", "dead-holder", "dead-waiter", "each-in-turn"),
		under(recovers, dossierFT+"the dead are not waited for", "dead-idle"),
		under(recovers, dossierFT+"F5: what is lost is sent again, or made again", "lossy-links", "flaky-links",
			"broker-restart", "split-brokers", "reset-connections"),
		under(recovers, dossierFT+"F8, F9, F13: a majority goes on in a new epoch, and heeds no older one",
			"split-brain", "half-cut", "holder-in-minority", "holder-in-majority", "one-way", "bridge",
			"majority-ring"),
		under(recovers, dossierFT+"F10, F11: effective exclusion; what a stopped holder writes is refused",
			"stopped-holder", "stopped-idle", "slow-node", "stalled-connection"),
		under(recovers, dossierFT+"F6, F7, F15: no effect but a census too many", "slow-links", "slow-network",
			"overtaking", "copies", "skewed-clocks"),
		under(recovers, dossierFT+"F12: who comes up again asks the others before it takes part; it saves its "+
			"promises, and if it has forgotten them, they tell", "restarts", "amnesia"),
		under(recovers|blocks, dossierFT+"F12: the same (L); B, all, if two have forgotten at once, and "+
			"wait for each other's answers: that is why its Live names no amnesia", "empty-restarts"),
	))
}

// suspecting returns the cells of an algorithm whose coordinator heeds a failure detector, and which repeats
// messages: its own, and for all other faults that it recovers.
func suspecting(own ...[]nodes.FaultCell) []nodes.FaultCell {
	return beside(slices.Concat(own...), slices.Concat(
		under(recovers, dossierFT+"F1, F2, F3: the coordinator takes the grant of a dead client back, and skips "+
			"its requests", "dead-idle", "dead-waiter", "dead-holder"),
		under(recovers, dossierFT+"F5: what is lost is sent again", "lost-request", "lost-reply", "lossy-links",
			"flaky-links", "broker-restart", "split-brokers", "reset-connections"),
		under(recovers, dossierFT+"F8, F9, F13: who was cut off is suspected, and asks again after the heal",
			"split-brain", "half-cut", "holder-in-minority", "holder-in-majority", "one-way", "bridge",
			"majority-ring"),
		under(recovers, dossierFT+"F10, F11: effective exclusion; what a stopped holder writes is refused",
			"stopped-holder", "stopped-idle", "slow-node", "stalled-connection"),
		under(recovers, dossierFT+"F6, F7, F15: no effect, since requests and grants are numbered", "slow-links",
			"slow-network", "overtaking", "copies", "skewed-clocks"),
		under(recovers, dossierFT+"F12: a client that is up again has higher numbers, and gives back what it was "+
			"granted before", "each-in-turn", "restarts", "amnesia", "empty-restarts"),
	))
}
