package check

import (
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/history"
	"turnstile/nodes/workload"
)

// A check judges one promise by the evidence of a run.
type check struct {
	name   string
	about  About
	leaves open // what stays unknown about a run with faults if the check is not valid
	// split means that a violation breaks safety only if the verdict is Divided.
	split bool
	// live means that this check of safety also rests on the assumptions of progress if leaders have terms.
	live bool
	// own means that the check is about what one process does by itself, however late it is.
	own bool
	// timed means that the check compares times of different nodes, and not only the order of events.
	timed bool
	// of reports whether the check applies to a run; nil: to every run.
	of    func(*evidence) bool
	judge func(*evidence) Finding
}

// An About is the subject of a check.
type About int

// Subjects of checks.
const (
	aboutSafety     About = iota + 1
	aboutProgress         // every request is served, or all agree on a leader
	AboutFairness         // the order of service
	AboutCost             // the number of messages
	AboutIdentities       // equations that counts of messages obey
	aboutClaims           // what else the algorithm promises
	aboutBooks            // whether counters, events, streams of messages and witnesses contradict each other
	AboutFaults           // whether the planned faults took place
	aboutEnough           // whether there was something to judge
	aboutLoad             // whether the run issued as many requests as planned
)

// An open is what a finding that is not valid leaves unknown about a run with faults.
type open int

// Questions that a finding leaves open.
const (
	recovery       open = iota // whether the algorithm recovered, but not whether it stalled
	recoveryInside             // as recovery, but nothing if the finding is outside the model
	everything                 // whether the algorithm recovered or stalled
	nothing
)

// A Problem is the problem that the processes of a run solve, and so the kind of the run.
type Problem struct {
	Name      string
	Kind      nodes.Kind    // kind of the algorithms that solve the problem
	Command   string        // name of the command that makes real runs
	One, Many string        // what its runs count, in singular and plural: entry, entries
	Victim    string        // an example of a target of faults
	Load      workload.Load // the default load of a run
	// Misplaced ends the error about an algorithm of this problem in a run of another; Instead says what to do.
	Misplaced, Instead string
	// checks are made in this order. On a tie, the first gives the reason of the verdict.
	checks []check
	Leads  bool // it is about leaders: its runs have tables of leaders

	unsound func(*evidence) string // why the evidence is not sound; empty: it is sound
	// unserved returns the nodes that are not served at the end, and whether the run was Divided.
	unserved func(*evidence) (starved []nodes.ID, divided bool)
	// uncontended describes shared resources that were not contended; nil: clients share nothing.
	uncontended func(*evidence) string
	// around describes the work done while a fault lasted and after it. lacks is why the fault shows nothing
	// even so, or "". Nil: the work does not matter for faults.
	around func(*evidence, *Fault, *section.Fault) (says, lacks string)
	// unhit reports, if no planned fault took place, whether faults count as hitting nothing; nil: they do not.
	unhit func(*model) bool
	// sent notes a message of the algorithm; nil: no check judges single messages.
	sent func(*elected, history.Event)
}

// Problems are all kinds of runs.
var Problems = []*Problem{Exclusion, Election}

// Exclusion is the problem of clients that share resources.
var Exclusion = &Problem{
	Name: "exclusion", Kind: nodes.MutualExclusion, Command: "bench",
	One: "entry", Many: "entries", Victim: "holder", Load: workload.Saturated,
	Misplaced: "elects nobody", Instead: "use bench or simulate, or take a scheme such as bully (see list)",
	checks: []check{
		{name: "exclusion", about: aboutSafety, leaves: everything, judge: exclusion},
		{name: "grants", own: true, about: aboutSafety, leaves: everything, of: misgrants, judge: grants},
		{name: "order", about: aboutSafety, leaves: everything, of: misordered, judge: order},
		{name: "exit", own: true, about: aboutProgress, leaves: everything, of: ends, judge: exit},
		{name: "register", about: aboutSafety, leaves: everything, judge: register},
		{name: "capacity", about: aboutClaims, of: several, judge: capacity},
		{name: "account", about: aboutSafety, leaves: everything, judge: account},
		{name: "work", about: aboutSafety, leaves: everything, of: works, judge: work},
		{name: "witnesses", about: aboutBooks, leaves: everything, judge: witnesses},
		{name: "minority", timed: true, about: aboutClaims, judge: minority},
		{name: "detection", timed: true, about: aboutClaims, of: detects, judge: detection},
		{name: "progress", about: aboutProgress, judge: progress},
		{name: "fairness", timed: true, about: AboutFairness, leaves: recoveryInside, judge: fairness},
		{name: "priority", timed: true, about: aboutClaims, of: prioritized, judge: priority},
		{name: "loss", about: aboutBooks, leaves: everything, judge: loss},
		{name: "accounting", about: aboutBooks, leaves: everything, judge: books},
		{name: "identities", about: AboutIdentities, judge: identities},
		{name: "cost", about: AboutCost, judge: cost},
		{name: "evidence", about: aboutEnough, judge: enough},
		{name: "faults", about: AboutFaults, judge: faults},
		{name: "load", about: aboutLoad, judge: load},
	},
	unsound: func(e *evidence) string {
		if witnesses(e).Outcome != Valid {
			return "the witnesses disagree"
		}
		return ""
	},
	unserved: func(e *evidence) ([]nodes.ID, bool) { return e.waitingAtEnd(), false },
	around:   (*evidence).entriesAround, uncontended: (*evidence).uncontended,
}

// The checks for simultaneous leaders. ShownInTerms leaves out leadersCheck.
const leadersCheck, termsCheck = "leaders", "terms"

// Election is the problem of nodes that elect leaders.
var Election = &Problem{
	Name: "election", Kind: nodes.Election, Command: "elect",
	One: "election", Many: "elections", Victim: "leader", Load: workload.Campaign,
	Misplaced: "elects leaders, and has no critical section to request", Instead: "use elect",
	Leads: true,
	checks: []check{
		{name: "agreement", timed: true, about: aboutProgress, judge: agreed},
		{name: "exit", own: true, about: aboutProgress, leaves: everything, of: ends, judge: exit},
		{name: leadersCheck, timed: true, about: aboutSafety, split: true, live: true, judge: leaders},
		{name: "majority", timed: true, about: aboutSafety, leaves: recoveryInside,
			of: restsOnMajority, judge: majority},
		{name: termsCheck, about: aboutSafety, leaves: recoveryInside, split: true, judge: terms},
		{name: "winner", timed: true, about: aboutClaims, leaves: recoveryInside, judge: winner},
		{name: "lapse", timed: true, about: aboutClaims, leaves: recoveryInside, judge: lapse},
		{name: "detection", timed: true, about: aboutClaims, of: detects, judge: detection},
		{name: "senders", about: aboutClaims, judge: senders},
		{name: "stability", timed: true, about: aboutClaims, judge: stability},
		{name: "cost", about: AboutCost, judge: electionCost},
		{name: "loss", about: aboutBooks, leaves: everything, judge: loss},
		{name: "accounting", about: aboutBooks, leaves: everything, judge: books},
		{name: "elections", about: aboutEnough, leaves: nothing, judge: elections},
		{name: "faults", about: AboutFaults, judge: faults},
	},
	unsound: func(e *evidence) string {
		if !e.balanced() { // no second witness checks what leaders declare
			return "the counts disagree"
		}
		return ""
	},
	unserved: func(e *evidence) ([]nodes.ID, bool) { return e.leaderless(), e.divided() },
	unhit:    (*model).nobodyLed,
	sent:     (*elected).noteSender,
}

// ProblemOf returns the problem that an algorithm solves.
func ProblemOf(algo *algorithm.Algorithm) *Problem {
	for _, p := range Problems {
		if p.Kind == algo.Kind {
			return p
		}
	}
	return Exclusion
}

// Has reports whether the problem has a check of this name.
func (p *Problem) Has(name string) bool { return p.check(name) != nil }

// check returns the check of a name, or nil.
func (p *Problem) check(name string) *check {
	for i := range p.checks {
		if p.checks[i].name == name {
			return &p.checks[i]
		}
	}
	return nil
}
