package play

import (
	"fmt"
	"slices"
	"strings"

	"turnstile/internal/english"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/explore"
	"turnstile/nodes/replay"
)

// A Challenge asks for a violation of a check: of one that a known broken algorithm fails, or of one that a
// story shows to fail outside the model of its algorithm.
type Challenge struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	Algorithm string `json:"algorithm"`
	Schedule  string `json:"schedule"` // how it starts
	Check     string `json:"check"`
	Fewest    int    `json:"fewest"` // fewest steps, as the call explore finds them; 0: not explored yet

	start *replay.Schedule
	space explore.Space // where the violation is found
}

// asks are what challenges ask for, by check.
var asks = map[string]string{
	replay.CheckExclusion:  "Make two enter",
	replay.CheckDeadlock:   "Stop them all",
	replay.CheckStarvation: "Starve a node",
	replay.CheckLeaders:    "Have two lead at once",
	replay.CheckTerms:      "Have two lead in one term",
	replay.CheckAgreement:  "Have them never agree on a leader",
}

// challengesOf returns the challenges that follow from flaws of algorithms, and then others, from stories.
func challengesOf(stories []Story) (all []Challenge, err error) {
	for _, a := range table.Algorithms() {
		if a.Flaw != nil {
			all = append(all, challengeIn(flawSpace(a), a.Flaw.At, 0))
		}
	}
	for _, s := range stories {
		// Most stories break nothing, as they say below their schedules. To play them all would take long.
		if !strings.Contains(s.text, "\nbroken: ") {
			continue
		}
		c, is, err := s.challenge()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Path, err)
		}
		if is && !slices.ContainsFunc(all, func(other Challenge) bool { return other.ID == c.ID }) {
			all = append(all, c)
		}
	}
	return all, nil
}

// challenge returns the challenge to find what a story shows. It returns false unless the story is small and
// shows a violation by which its algorithm is not already known to be broken.
func (s *Story) challenge() (c Challenge, is bool, err error) {
	schedule, err := replay.Parse(strings.NewReader(s.text), table.Find)
	if err != nil || schedule.Config.N+schedule.Spec.ServerCount(schedule.Config) > mostChallenged {
		return c, false, err
	}
	played, err := replay.Play(schedule)
	if err != nil || played.Violation == nil || asks[played.Violation.Check] == "" {
		return c, false, err
	}
	v := check.Judge(played.History, check.SettingOfReplay(played.Stack))
	_, broken := v.Failed()
	if broken != 0 && schedule.Spec.Flaw != nil {
		return c, false, nil
	}
	return challengeIn(spaceOf(schedule, played.Violation.Check), schedule.Config, broken), true, nil
}

// mostChallenged is how many nodes a challenge from a story has at most, so that its space can be explored.
const mostChallenged = 4

// flawSpace returns the space in which one can find the flaw of an algorithm. Time does not count there if
// the check that fails does not rest on bounded delays.
func flawSpace(a *algorithm.Algorithm) explore.Space {
	o := explore.ShowFlaw(a)
	o.Checks = explore.Named(a.Flaw.Check)[:1]
	needs := a.SafeIn(o.Config)
	switch o.Checks[0] {
	case replay.CheckDeadlock, replay.CheckStarvation, replay.CheckAgreement:
		needs |= a.LiveIn(o.Config)
	}
	if untimed := (*replay.Timing)(nil); o.Timing != nil && needs&untimed.Breaks() == 0 {
		o.Timing, o.Timeouts = nil, o.Config.N-1
	}
	return o
}

// challengeIn returns the challenge to find a violation of the only check of a space. given is the
// configuration without defaults; broken are the assumptions that the violation breaks.
func challengeIn(space explore.Space, given nodes.Config, broken nodes.Assumption) Challenge {
	fails := space.Checks[0]
	start := &replay.Schedule{Spec: space.Spec, Config: given, Reordering: space.Reordering,
		Timing: space.Timing}
	c := Challenge{Title: asks[fails], Algorithm: space.Spec.Name, Schedule: start.String(), Check: fails,
		start: start, space: space}
	if fails == replay.CheckDeadlock && starves(space.Spec) {
		c.Title = asks[replay.CheckStarvation]
	}
	words := append([]string{c.Algorithm, fails}, given.Given()...)
	if len(words) > 2 {
		c.Title += ", with " + strings.Join(words[2:], ", ")
	}
	if broken != 0 {
		words = append(words, broken.String())
		c.Title += fmt.Sprintf(", outside its model: it assumes %v", broken)
	}
	c.ID = strings.NewReplacer(" ", "-", ",", "").Replace(strings.Join(words, "-"))
	return c
}

// starves reports whether an algorithm is expected to starve single clients, where others are expected to
// block all.
func starves(a *algorithm.Algorithm) bool {
	return slices.ContainsFunc(a.Faults, func(c algorithm.FaultCell) bool { return c.May == algorithm.Starves })
}

// spaceOf returns a space in which the events of a schedule happen in any order and at any nodes, and in
// which one check is made.
func spaceOf(s *replay.Schedule, check string) explore.Space {
	o := explore.Space{Spec: s.Spec, Config: s.Spec.Explicit(s.Config), Timing: s.Timing, Entries: 1,
		Checks: []string{check}, Demand: true}
	asked := map[nodes.ID]int{}
	for _, step := range s.Steps {
		switch step.What {
		case replay.StepCampaign:
			o.Campaigns++
			fallthrough
		case replay.StepRequest:
			asked[step.Node]++
			o.Entries = max(o.Entries, asked[step.Node])
		case replay.StepDrop:
			o.Losses++
		case replay.StepDuplicate:
			o.Duplicates++
		case replay.StepCrash:
			o.Crashes++
		case replay.StepRestart:
			o.Restarts = true
		case replay.StepAmnesia:
			o.Amnesia = true
		case replay.StepSuspect:
			o.Suspicions++
		case replay.StepTimeout:
			o.Timeouts++
		}
	}
	if len(s.Spec.Timers) == 0 || s.Timing != nil {
		o.Timeouts = 0
	} else if o.Timeouts == 0 {
		o.Timeouts = s.Config.N
	}
	o.Reordering = s.Reordering || !o.RestsOnFIFO()
	return o
}

// What an exploration takes at most, so that a page does not wait for long.
const (
	mostStates = 3_000_000
	mostMemory = 1 << 30
)

// An Explored is the result of the call explore.
type Explored struct {
	Steps    int    `json:"steps"` // fewest steps to a violation of the check
	Schedule string `json:"schedule"`
}

// explored explores the space of a challenge or, without one that is like the schedule, a space with the
// events of the schedule in any order.
func explored(schedule, check string) (*Explored, error) {
	s, err := replay.Parse(strings.NewReader(schedule), table.Find)
	if err != nil {
		return nil, err
	}
	if asks[check] == "" {
		return nil, fmt.Errorf("there is no challenge of the check %q", check)
	}
	space := spaceOf(s, check)
	all, err := readCatalog()
	if err != nil {
		return nil, err
	}
	for _, c := range all.Challenges {
		if c.Check == check && c.isOf(s) {
			space = c.space
		}
	}
	return find(space)
}

// isOf reports whether a schedule is one of the algorithm and configuration of the challenge.
func (c *Challenge) isOf(s *replay.Schedule) bool {
	mine, theirs := c.start.Config, s.Config
	return c.start.Spec == s.Spec && mine.N == theirs.N && mine.Fenced == theirs.Fenced &&
		mine.Units == theirs.Units && slices.Equal(mine.Given(), theirs.Given()) &&
		(c.start.Timing == nil) == (s.Timing == nil) &&
		c.space.Reordering == (s.Reordering || !c.space.RestsOnFIFO())
}

// find explores a space until a violation is found.
func find(space explore.Space) (*Explored, error) {
	space.States, space.Memory = mostStates, mostMemory
	x, err := explore.Run(space)
	switch {
	case err != nil:
		return nil, err
	case x.Violation != nil:
		return &Explored{len(x.Violation.Schedule.Steps), x.Violation.Schedule.String()}, nil
	case x.Exhausted:
		return nil, fmt.Errorf("no order of these events breaks it: the explorer saw all %s states",
			english.Thousands(float64(x.States)))
	}
	return nil, fmt.Errorf("the explorer saw %s states, and found nothing: there are more than a page explores",
		english.Thousands(float64(x.States)))
}
