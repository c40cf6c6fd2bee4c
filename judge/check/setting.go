package check

import (
	"time"

	"turnstile/nodes"
	"turnstile/nodes/row"
	"turnstile/nodes/workload"
)

// A Setting is what the checks must know of a run that its history does not say.
type Setting struct {
	Problem   *Problem // nil: Exclusion
	Config    nodes.Config
	Algorithm string
	Codec     *nodes.Codec // of the messages; nil: their kinds have no names
	Cost      row.Range    // published messages per entry for this load, for the whole run
	CostKnown bool
	Renewals  func(hold time.Duration) row.Range             // messages beside Cost of one hold; nil: none
	Exact     func(c nodes.Config, alone bool) row.EntryCost // as in the algorithm's row
	Alone     bool                                           // requests are made one at a time
	Servers   int                                            // how many nodes have no client
	Resources int                                            // that clients ask for
	Detects   bool                                           // a failure detector runs beside it
	// Tells is within what time the detector suspects who has crashed, where so many nodes are down at once at
	// most; TellsNeeds is what that rests on. Nil: there is none.
	Tells      func(message time.Duration, down int) time.Duration
	TellsNeeds nodes.Assumption
	Oracle     bool // the simulator speaks for the detector, and tells of crashes alone
	Unheard    bool // it listens to one, and none runs
	Timed      bool // it acts when its timers run out
	Replayed   bool // a schedule was played
	Real       bool // processes run it: they wait for processors
	Asked      bool // they ask a process for the resource
	Identities []row.Identity
	Circulates bool
	Safe, Live nodes.Assumption // what the algorithm's safety rests on, and what its progress, beside that
	Fair       nodes.Assumption // what the order of service rests on that it promises, beside both
	NeverHolds nodes.Assumption // what never holds, since timeouts are too short for the delays of the run
	Recovers   time.Duration    // within which servers of a service serve while most are joined; 0: not known
	Grace      time.Duration    // within which it recovers once what breaks these for a time is over
	// Of a run about leaders, or one that follows a leader: what they promise, within what time a leader gives
	// way to the next and one that has no majority knows it, and what processes are allowed beside all these
	// times.
	Leads          *row.Leadership
	Overlap, Lapse time.Duration
	Slack          time.Duration
	// Of a run of clients: within what time one that reaches no majority enters no more, zero if nothing is
	// promised, or only in an epoch that had begun before (Keeps); and for how long what was on its way then may
	// still arrive.
	Minority, Settles time.Duration
	Keeps             bool
	// How long messages take without faults: no longer than Delay, if it is bounded, and all the same, if even.
	Bounded, Even bool
	Delay         time.Duration
	Informs       bool // its machines say what clients hear of the lock: see nodes.Spec
	Fenced        bool // the resource demands fence numbers, and refuses what comes late
	// Epoch tells in which epoch a fence number was handed out; nil: the algorithm has none.
	Epoch func(fence uint64) uint64
	// Fills says that the load demands all units of a resource that has several, at some time: clients always
	// want more than there are, and keep them for longer than it takes to hand on those that are free.
	Fills   bool
	Fewest  bool    // who has made fewest requests comes first
	Promise Promise // of the order in which it serves
	Work    workload.Work
	Open    bool // the schedule of requests was fixed before the run
	// Capacity tells how many units the resource of an instance has; nil: as many as Config says.
	Capacity func(instance uint16) int
	Faults   []Fault // that were asked for, in the order of their numbers
	Expected uint64  // entries that the run was to make in all; zero if it was to last for a time
}

// SettingOf returns what checks must know of what the nodes of a run are made of: the algorithm is the first
// instance.
func SettingOf(stack *row.Stack) Setting {
	in := stack.Instances()[0]
	row, c := in.Row, in.Config
	published, alone := stack.Published()
	_, timed := row.Machine(c, 0).(nodes.Timed)
	s := Setting{Problem: ProblemOf(row), Config: c, Algorithm: row.Name, Codec: stack.Codec(),
		Identities: published.IdentitiesIn(c), Timed: timed, Exact: published.Exact, Circulates: row.Circulates,
		Detects: stack.Detectors() != nil, Unheard: row.Detects != "" && stack.Detectors() == nil,
		Safe: row.SafeIn(c), Live: row.LiveIn(c), Servers: stack.Total() - c.N, Resources: len(stack.Mutexes()),
		Fair:  published.Fair,
		Grace: stack.Grace(), Informs: row.Informs, Fenced: stack.Fenced(0)}
	s.Fewest = published.Fewest != nil && published.Fewest(c)
	if published.Cost != nil {
		if cost := published.Cost(c); cost.Renewal > 0 {
			s.Renewals = cost.Renewals
		}
	}
	if !alone { // what the other needs, the algorithm does
		s.Live = stack.Live()
	}
	for _, in := range stack.Instances() {
		if c := in.Config; in.Detector != nil {
			c.N = stack.Total()
			s.TellsNeeds = in.LiveIn(c) | nodes.NoPause | nodes.Timing // who stands still suspects nobody
			s.Oracle = in.Told != nil
			s.Tells = func(message time.Duration, down int) time.Duration {
				return in.Detector.Tells(c, message, down)
			}
		}
	}
	if elector := stack.Elector(); elector != nil {
		s.Leads = elector.Elector
		if s.Leads.Overlap != nil {
			s.Overlap = s.Leads.Overlap(elector.Config)
		}
		s.Lapse = s.Leads.LapseOf(elector.Config)
	}
	if s.Minority = stack.Minority(); s.Minority > 0 {
		s.Keeps, s.Settles = published.Minority.Keeps, published.Minority.Within(c)
	}
	if of := published.Epochs.Of; of != nil {
		s.Epoch = func(fence uint64) uint64 { return of(c, fence) }
	}
	return s
}
