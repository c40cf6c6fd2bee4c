package mutex

import (
	"slices"

	"turnstile/nodes/algorithm"
)

// The outcomes of the algorithms under faults. A reason names the paper that it rests on; without a paper it
// is derived from the rules of the algorithm, and the runs of the fault matrix show it. If exclusion can
// break, whether it does depends on the message schedule of a run, so other outcomes are listed too.

// Short names of the outcomes.
const (
	recovers = algorithm.Recovers
	starves  = algorithm.Starves
	blocks   = algorithm.Blocks
	breaks   = algorithm.Breaks
	unhit    = algorithm.Unhit
)

// Reasons that several algorithms share.
const (
	tokenLost = "there is one token, and no node makes another"
	refused   = "the resource refuses what a stopped holder writes under an old fence number (sequencers: " +
		"Burrows, The Chubby lock service, OSDI 2006, 2.4)"
	answerLost = "a lost request or reply is not sent again, and every entry needs one of each peer"
)

var under, beside = algorithm.Under, algorithm.Completed

// Names of fault plans, by kind of fault. Most algorithms have one cell for each kind.
var (
	losses = []string{"lossy-links", "flaky-links", "broker-restart", "split-brokers", "reset-connections"}
	cuts   = []string{"split-brain", "half-cut", "holder-in-minority", "holder-in-majority", "one-way", "bridge",
		"majority-ring"}
	comebacks = []string{"each-in-turn", "restarts", "amnesia", "empty-restarts"}
)

// The plans that need no special kind of message or node, by whether they act on nodes or on links. An
// algorithm that is broken without faults is broken under each of them.
var (
	nodePlans = []string{"dead-idle", "dead-waiter", "dead-holder", "each-in-turn", "holder-in-minority",
		"holder-in-majority", "stopped-holder", "stopped-idle", "slow-node", "restarts", "amnesia",
		"empty-restarts", "skewed-clocks"}
	linkPlans = []string{"lost-request", "lossy-links", "flaky-links", "split-brain", "half-cut",
		"one-way", "bridge", "majority-ring", "slow-links", "slow-network", "overtaking", "copies",
		"broker-restart", "split-brokers", "stalled-connection", "reset-connections"}
)

// withoutTimeouts returns the cells of an algorithm that acts only on messages: those in own, and common
// cells for all other faults.
func withoutTimeouts(own ...[]algorithm.FaultCell) []algorithm.FaultCell {
	return beside(slices.Concat(own...), slices.Concat(
		under(recovers, "no node acts on silence, so the others wait until it goes on",
			"stopped-holder", "stopped-idle", "slow-node", "stalled-connection"),
		under(recovers, "no node acts on silence, so a late message is in time",
			"slow-links", "slow-network", "overtaking"),
		under(recovers, "requests and permissions are numbered, so their receiver recognizes a copy", "copies"),
		under(recovers, "the algorithm reads no clock and sets no timer", "skewed-clocks"),
		under(blocks, "the dead holder never gives back what it held, so all live nodes wait", "dead-holder"),
		under(blocks, "messages to the dead node go no further, and nobody gives it up, so all live nodes "+
			"wait", "dead-waiter"),
		under(blocks, "no message is sent again: all wait for a lost one, or behind nodes that do",
			losses...),
		under(blocks, "a message that crosses the cut is lost and not sent again, and after the heal all wait "+
			"for it", cuts...),
		under(blocks, "nodes save nothing: what the dead node held or owed is lost with it", comebacks...),
	))
}

// behindToken has the cells of algorithms whose nodes wait in a line, in which each sends the token to the
// next.
var behindToken = slices.Concat(
	under(blocks, tokenLost, "lost-token"),
	under(starves|blocks, "the requester waits, and all nodes behind it (P), often all nodes (B)",
		"lost-request"),
	under(starves|blocks, "all wait if the token is lost (B); if a request is lost, the requester and nodes "+
		"behind it (P)", losses...),
	under(starves|blocks, "nodes that are cut off from the token wait (P); all do if the token is "+
		"lost as it crosses the cut (B)", cuts...),
	under(starves|blocks, "no token is made, so exclusion holds; all wait if the node had the token "+
		"(B), and otherwise nodes behind it (P)", comebacks...),
)

// without returns the cells except the one of a fault that cannot hit the algorithm.
func without(fault string, cells []algorithm.FaultCell) []algorithm.FaultCell {
	return slices.DeleteFunc(slices.Clone(cells), func(c algorithm.FaultCell) bool { return c.Fault == fault })
}

// withCensus returns the cells of an algorithm that makes up for losses by a census: the cells of own; under
// every other fault the algorithm recovers, since five nodes keep a majority or get one again.
func withCensus(own ...[]algorithm.FaultCell) []algorithm.FaultCell {
	return beside(slices.Concat(own...), slices.Concat(
		under(recovers, "what the dead node held is made or granted again once a majority, and all nodes that "+
			"are not suspected, have answered (majorities: Lamport, The part-time parliament, 1998)",
			"dead-holder", "dead-waiter", "each-in-turn"),
		under(recovers, "no node waits for a dead one", "dead-idle"),
		under(recovers, "lost messages are sent again, and a lost token is made again", losses...),
		under(recovers, "a majority goes on in a new epoch, and ignores messages of older ones (Lamport, The "+
			"part-time parliament, 1998)", cuts...),
		under(recovers, refused, "stopped-holder", "stopped-idle", "slow-node", "stalled-connection"),
		under(recovers, "no effect, except a needless census", "slow-links", "slow-network",
			"overtaking", "copies", "skewed-clocks"),
		under(recovers, "a node that comes up again asks the others before it takes part; it saves its "+
			"promises, and the others tell it any that it has forgotten", "restarts", "amnesia"),
		under(recovers|blocks, "as restarts (L); but all wait if two nodes have forgotten at once and wait for "+
			"each other's answers (B): that is why progress assumes no amnesia", "empty-restarts"),
	))
}

// suspecting returns the cells of an algorithm that repeats messages and whose coordinator heeds a failure
// detector: the cells of own; under every other fault the algorithm recovers.
func suspecting(own ...[]algorithm.FaultCell) []algorithm.FaultCell {
	return beside(slices.Concat(own...), slices.Concat(
		under(recovers, "the coordinator takes back the grant of a client that it suspects, and skips its "+
			"requests", "dead-idle", "dead-waiter", "dead-holder"),
		under(recovers, "lost messages are sent again", "lost-request", "lost-reply", "lossy-links",
			"flaky-links", "broker-restart", "split-brokers", "reset-connections"),
		under(recovers, "a client that was cut off is suspected, and asks again after the heal", cuts...),
		under(recovers, refused, "stopped-holder", "stopped-idle", "slow-node", "stalled-connection"),
		under(recovers, "no effect, since requests and grants are numbered", "slow-links", "slow-network",
			"overtaking", "copies", "skewed-clocks"),
		under(recovers, "a client that is up again gives its requests higher numbers, and gives back "+
			"older grants", comebacks...),
	))
}
