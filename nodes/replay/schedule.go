// Package replay plays one order of the events of a small cluster, on the same machines as real runs,
// simulations and explorations.
//
// A [Schedule] is that order: a list of steps, as text that people can read and write; its documentation has
// the language. [Parse] reads one. [Play] plays it until a promise is broken, tells the story, and makes a
// history for the checks of all runs. Only the order counts: in the history each step takes a millisecond,
// which means nothing.
//
// An exploration plays its steps on a [Stage].
//
// The package's example plays a schedule.
package replay

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// A Schedule is a list of all events in a cluster, step by step. As text it looks like this:
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
//	campaign 0           # node 0 is told to campaign
//	timeout 0 retry      # at node 0 the timer retry runs out
//	timeout 0 silence 2  # the timer silence for peer 2, if it is kept per peer
//	timeout 0 1 2        # the timer of kind 1 for peer 2, by its numbers
//	tick                 # time passes (if a line timing 1ms uniform:1ms,2ms is above the steps)
//	crash 0
//	restart 0            # it restarts with what it saved
//	amnesia 0            # it restarts without
//	pause 1              # node 1 stands still: nothing happens there until it resumes, or crashes
//	resume 1
//	cut 0-1/2            # messages sent between 0 or 1 and 2 are lost; nodes of no side reach all
//	heal                 # the cut is over
//	suspect 1>2          # node 1 suspects node 2
//	trust 1>2            # it trusts node 2 again, which is up
//	start 1              # needed only to say what it chooses when it starts
//	req 1 choosing 2 0   # the results of Choose, in order
//	req 1 crashing 2     # node 1 crashes after two saves or messages of this step, before the next
//	req 1 units 3        # the client asks for 3 units of the resource
//	req 1@2              # the client of instance 2; the same for messages (0>1 request@2) and all other steps
//
// Some steps assert something, or stand for many:
//
//	in 0                 # the client of node 0 is inside, and no other ("in -": no client is)
//	leads 3              # node 3 leads, and no other node that is up ("leads 1 3": these two)
//	leads -              # no node leads
//	believes 1 3         # node 1 takes node 3 for the leader ("believes 1 -": it knows no leader; in an
//	                     # anonymous network, "believes 1 somebody": another than itself)
//	none 0>1 request     # no such message is on its way
//	try 1>0 reply        # skipped if it does not apply; try may precede any step above "in"
//	rest                 # messages arrive, then clients leave, then failure detectors suspect nodes that are
//	                     # down and trust nodes that are up, then timers run out, until all is over, and
//	                     # all agree on a leader
//
// Lines above the steps: "copies 1": a message is lost if 1 equal one is on its link when it is sent;
// "fenced": the resource demands fence numbers; "detector none": nodes suspect others only by steps; "until
// lost-update": clients that are inside together do not end the replay, and a lost update does.
//
// A violation ends the replay. A line that begins with ---- ends the schedule; the text below it is for
// people.
type Schedule struct {
	Spec       *algorithm.Algorithm // the algorithm
	Config     nodes.Config
	Reordering bool
	Timing     *Timing // nil: a message or timer may take any time
	Copies     int     // see explore.Space.Copies; zero: any number
	NoDetector bool    // a rest makes no suspicions and takes none back
	UntilLost  bool    // clients inside together end nothing, and the first lost update does
	Steps      []Step
}

// ScheduleStart begins the first line of a schedule. The version of the language follows.
const ScheduleStart = "turnstile schedule"

// scheduleVersion is the version of the language.
const scheduleVersion = 1

// lostUpdate is the value of a line until.
const lostUpdate = "lost-update"

// StepKind is the kind of a Step.
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
	StepPause
	StepResume
	StepCut
	StepHeal
	stepIn // this and all below cannot be skipped by try
	stepNone
	stepLeads
	stepBelieves
	StepRest
)

var stepWords = [...]string{"start", "req", "exit", "", "drop", "dup", "timeout",
	"crash", "restart", "amnesia", "tick", "suspect", "trust", "campaign", "pause", "resume", "cut", "heal",
	"in", "none", "leads", "believes", "rest"}

// States reports whether a step is an assertion.
func (k StepKind) States() bool {
	return k == stepIn || k == stepNone || k == stepLeads || k == stepBelieves
}

// Progresses reports whether a step makes progress by itself: it is not a fault, request or restart.
// StepSuspect also does if the suspected node is down, which this method cannot tell.
func (k StepKind) Progresses() bool {
	return k == StepDeliver || k == StepRelease || k == StepTimeout || k == StepTick || k == StepTrust
}

// A Step is one event, or an assertion.
type Step struct {
	What     StepKind
	Try      bool     // it is skipped if it does not apply
	Node     nodes.ID // where it happens; for a message see From and To
	Peer     nodes.ID // suspected, or trusted again; for stepBelieves, the leader
	From, To nodes.ID // sender and receiver of a message
	Kind     string   // kind of a message
	Nth      int      // number of the message among those of its kind on its link, from 1
	Instance int32    // instance of the node, or instance that a message is for
	Units    int      // units of a request; 0 means 1
	Timer    nodes.Timer
	Named    *nodes.TimerName // the name of Timer, if the step gives it; nil: the step gives numbers
	Sides    []nodes.Group    // for StepCut
	Who      []nodes.ID       // for stepIn, the clients inside; for stepLeads, the leaders
	Choosing []int
	Crashing int // the node crashes after so many saves and messages of this step; 0: it does not
	Line     int // line of the file that the step was read from
}

// String writes the step as in a file.
func (s Step) String() string {
	var words []string
	add := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	instance := "" // instance 0 is not named
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
	case StepCut:
		add("%s", sayCut(s.Sides))
	case StepTick, StepHeal, StepRest:
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

// sayCut writes the sides of a cut, as in 0-1/2.
func sayCut(sides []nodes.Group) string {
	var words []string
	for _, side := range sides {
		words = append(words, side.String())
	}
	return strings.Join(words, "/")
}

// list writes numbers separated by blanks.
func list[T any](all []T) string { return strings.Trim(fmt.Sprint(all), "[]") }

// String writes the schedule as in a file.
func (s *Schedule) String() string {
	var b strings.Builder
	s.WriteTo(&b) // a Builder returns no errors
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
	if s.UntilLost {
		fmt.Fprintln(&b, "until", lostUpdate)
	}
	fmt.Fprintln(&b)
	for _, step := range s.Steps {
		fmt.Fprintln(&b, step)
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}
