package chaos

import (
	"time"

	"turnstile/chaos/effect"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// A kind is what plans need to know about a kind of algorithms, such as mutual exclusion or election.
type kind struct {
	problem
	draws
	around
}

// A problem says which plans and targets suit a kind of run.
type problem struct {
	plans []string // names of the built-in plans, in the order of the fault matrix
	lacks []string // words for targets and moments that its runs do not have
	// noTarget and noMoment are what an error adds to the name of the algorithm, for a target or moment in
	// lacks.
	noTarget, noMoment string
}

// A draws says how random plans are drawn for a kind of run.
type draws struct {
	heals  nodes.Assumption // assumptions that an InsidePlan may break, since they hold again after the faults
	faults func(*drawn) []Fault
	target effect.Target // target of some faults of connections
	// aimed is set if plans for an algorithm with a known flaw have only faults that show the flaw.
	aimed bool
	// An InsidePlan has a fault of a clock, a connection or a broker with probability 1/carried at most. A
	// throttle is among the faults that it chooses from with probability 1/throttles.
	carried, throttles int
	// when changes the beginning and the length of the fault of a clock, connection or broker; nil: no change.
	when func(r *drawn, at, lasts *time.Duration)
	// interrupts returns how many kills may come in the middle of an input, and whether killed nodes stay down
	// until another leader can have been elected. It may also change the time in f at which the kills begin.
	interrupts func(r *drawn, f *Fault) (most int, long bool)
	reorders   func(r *drawn, f *Fault) // changes message delays during the kills of interrupts; nil: no change
	memory     func(r *drawn) []Fault   // draws faults that show whether nodes remember what they have saved
}

// An around has the words that a ServerPlan draws for clients and moments. A word that is listed twice is
// twice as likely.
type around struct {
	clients, moments []string
	served           bool // set if the service serves clients repeatedly
}

// kinds has the kinds of algorithms. Plans for a kind that is not listed are drawn as for mutual exclusion.
var kinds = map[nodes.Kind]kind{
	nodes.MutualExclusion: {
		problem{plans: scenarios, lacks: ofLeaders, noTarget: "elects no leader: take holder",
			noMoment: "elects no leader"},
		draws{faults: func(r *drawn) []Fault { return []Fault{r.fault()} },
			target: effect.Target{Word: "holder"}, carried: 1, throttles: 1,
			interrupts: func(r *drawn, _ *Fault) (int, bool) { return (r.s.Config.N-1)/2 - r.kills, false },
			memory:     (*drawn).clientsRestart},
		around{[]string{"holder", "holder", "waiter"}, []string{"enters", "enters", "requests", "exits"}, true},
	},
	nodes.Election: {
		problem{plans: elections, lacks: ofClients,
			noTarget: "elects leaders, and has no critical section: take leader",
			noMoment: "elects leaders, and has no critical section: wait until one leads, as in when: any leads"},
		draws{heals: nodes.Transient, aimed: true, faults: (*drawn).electionFaults, target: leader,
			carried: 3, throttles: 6, when: (*drawn).longer, interrupts: (*drawn).interruptsElections,
			reorders: (*drawn).acrossElections, memory: (*drawn).votersRestart},
		around{[]string{"leader", "leader"}, []string{"leads"}, false},
	},
}

// kindOf returns the kind of an algorithm.
func kindOf(spec *algorithm.Algorithm) *kind {
	of := nodes.OfKind(kinds, spec.Kind)
	return &of
}

// Targets and moments that only runs with critical sections have, and that only runs with leaders have.
var (
	ofClients = []string{"holder", "waiter", "successor", "token", "requests", "enters", "exits"}
	ofLeaders = []string{"leader", "leads"}
)

// scenarios are the built-in plans for mutual exclusion, in the order of the fault matrix.
var scenarios = []string{
	"dead-idle", "dead-waiter", "dead-holder", "dead-coordinator", "each-in-turn",
	"lost-token", "lost-request", "lost-reply", "lossy-links", "flaky-links",
	"split-brain", "half-cut", "holder-in-minority", "holder-in-majority", "one-way", "bridge", "majority-ring",
	"stopped-holder", "stopped-idle", "slow-node", "slow-links", "slow-network", "overtaking", "copies",
	"restarts", "amnesia", "empty-restarts", "empty-coordinator",
	"broker-restart", "split-brokers", "stalled-connection", "reset-connections", "skewed-clocks",
}

// elections are the built-in plans for electors, in the order of their fault matrix.
var elections = []string{
	"dead-leader", "dead-successor", "dead-winner", "dead-highest", "dead-coordinator", "leader-crashes",
	"each-in-turn",
	"parted", "parted-halves", "parted-bridge", "lowest-cut-off", "highest-cut-off", "leader-cut-off",
	"split-election", "unheard-node", "one-link", "chain", "flapping-links",
	"stopped-leader", "stopped-node", "slow-node", "slow-links", "late-election", "overtaking-election",
	"copied-election", "lossy-election",
	"restarts", "amnesia", "empty-restarts", "restless-election", "forgetful-election",
	"broker-restart", "first-network-cut", "second-network-cut", "second-network-dead", "skewed-clocks",
}
