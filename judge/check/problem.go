package check

import (
	"turnstile/judge/section"
	"turnstile/nodes"
	"turnstile/nodes/history"
	"turnstile/nodes/row"
	"turnstile/nodes/workload"
)

// A check judges one promise by the evidence of a run.
type check struct {
	name   string
	about  About
	leaves open // what of a run with faults is open if the check does not come out valid
	// split says that a violation breaks safety only if the verdict says that the run was Divided.
	split bool
	// live says that where leaders have terms it rests on what progress does, too, though it is about safety.
	live bool
	// timed says that it compares times of nodes with those of others, and not only the order of what they did.
	timed bool
	// of reports whether a run is one that the check is about; nil: every run is.
	of    func(*evidence) bool
	judge func(*evidence) Finding
}

// An About says what a check is about.
type About int

// Subjects of checks.
const (
	aboutSafety     About = iota + 1
	aboutProgress         // everybody is served, and all agree on a leader
	AboutFairness         // in what order
	AboutCost             // how many messages it takes
	AboutIdentities       // equations that counts of messages obey
	aboutClaims           // what else the row of the algorithm says
	aboutBooks            // whether counters, events, streams of messages and witnesses contradict each other
	AboutFaults           // whether what was to go wrong did
	aboutEnough           // whether there was something to judge
	aboutLoad             // whether as much was asked for as the run was to ask
)

// An open is what remains unknown of a run with faults because of a finding that is not valid.
type open int

// Questions that a finding leaves open.
const (
	recovery       open = iota // whether the algorithm recovered; that it stalled is shown all the same
	recoveryInside             // the same, unless the finding is outside the model of the algorithm
	everything                 // that it stalled as well
	nothing
)

// A Problem is what the processes of a run solve: the kind of the run, as data.
type Problem struct {
	Name      string
	Kind      nodes.Kind    // of the rows that solve it
	Command   string        // that makes real runs of it
	One, Many string        // what it is about, as a noun: an entry, entries
	Victim    string        // whom a fault may hit, as an example
	Load      workload.Load // of a run, unless it names another
	// Misplaced says what is wrong with its algorithms where a run is about another problem, Instead what to do.
	Misplaced, Instead string
	// checks are made in this order. Of two equal outcomes, the first gives the reason of the verdict.
	checks []check
	Leads  bool // it is about who leads: its runs have tables of that

	unsound func(*evidence) string // why its evidence convicts nobody; empty: it does
	// unserved returns who is not served at the end, and whether the run was Divided.
	unserved func(*evidence) (starved []nodes.ID, divided bool)
	// uncontended says that clients hardly ever wanted at once what they share; nil: they share nothing.
	uncontended func(*evidence) string
	// around says what was done while a fault that hit something lasted and after it, and why the fault shows
	// nothing all the same; nil: nothing is judged by that.
	around func(*evidence, *Fault, *section.Fault) (says, lacks string)
	// unhit reports whether the faults that were asked for hit nothing, though none took place; nil: that is not
	// known.
	unhit func(*model) bool
	// sent takes note of a message of the algorithm; nil: nothing is judged by single messages.
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
		{name: "grants", about: aboutSafety, leaves: everything, of: misgrants, judge: grants},
		{name: "exit", about: aboutProgress, leaves: everything, of: ends, judge: exit},
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

// The checks of who leads at once, of which ShownInTerms leaves out the first.
const leadersCheck, termsCheck = "leaders", "terms"

// Election is the problem of nodes that elect leaders.
var Election = &Problem{
	Name: "election", Kind: nodes.Election, Command: "elect",
	One: "election", Many: "elections", Victim: "leader", Load: workload.Campaign,
	Misplaced: "elects leaders, and has no critical section to request", Instead: "use elect",
	Leads: true,
	checks: []check{
		{name: "agreement", timed: true, about: aboutProgress, judge: agreed},
		{name: "exit", about: aboutProgress, leaves: everything, of: ends, judge: exit},
		{name: leadersCheck, timed: true, about: aboutSafety, split: true, live: true, judge: leaders},
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
		if !e.balanced() { // declarations have no second witness
			return "the counts disagree"
		}
		return ""
	},
	unserved: func(e *evidence) ([]nodes.ID, bool) { return e.leaderless(), e.divided() },
	unhit:    (*model).nobodyLed,
	sent:     (*elected).noteSender,
}

// ProblemOf returns what an algorithm solves.
func ProblemOf(row *row.Row) *Problem {
	for _, p := range Problems {
		if p.Kind == row.Kind {
			return p
		}
	}
	return Exclusion
}

// Has reports whether a check of it has this name.
func (p *Problem) Has(name string) bool { return p.check(name) != nil }

// check returns a check by its name; nil: there is none.
func (p *Problem) check(name string) *check {
	for i := range p.checks {
		if p.checks[i].name == name {
			return &p.checks[i]
		}
	}
	return nil
}
