// Package replay plays one order of the events of a small cluster, on the machines that are measured in
// processes, simulated and explored.
//
// A [Schedule] is that order: a list of steps, as text that people can read and write; its documentation has
// the language. [Parse] reads one. [Play] plays it until a promise is broken, tells what happens, and makes a
// history of it for the checks of all runs. The order is all that counts: a step takes a millisecond of the
// history, which means nothing.
//
// An exploration steps on a [Stage] itself, so that it can write the steps down as it makes them.
//
// The package's example plays a schedule.
package replay

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"turnstile/nodes"
	"turnstile/nodes/row"
)

// A Schedule is a list of all that happens in a cluster, step by step, in a form that people can read and
// write. It can be played again.
//
//	turnstile schedule 1
//	algorithm naive-broadcast
//	n 2
//
//	req 0                # the client of node 0 asks
//	req 1; 0>1 request   # one step after another; the first request on its way from node 0 to node 1 arrives
//	0>1 request 2        # (the second such message, if they may be reordered)
//	drop 1>0 reply       # it is lost
//	dup 1>0 reply        # a copy of it follows it
//	exit 0               # the client leaves
//	campaign 0           # node 0 is to bring an election about
//	timeout 0 retry      # at node 0 the timer of that name runs out
//	timeout 0 silence 2  # the one for peer 2, of a timer that is kept per peer
//	timeout 0 1 2        # the timer of kind 1 for peer 2, by its numbers
//	tick                 # time passes (if a line timing 1ms uniform:1ms,2ms is above the steps)
//	crash 0
//	restart 0            # it restarts with what it saved
//	amnesia 0            # it restarts without
//	suspect 1>2          # node 1 comes to suspect node 2
//	trust 1>2            # it trusts node 2 again, which is up
//	start 1              # only to say what it chooses when it starts
//	req 1 choosing 2 0   # what Choose answers, one after the other
//	req 1 crashing 2     # node 1 crashes when it has saved or sent twice because of that, before more
//	req 1 units 3        # the client asks for so many units of the resource
//	req 1@2              # the client of instance 2; so with messages (0>1 request@2) and all else
//
// Some steps say what should be so, or save writing:
//
//	in 0                 # the client of node 0 is inside, and no other ("in -": none is)
//	leads 3              # node 3 says that it leads, and no other that is up ("leads 1 3": these two)
//	leads -              # nobody does
//	believes 1 3         # node 1 takes node 3 for the leader ("believes 1 -": it knows of none; in an
//	                     # anonymous network, "believes 1 somebody": of another than itself)
//	none 0>1 request     # no such message is on its way
//	try 1>0 reply        # skipped if it does not apply, as any step before this line with try before it
//	rest                 # messages arrive, then who is inside leaves, then who is down is suspected and who
//	                     # is up trusted again, then timers run out: until all is over, and all agree on
//	                     # a leader
//
// A line copies 1 above the steps says that a message is lost if so many equal ones are on their way on its
// link when it is sent, a line fenced that the resource demands fence numbers, a line detector none that
// nobody suspects anybody but by a step.
//
// A violation ends the replay. A line that begins with ---- ends the schedule; the text below it is for
// people.
type Schedule struct {
	Spec       *row.Row // the algorithm
	Config     nodes.Config
	Reordering bool
	Timing     *Timing // nil: a message or timer may take any time
	Copies     int     // see Options.Copies; zero: any number
	NoDetector bool    // a rest has nobody suspect who is down, or trust who is up
	Steps      []Step
}

// ScheduleStart is how the first line of a schedule begins. The version of the language follows.
const ScheduleStart = "turnstile schedule"

// scheduleVersion is the version of the language.
const scheduleVersion = 1

// StepKind says what a Step is.
type StepKind uint8

// The steps.
const (
	StepStart StepKind = iota
	StepRequest
	StepRelease
	StepDeliver
	StepDrop
	StepDuplicate
	StepTimeout
	StepCrash
	StepRestart
	StepAmnesia
	StepTick
	StepSuspect
	StepTrust
	StepCampaign
	stepIn // this and what follows cannot be skipped
	stepNone
	stepLeads
	stepBelieves
	StepRest
)

var stepWords = [...]string{"start", "req", "exit", "", "drop", "dup", "timeout",
	"crash", "restart", "amnesia", "tick", "suspect", "trust", "campaign", "in", "none", "leads", "believes",
	"rest"}

// States reports whether a step only says what should be so.
func (k StepKind) States() bool {
	return k == stepIn || k == stepNone || k == stepLeads || k == stepBelieves
}

// Progresses reports whether a step makes progress by itself: it is no fault, request or restart. To suspect
// a node is progress if that is down.
func (k StepKind) Progresses() bool {
	return k == StepDeliver || k == StepRelease || k == StepTimeout || k == StepTick || k == StepTrust
}

// A Step is one thing that happens.
type Step struct {
	What     StepKind
	Try      bool     // it is skipped if it does not apply
	Node     nodes.ID // where; of a message see below
	Peer     nodes.ID // that is suspected, or trusted again; of stepBelieves, who leads
	From, To nodes.ID // of a message
	Kind     string   // of a message
	Nth      int      // such message of its link that is on its way, from 1
	Instance int32    // of the node; of a message, that it is for
	Units    int      // of a request: of the resource; 0 means 1
	Timer    nodes.Timer
	Named    *nodes.TimerName // of Timer, if the step is written by it; otherwise by its numbers
	Who      []nodes.ID       // of stepIn, who is inside; of stepLeads, who leads
	Choosing []int
	Crashing int // when it has saved or sent so often because of this, the node crashes; 0: it does not
	Line     int // of the file it was read from
}

// String writes the step as in a file.
func (s Step) String() string {
	var words []string
	add := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	instance := "" // the first is not named
	if s.Instance > 0 {
		instance = fmt.Sprintf("@%d", s.Instance)
	}
	if s.Try {
		add("try")
	}
	if s.What != StepDeliver {
		add("%s", stepWords[s.What])
	}
	switch s.What {
	case StepDeliver, StepDrop, StepDuplicate, stepNone:
		add("%d>%d %s%s", s.From, s.To, s.Kind, instance)
		if s.Nth > 1 {
			add("%d", s.Nth)
		}
	case StepTimeout:
		kind := fmt.Sprint(s.Timer.Kind)
		if s.Named != nil {
			kind = s.Named.Name
		}
		add("%d%s %s", s.Node, instance, kind)
		if s.Named == nil || s.Named.PerPeer {
			add("%d", s.Timer.Peer)
		}
	case stepIn, stepLeads:
		first, more, _ := strings.Cut(cmp.Or(list(s.Who), "-"), " ")
		add("%s%s", first, instance)
		if more != "" {
			add("%s", more)
		}
	case stepBelieves:
		add("%d%s %s", s.Node, instance, believed(s.Peer))
	case StepSuspect, StepTrust:
		add("%d>%d", s.Node, s.Peer)
	case StepTick, StepRest:
	default:
		add("%d%s", s.Node, instance)
		if s.Units > 1 {
			add("units %d", s.Units)
		}
	}
	if s.Crashing > 0 {
		add("crashing %d", s.Crashing)
	}
	if len(s.Choosing) > 0 {
		add("choosing %s", list(s.Choosing))
	}
	return strings.Join(words, " ")
}

// list writes numbers with blanks between them.
func list[T any](all []T) string { return strings.Trim(fmt.Sprint(all), "[]") }

// String writes the schedule as in a file.
func (s *Schedule) String() string {
	var b strings.Builder
	s.WriteTo(&b) // a Builder takes all
	return b.String()
}

// WriteTo writes the schedule as in a file.
func (s *Schedule) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	fmt.Fprintf(&b, ScheduleStart+" %d\nalgorithm %s\nn %d\n", scheduleVersion, s.Spec.Name, s.Config.N)
	if s.Config.Units > 0 {
		fmt.Fprintln(&b, "units", s.Config.Units)
	}
	for _, option := range s.Config.Given() {
		fmt.Fprintln(&b, option)
	}
	if s.Config.Fenced {
		fmt.Fprintln(&b, "fenced")
	}
	if s.Reordering {
		fmt.Fprintln(&b, "reordering")
	}
	if s.Timing != nil {
		fmt.Fprintln(&b, "timing", s.Timing)
	}
	if s.Copies > 0 {
		fmt.Fprintln(&b, "copies", s.Copies)
	}
	if s.NoDetector {
		fmt.Fprintln(&b, "detector none")
	}
	fmt.Fprintln(&b)
	for _, step := range s.Steps {
		fmt.Fprintln(&b, step)
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}
