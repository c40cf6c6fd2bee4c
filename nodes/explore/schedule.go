package explore

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"turnstile/internal/suggest"
	"turnstile/nodes"
)

// A Schedule is a list of all that happens in a cluster, step by step, in a form that people can read and
// write. It can be played again.
//
//	turnstile schedule 1
//	algorithm naive-broadcast
//	n 2
//
//	req 0            # the client of node 0 asks
//	0>1 request      # the first such message from node 0 to node 1 arrives
//	0>1 request 2    # (the second such one, where messages may overtake each other)
//	drop 1>0 reply   # it is lost
//	dup 1>0 reply    # a copy of it follows it
//	exit 0           # the client leaves
//	timeout 0 1 2    # at node 0 the timer of kind 1 for peer 2 runs out
//	tick             # time goes on (if a line timing 1ms uniform:1ms,2ms stands above the steps)
//	crash 0
//	restart 0        # with what it saved
//	amnesia 0        # it comes up again without
//	start 1          # only to say what it chooses when it starts
//	req 1 choosing 2 0   # what Choose answers, one after the other
//	req 1 units 3        # the client asks for so many units of the resource
//	req 1@2              # the client of instance 2; so with messages (0>1 request@2) and all else
type Schedule struct {
	Algorithm  string
	Config     nodes.Config
	Reordering bool
	Timing     *Timing // nil: a message or timer may take any time
	Steps      []Step
}

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
)

var stepWords = [...]string{"start", "req", "exit", "", "drop", "dup", "timeout",
	"crash", "restart", "amnesia", "tick"}

// brings reports whether a step brings things on by itself: it is no fault, and none that need never come.
func (k StepKind) brings() bool {
	return k == StepDeliver || k == StepRelease || k == StepTimeout || k == StepTick
}

// A Step is one thing that happens.
type Step struct {
	What     StepKind
	Node     nodes.ID // where; of a message see below
	From, To nodes.ID // of a message
	Kind     string   // of a message
	Nth      int      // such message of its link that is on its way, from 1
	Instance int32    // of the node; of a message, that it is for
	Units    int      // of a request: of the resource; 0 means 1
	Timer    nodes.Timer
	Choosing []int
	Line     int // of the file it was read from
}

// String writes the step as it stands in a file.
func (s Step) String() string {
	words := []string{stepWords[s.What]}
	instance := "" // the first goes without saying
	if s.Instance > 0 {
		instance = fmt.Sprintf("@%d", s.Instance)
	}
	switch s.What {
	case StepDeliver, StepDrop, StepDuplicate:
		words = append(words, fmt.Sprintf("%d>%d", s.From, s.To), s.Kind+instance)
		if s.Nth > 1 {
			words = append(words, strconv.Itoa(s.Nth))
		}
	case StepTimeout:
		words = append(words, fmt.Sprintf("%d%s %d %d", s.Node, instance, s.Timer.Kind, s.Timer.Peer))
	case StepTick:
	default:
		words = append(words, fmt.Sprintf("%d%s", s.Node, instance))
		if s.Units > 1 {
			words = append(words, "units", strconv.Itoa(s.Units))
		}
	}
	if len(s.Choosing) > 0 {
		words = append(words, strings.Trim(fmt.Sprintf("choosing %v", s.Choosing), "]"))
		words[len(words)-1] = strings.Replace(words[len(words)-1], "[", "", 1)
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

// String writes the schedule as it stands in a file.
func (s *Schedule) String() string {
	var b strings.Builder
	s.WriteTo(&b) // a Builder takes all
	return b.String()
}

// WriteTo writes the schedule as it stands in a file.
func (s *Schedule) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "turnstile schedule %d\nalgorithm %s\nn %d\n", scheduleVersion, s.Algorithm, s.Config.N)
	if s.Config.Units > 0 {
		fmt.Fprintln(&b, "units", s.Config.Units)
	}
	for _, option := range s.Config.Given() {
		fmt.Fprintln(&b, option)
	}
	if s.Reordering {
		fmt.Fprintln(&b, "reordering")
	}
	if s.Timing != nil {
		fmt.Fprintln(&b, "timing", s.Timing)
	}
	fmt.Fprintln(&b)
	for _, step := range s.Steps {
		fmt.Fprintln(&b, step)
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

// A scheduleParser reads a schedule.
type scheduleParser struct {
	*Schedule
	find func(name string) (*nodes.Spec, error)
	spec *nodes.Spec // whose schedule it is; nil before the line that says so
}

// ParseSchedule reads a schedule of an algorithm that find knows. An error names the line, and says what
// would be right there.
func ParseSchedule(r io.Reader, find func(name string) (*nodes.Spec, error)) (*Schedule, error) {
	s := scheduleParser{&Schedule{}, find, nil}
	lines := bufio.NewScanner(r)
	number, begun := 0, false
	for lines.Scan() {
		number++
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		var err error
		if !begun {
			begun, err = true, parseTitle(words)
		} else {
			err = s.parse(words, number)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	switch {
	case lines.Err() != nil:
		return nil, fmt.Errorf("line %d: %w", number+1, lines.Err())
	case !begun:
		return nil, errors.New("the file is empty: a schedule begins with a line turnstile schedule 1")
	case s.Algorithm == "":
		return nil, errors.New("the algorithm is missing: add a line such as algorithm naive-broadcast")
	case s.Config.N == 0:
		return nil, errors.New("the number of clients is missing: add a line such as n 2")
	}
	return s.Schedule, nil
}

func parseTitle(words []string) error {
	if len(words) != 3 || words[0] != "turnstile" || words[1] != "schedule" {
		return errors.New("this is no schedule: one begins with a line turnstile schedule 1")
	}
	if words[2] != strconv.Itoa(scheduleVersion) {
		return fmt.Errorf("this is a schedule of version %s, and only version %d can be played",
			words[2], scheduleVersion)
	}
	return nil
}

// parse reads a line.
func (s *scheduleParser) parse(words []string, line int) error {
	if known, err := s.parseHeader(words); known {
		if len(s.Steps) > 0 {
			return fmt.Errorf("%s stands behind a step: put it above all steps", words[0])
		}
		return err
	}
	step, err := s.parseStep(words)
	step.Line = line
	s.Steps = append(s.Steps, step)
	return err
}

// parseHeader reads a line that is no step, and reports whether it is one.
func (s *scheduleParser) parseHeader(words []string) (known bool, err error) {
	value := strings.Join(words[1:], " ")
	one := len(words) == 2
	switch words[0] {
	case "reordering":
		if len(words) != 1 {
			return true, errors.New("reordering stands alone on its line")
		}
		s.Reordering = true
		return true, nil
	case "timing":
		s.Timing, err = parseTiming(words[1:])
		return true, err
	case "algorithm":
		if !one {
			return true, errors.New("algorithm takes a name, such as algorithm naive-broadcast")
		}
		if s.spec, err = s.find(value); err == nil {
			s.Algorithm = s.spec.Name // value may be an alias
		}
		return true, err
	case "n":
		s.Config.N, err = positive(words)
		return true, err
	case "units":
		s.Config.Units, err = positive(words)
		return true, err
	}
	if s.spec == nil || s.spec.Option(words[0]) == nil {
		return false, nil
	}
	if !one {
		return true, fmt.Errorf("%s takes one word", words[0])
	}
	s.Config = s.Config.With(words[0], value)
	return true, nil
}

// positive reads a line of a name and a number.
func positive(words []string) (int, error) {
	value := strings.Join(words[1:], " ")
	x, err := strconv.Atoi(value)
	if err != nil || x < 1 {
		return 0, fmt.Errorf("%s is %q: write a whole number from 1", words[0], value)
	}
	return x, nil
}

// parseStep reads a step.
func (s *scheduleParser) parseStep(words []string) (step Step, err error) {
	for i, word := range words {
		if word == "choosing" {
			if step.Choosing, err = numbers(words[i+1:]); err != nil || len(step.Choosing) == 0 {
				return step, errors.New("choosing takes the answers of Choose, such as choosing 2 0")
			}
			words = words[:i]
			break
		}
	}
	if len(words) == 0 {
		return step, errors.New("choosing stands behind a step, such as req 0 choosing 2")
	}
	what, rest := StepDeliver, words
	if !strings.Contains(words[0], ">") {
		at := -1
		for i, word := range stepWords {
			if word == words[0] {
				at = i
			}
		}
		if at < 0 {
			return step, s.unknownStep(words[0])
		}
		what, rest = StepKind(at), words[1:]
	}
	step.What = what
	switch what {
	case StepDeliver, StepDrop, StepDuplicate:
		return step, step.parseMessage(rest)
	}
	if rest, err = step.cutUnits(rest); err != nil {
		return step, err
	}
	if len(rest) > 0 {
		if rest[0], err = step.cutInstance(rest[0]); err != nil {
			return step, err
		}
	}
	ids, err := numbers(rest)
	switch {
	case what == StepTick && len(rest) == 0:
		return step, nil
	case what == StepTick:
		return step, errors.New("tick stands alone: write it once for each tick")
	case what == StepTimeout && (err != nil || len(ids) != 3):
		return step, errors.New("timeout takes a node, a kind of timer and a peer, such as timeout 0 1 2")
	case what != StepTimeout && (err != nil || len(ids) != 1):
		return step, fmt.Errorf("%s takes a node, such as %s 0", words[0], words[0])
	case what == StepTimeout:
		step.Timer = nodes.Timer{Kind: nodes.TimerKind(ids[1]), Peer: nodes.ID(ids[2])}
	}
	step.Node = nodes.ID(ids[0])
	return step, nil
}

// cutInstance takes the number of an instance off a word, as in 0@1.
func (s *Step) cutInstance(word string) (string, error) {
	rest, number, there := strings.Cut(word, "@")
	if !there {
		return word, nil
	}
	x, err := strconv.ParseUint(number, 10, 15)
	if err != nil {
		return word, fmt.Errorf("%q names no instance: write the number of one behind @, such as 0@1", word)
	}
	s.Instance = int32(x)
	return rest, nil
}

// cutUnits takes the number of units off a request, as in req 0 units 3.
func (s *Step) cutUnits(words []string) ([]string, error) {
	if len(words) != 3 || s.What != StepRequest || words[1] != "units" {
		return words, nil
	}
	var err error
	if s.Units, err = strconv.Atoi(words[2]); err != nil || s.Units < 1 {
		return words, fmt.Errorf("%q is no number of units: write a whole number from 1", words[2])
	}
	return words[:1], nil
}

func (s *scheduleParser) unknownStep(word string) error {
	known := slices.Clone(stepWords[:])
	if s.spec != nil {
		for _, o := range s.spec.Options {
			known = append(known, o.Name)
		}
	}
	if near := suggest.Nearest(word, known); near != "" {
		return fmt.Errorf("there is no step %q: did you mean %s?", word, near)
	}
	return fmt.Errorf("there is no step %q; there are 0>1 KIND, %s", word,
		strings.Join(append([]string{"start", "req", "exit"}, known[StepDrop:]...), ", "))
}

// parseMessage reads which message a step is about.
func (s *Step) parseMessage(words []string) error {
	wrong := errors.New("say which message, such as 0>1 request, or 0>1 request 2 for the second such")
	if len(words) < 2 || len(words) > 3 {
		return wrong
	}
	from, to, _ := strings.Cut(words[0], ">")
	ids, err := numbers([]string{from, to})
	if err != nil {
		return wrong
	}
	s.From, s.To, s.Nth = nodes.ID(ids[0]), nodes.ID(ids[1]), 1
	if s.Kind, err = s.cutInstance(words[1]); err != nil {
		return err
	}
	s.Node = s.To
	if len(words) == 3 {
		if s.Nth, err = strconv.Atoi(words[2]); err != nil || s.Nth < 1 {
			return wrong
		}
	}
	return nil
}

// numbers reads whole numbers from 0, or -1 for nodes.None.
func numbers(words []string) ([]int, error) {
	all := make([]int, len(words))
	for i, word := range words {
		x, err := strconv.ParseInt(word, 10, 32)
		if err != nil || x < -1 {
			return nil, fmt.Errorf("%q is no whole number", word)
		}
		all[i] = int(x)
	}
	return all, nil
}
