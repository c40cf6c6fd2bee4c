package chaos

import (
	"time"

	"turnstile/chaos/effect"
	"turnstile/nodes"
	"turnstile/nodes/row"
)

// A kind is what plans, random ones too, have of their own in runs of a kind of rows.
type kind struct {
	problem
	draws
	around
}

// A problem is what plans have to do with the kind of a run.
type problem struct {
	plans []string // of ours, in the order of the fault matrix
	lacks []string // targets and moments that its runs do not have
	// What to tell of an algorithm for such a target and such a moment.
	noTarget, noMoment string
}

// A draws is what random plans draw for a kind of run.
type draws struct {
	heals  nodes.Assumption // what a plan inside the model may break, since it holds again once faults are over
	faults func(*drawn) []Fault
	target effect.Target // of some faults of connections
	// Of an algorithm that is known to be broken by some faults, plans have those alone.
	aimed bool
	// A fault of a clock, a connection or a broker is drawn in one of so many plans inside the model, and
	// a throttle in one of so many where it might be.
	carried, throttles int
	// when draws anew when such a fault begins, and how long it lasts; nil: it does not.
	when func(r *drawn, at, lasts *time.Duration)
	// interrupts returns how many kills come in the middle of an input, and whether those who are killed stay
	// down until another leader can have been elected. It may draw anew when they begin.
	interrupts func(r *drawn, f *Fault) (most int, long bool)
	reorders   func(r *drawn, f *Fault) // draws anew how late messages come meanwhile; nil: it does not
}

// An around is what is drawn of faults around the servers of a service: words for its clients and for
// moments, as often as they are drawn.
type around struct {
	clients, moments []string
	served           bool // clients are served, again and again
}

// kinds has them by the kind of the rows. A kind that is not listed has those of mutual exclusion.
var kinds = map[nodes.Kind]kind{
	nodes.MutualExclusion: {
		problem{plans: scenarios, lacks: ofLeaders, noTarget: "elects no leader: take holder",
			noMoment: "elects no leader"},
		draws{faults: func(r *drawn) []Fault { return []Fault{r.fault()} },
			target: effect.Target{Word: "holder"}, carried: 1, throttles: 1,
			interrupts: func(r *drawn, _ *Fault) (int, bool) { return (r.s.Config.N-1)/2 - r.kills, false }},
		around{[]string{"holder", "holder", "waiter"}, []string{"enters", "enters", "requests", "exits"}, true},
	},
	nodes.Election: {
		problem{plans: elections, lacks: ofClients,
			noTarget: "elects leaders, and has no critical section: take leader",
			noMoment: "elects leaders, and has no critical section: wait until one leads, as in when: any leads"},
		draws{heals: nodes.Transient, aimed: true, faults: (*drawn).electionFaults, target: leader,
			carried: 3, throttles: 6, when: (*drawn).longer, interrupts: (*drawn).interruptsElections,
			reorders: (*drawn).acrossElections},
		around{[]string{"leader", "leader"}, []string{"leads"}, false},
	},
}

// kindOf returns what the runs of a row have of their own.
func kindOf(spec *row.Row) *kind {
	of := nodes.OfKind(kinds, spec.Kind)
	return &of
}

// Targets and moments that only some runs have: those in which clients enter critical sections, and those in
// which leaders are elected.
var (
	ofClients = []string{"holder", "waiter", "successor", "token", "requests", "enters", "exits"}
	ofLeaders = []string{"leader", "leads"}
)

// scenarios are the plans of ours for algorithms of mutual exclusion, in the order of the fault matrix.
var scenarios = []string{
	"dead-idle", "dead-waiter", "dead-holder", "dead-coordinator", "each-in-turn",
	"lost-token", "lost-request", "lost-reply", "lossy-links", "flaky-links",
	"split-brain", "half-cut", "holder-in-minority", "holder-in-majority", "one-way", "bridge", "majority-ring",
	"stopped-holder", "stopped-idle", "slow-node", "slow-links", "slow-network", "overtaking", "copies",
	"restarts", "amnesia", "empty-restarts", "empty-coordinator",
	"broker-restart", "split-brokers", "stalled-connection", "reset-connections", "skewed-clocks",
}

// elections are those for electors, in the order of their fault matrix.
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
