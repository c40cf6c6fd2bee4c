// Package play lets a person play a distributed algorithm by hand, step by step: it is the bridge between the
// machines and a page that draws them.
//
// A [Session] is a schedule that grows: [Session.Take] takes a step, [Session.Back] goes back any number of
// steps, and [Session.State] says how the cluster stands, as values for drawing. A session plays on a stage
// of package [turnstile/nodes/replay], so the algorithm is the code that is measured, and the promises are
// judged as in all other hosts. [Call] gives all of it to a program in another language, as JSON.
package play

import (
	"fmt"
	"slices"
	"strings"

	"turnstile/algorithms/catalog"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/replay"
)

// Bounds of a session.
const (
	mostNodes     = 64  // nodes, servers included
	snapshotEvery = 250 // steps between two copies of the stage
)

// A Session is one play of one algorithm.
type Session struct {
	schedule *replay.Schedule // the head, and all steps that are known
	notes    []note
	title    string // as the schedule gives it; empty: it gives none
	stack    *algorithm.Stack
	stage    *replay.Stage
	at       int // how many of the steps have been taken
	copies   []*replay.Stage
	times    []int64         // by number of steps taken: the time of the history after them
	told     []int           // the same for the length of the story
	before   [][]nodes.Field // the fields of each node before the latest step
	walk     *walk
}

// Open begins the session of a schedule, and takes all of its steps. The error names the line of the step
// that cannot be taken. If the schedule has notes, the session then goes back to before the first step.
func Open(text string) (*Session, error) {
	schedule, err := replay.Parse(strings.NewReader(text), catalog.Table{}.Find)
	if err != nil {
		return nil, err
	}
	notes, err := readNotes(text, schedule)
	if err != nil {
		return nil, err
	}
	s, err := Begin(schedule)
	if err != nil {
		return nil, err
	}
	s.notes, s.title = notes, titleIn(text)
	if err := s.Back(len(schedule.Steps)); err != nil || len(notes) == 0 {
		return s, err
	}
	return s, s.Back(0)
}

// Begin begins the session of a schedule, before its first step.
func Begin(schedule *replay.Schedule) (*Session, error) {
	stack, err := algorithm.Assemble(algorithm.Instance{Algorithm: schedule.Spec, Config: schedule.Config})
	if err != nil {
		return nil, err
	}
	if total := stack.Total(); total > mostNodes {
		return nil, fmt.Errorf("%d nodes, servers included: the page shows up to %d", total, mostNodes)
	}
	s := &Session{schedule: schedule, stack: stack, walk: newWalk()}
	s.stage = replay.NewStage(stack, schedule, func(string) bool { return true })
	if len(schedule.Steps) == 0 || schedule.Steps[0].What != replay.StepStart {
		s.stage.Start()
	}
	s.copies = []*replay.Stage{s.stage.Clone()}
	s.mark()
	return s, nil
}

// mark notes where the history and the story stand after the steps taken.
func (s *Session) mark() {
	s.times, s.told = append(s.times[:s.at], s.stage.Time()), append(s.told[:s.at], len(s.stage.Story))
}

// Take takes a step, written as in a schedule. Unless it is the next of the known steps, the steps after the
// present one are forgotten, with their notes. The error says why the step does not apply; then nothing has
// changed.
func (s *Session) Take(text string) error {
	read, err := s.parse(text)
	if err != nil {
		return err
	}
	known := s.schedule.Steps[s.at:]
	if len(known) > 0 && known[0].String() == read.String() && s.stage.Found() == nil {
		return s.Back(s.at + 1)
	}
	return s.add(read)
}

// head returns the lines above the steps of the schedule.
func (s *Session) head() string {
	head := *s.schedule
	head.Steps = nil
	return head.String()
}

// parse reads a step.
func (s *Session) parse(text string) (replay.Step, error) {
	read, err := replay.Parse(strings.NewReader(s.head()+text), catalog.Table{}.Find)
	switch {
	case err != nil:
		_, why, _ := strings.Cut(err.Error(), ": ") // the line is one that the user does not see
		return replay.Step{}, fmt.Errorf("%s: %s", text, why)
	case len(read.Steps) != 1:
		return replay.Step{}, fmt.Errorf("%q: write one step, such as req 0", text)
	}
	read.Steps[0].Line = 0
	return read.Steps[0], nil
}

// add takes a step, and forgets the steps after it.
func (s *Session) add(step replay.Step) error {
	if s.stage.Found() != nil {
		return fmt.Errorf("%v: a promise is broken, so the play is over: go back first", step)
	}
	kept := s.schedule.Steps
	ahead := kept[:s.at]
	if s.at < len(kept) { // the steps after this one must stay, in case this one fails
		ahead = slices.Clip(ahead)
	}
	s.schedule.Steps = append(ahead, step)
	s.before = s.fields()
	if err := s.forward(); err != nil {
		s.schedule.Steps = kept
		return s.undo(err)
	}
	s.copies = s.copies[:min(len(s.copies), s.at/snapshotEvery+1)]
	s.notes = slices.DeleteFunc(s.notes, func(n note) bool { return n.At >= s.at })
	return nil
}

// undo puts the session back to where it stood before a step that failed, and returns the error.
func (s *Session) undo(err error) error {
	if again := s.Back(s.at); again != nil {
		return again
	}
	return err
}

// forward takes the next of the known steps.
func (s *Session) forward() error {
	step := s.schedule.Steps[s.at]
	if step.What != replay.StepStart {
		s.stage.Start()
	}
	if err := s.stage.Play(step); err != nil {
		return fmt.Errorf("%s%v: %w", lineOf(step), step, err)
	}
	s.at++
	if s.at%snapshotEvery == 0 && s.at/snapshotEvery == len(s.copies) {
		s.copies = append(s.copies, s.stage.Clone())
	}
	s.mark()
	return nil
}

// lineOf names the line that a step was read from.
func lineOf(step replay.Step) string {
	if step.Line == 0 {
		return ""
	}
	return fmt.Sprintf("line %d, ", step.Line)
}

// Back goes to where the session stood after a number of steps: back, or forward to steps that are known. The
// known steps after a broken promise cannot be taken, and are forgotten.
func (s *Session) Back(to int) error {
	if to < 0 || to > len(s.schedule.Steps) {
		return fmt.Errorf("step %d: there are steps 0 to %d", to, len(s.schedule.Steps))
	}
	copied := min(max(0, to-1)/snapshotEvery, len(s.copies)-1) // so that the last step is taken
	if at := copied * snapshotEvery; s.at >= to || at > s.at {
		s.stage, s.at = s.copies[copied].Clone(), at
		s.before = nil
	}
	for s.at < to {
		if s.stage.Found() != nil {
			s.schedule.Steps = s.schedule.Steps[:s.at]
			return s.Back(s.at)
		}
		if s.at == to-1 {
			s.before = s.fields()
		}
		if err := s.forward(); err != nil {
			return err
		}
	}
	return nil
}

// fields returns the fields of the machine of each node that is up.
func (s *Session) fields() [][]nodes.Field {
	all := make([][]nodes.Field, len(s.stage.Nodes))
	for id := range s.stage.Nodes {
		if p := &s.stage.Nodes[id].Process; p.Up() {
			all[id] = nodes.FieldsOf(p.Machine(0))
		}
	}
	return all
}

// Schedule returns the steps taken so far as a schedule, with the notes between them.
func (s *Session) Schedule() string {
	var b strings.Builder
	if s.title != "" {
		fmt.Fprintln(&b, wordTitle, s.title)
	}
	b.WriteString(s.head())
	for at := range s.at + 1 {
		for _, n := range s.notes {
			if n.At == at {
				fmt.Fprintln(&b, n)
			}
		}
		if at < s.at {
			fmt.Fprintln(&b, s.schedule.Steps[at])
		}
	}
	return b.String()
}

// A Verdict is the judgement of the checks on what has happened so far.
type Verdict struct {
	Outcome string `json:"outcome"` // valid, violated, stalled or inconclusive
	Reason  string `json:"reason"`
}

// Verdict judges what has happened so far, as a replay of the schedule is judged.
func (s *Session) Verdict() Verdict {
	played := s.stage.Clone().End()
	outcome, says := check.JudgeReplay(played.History, played.Stack)
	return Verdict{outcome.String(), says}
}

// A Told is a known step, for a list.
type Told struct {
	Text  string   `json:"text"`  // as in a schedule
	Story []string `json:"story"` // what happened in it; empty: nothing, or it is still to come
}

// Told returns the known steps after from, up to to.
func (s *Session) Told(from, to int) ([]Told, error) {
	if err := within(from, to, len(s.schedule.Steps)); err != nil {
		return nil, err
	}
	all := []Told{}
	for i := from; i < to; i++ {
		all = append(all, s.tell(i))
	}
	return all, nil
}

// tell tells the step with an index.
func (s *Session) tell(i int) Told {
	t := Told{s.schedule.Steps[i].String(), []string{}}
	if i < s.at {
		t.Story = append(t.Story, s.stage.Story[s.told[i]:s.told[i+1]]...)
	}
	return t
}

// within returns an error unless some of so many steps come after from, up to to.
func within(from, to, most int) error {
	if from < 0 || from >= to || to > most {
		return fmt.Errorf("steps %d to %d: there are steps 0 to %d", from, to, most)
	}
	return nil
}
