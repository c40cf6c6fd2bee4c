package chaos

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/row"
)

// A problem is what plans have to do with the kind of a run.
type problem struct {
	plans []string // of ours, in the order of the fault matrix
	lacks []string // targets and moments that its runs do not have
	// What to tell of an algorithm for such a target and such a moment.
	noTarget, noMoment string
}

// ofKind returns what a table has for a kind of run. For a kind that is not in it, that is what it has for
// mutual exclusion.
func ofKind[T any](table map[nodes.Kind]T, kind nodes.Kind) T {
	if of, has := table[kind]; has {
		return of
	}
	return table[nodes.MutualExclusion]
}

var problems = map[nodes.Kind]problem{
	nodes.MutualExclusion: {plans: scenarios, lacks: ofLeaders,
		noTarget: "elects no leader: take holder", noMoment: "elects no leader"},
	nodes.Election: {plans: elections, lacks: ofClients,
		noTarget: "elects leaders, and has no critical section: take leader",
		noMoment: "elects leaders, and has no critical section: wait until one leads, as in when: any leads"},
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

// Scenarios returns the plans that come with the program under which the fault matrix runs algorithms of
// mutual exclusion, in its order: whoever dies, what is lost, who is cut off, what is slow, who forgets, and
// what carries the messages. They are for five clients and four seconds.
func Scenarios() []*Plan { return plansNamed(scenarios) }

// Elections returns those under which it runs electors: whoever dies, who is cut off, who stands still, what
// is late or lost, who forgets. They are for five nodes, which all campaign when the run begins.
func Elections() []*Plan { return plansNamed(elections) }

// ScenariosOf returns those under which it runs an algorithm: of its kind, those that suit it.
func ScenariosOf(spec *row.Row) []*Plan {
	plans := plansNamed(ofKind(problems, spec.Kind).plans)
	return slices.DeleteFunc(plans, func(p *Plan) bool { return !p.Suits(spec) })
}

// Kinds reports whether the plan, one of ours, is for algorithms of mutual exclusion, and for electors.
func (p *Plan) Kinds() (excludes, elects bool) {
	return slices.Contains(scenarios, p.Name), slices.Contains(elections, p.Name)
}

// plansNamed returns plans that come with the program by their names.
func plansNamed(names []string) (all []*Plan) {
	plans := Plans()
	for _, name := range names {
		all = append(all, plans[slices.IndexFunc(plans, func(p *Plan) bool { return p.Name == name })])
	}
	return all
}

// Suits reports whether an algorithm has what the faults of the plan are for: a coordinator, messages of
// those kinds, a token, leaders, a second network, or a critical section.
func (p *Plan) Suits(spec *row.Row) bool {
	lacks := ofKind(problems, spec.Kind).lacks
	return !slices.ContainsFunc(p.Faults, func(f Fault) bool {
		word := f.target().Word
		_, kindErr := kindsOf(f.Kind, spec.Codec())
		_, whenErr := kindsOf(f.When.Kind, spec.Codec())
		return kindErr != nil || whenErr != nil || f.Network != nil && spec.Codec().Networks() == 1 ||
			word == "coordinator" && spec.Coordinator == nil || word == "token" && !carriesToken(spec) ||
			slices.Contains(lacks, word) || slices.Contains(lacks, f.When.What)
	})
}
