package replay

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"turnstile/internal/suggest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// scheduleEnd begins the line that ends a schedule.
const scheduleEnd = "----"

// A scheduleParser reads a schedule.
type scheduleParser struct {
	*Schedule
	find  func(name string) (*algorithm.Algorithm, error)
	heads []string // the first words of the lines above the steps
}

// Parse reads a schedule; find looks up its algorithm. An error names the line, and says what would be right
// there.
func Parse(r io.Reader, find func(name string) (*algorithm.Algorithm, error)) (*Schedule, error) {
	s := scheduleParser{&Schedule{}, find, nil}
	lines := bufio.NewScanner(r)
	number, begun := 0, false
	for lines.Scan() {
		number++
		if begun && strings.HasPrefix(lines.Text(), scheduleEnd) {
			break
		}
		text, _, _ := strings.Cut(lines.Text(), "#")
		for step := range strings.SplitSeq(text, ";") {
			words := strings.Fields(step)
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
	}
	switch {
	case lines.Err() != nil:
		return nil, fmt.Errorf("line %d: %w", number+1, lines.Err())
	case !begun:
		return nil, errors.New("the file is empty: a schedule begins with a line turnstile schedule 1")
	case s.Spec == nil:
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
		switch {
		case len(s.Steps) > 0:
			return fmt.Errorf("%s comes after a step: put it above all steps", words[0])
		case err == nil && slices.Contains(s.heads, words[0]):
			return fmt.Errorf("%s was given above: leave out one of the two", words[0])
		}
		s.heads = append(s.heads, words[0])
		return err
	}
	step, err := s.parseStep(words)
	step.Line = line
	s.Steps = append(s.Steps, step)
	return err
}

// parseHeader reads a line above the steps. It reports whether the line is such a header.
func (s *scheduleParser) parseHeader(words []string) (known bool, err error) {
	value := strings.Join(words[1:], " ")
	one := len(words) == 2
	switch words[0] {
	case "reordering", "fenced":
		if len(words) != 1 {
			return true, fmt.Errorf("%s takes no arguments", words[0])
		}
		s.Reordering = s.Reordering || words[0] == "reordering"
		s.Config.Fenced = s.Config.Fenced || words[0] == "fenced"
		return true, nil
	case "timing":
		s.Timing, err = parseTiming(words[1:])
		return true, err
	case "algorithm":
		if !one {
			return true, errors.New("algorithm takes a name, such as algorithm naive-broadcast")
		}
		s.Spec, err = s.find(value)
		return true, err
	case "n":
		s.Config.N, err = positive(words)
		return true, err
	case "units":
		s.Config.Units, err = positive(words)
		return true, err
	case "copies":
		s.Copies, err = positive(words)
		return true, err
	case "detector":
		if s.NoDetector = value == "none"; !s.NoDetector {
			err = errors.New("detector: the only value: none; without this line, the step rest plays the failure " +
				"detector")
		}
		return true, err
	case "until":
		if s.UntilLost = value == lostUpdate; !s.UntilLost {
			err = errors.New("until: the only value: " + lostUpdate)
		}
		return true, err
	}
	if s.Spec == nil || s.Spec.Option(words[0]) == nil {
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
	if at := slices.Index(words, "choosing"); at >= 0 {
		if step.Choosing, err = numbers(words[at+1:]); err != nil || len(step.Choosing) == 0 {
			return step, errors.New("choosing takes the answers of Choose, such as choosing 2 0")
		}
		words = words[:at]
	}
	if words, err = step.cutCrashing(words); err != nil {
		return step, err
	}
	if len(words) > 0 && words[0] == "try" {
		step.Try, words = true, words[1:]
	}
	if len(words) == 0 {
		return step, errors.New("choosing comes after a step and try before it, such as try req 0 choosing 2")
	}
	step.What = StepDeliver
	if !strings.Contains(words[0], ">") {
		at := slices.Index(stepWords[:], words[0])
		if at < 0 {
			return step, s.unknownStep(words)
		}
		step.What, words = StepKind(at), words[1:]
	}
	if step.Crashing > 0 && !step.What.inputs() {
		return step, errors.New("crashing comes after an input of a node, such as 0>1 vote " +
			"crashing 1")
	}
	if step.Try && step.What >= stepIn {
		return step, fmt.Errorf("%s cannot be skipped: leave out try", stepWords[step.What])
	}
	switch step.What {
	case StepDeliver, StepDrop, StepDuplicate, stepNone:
		return step, step.parseMessage(words)
	case StepSuspect, StepTrust:
		return step, step.parsePeer(words)
	case stepIn, stepLeads:
		return step, step.parseWho(words)
	case stepBelieves:
		return step, step.parseBelief(words)
	case StepCut:
		return step, step.parseCut(words)
	case StepTick, StepHeal, StepRest:
		if len(words) > 0 {
			return step, fmt.Errorf("%s takes no arguments", stepWords[step.What])
		}
		return step, nil
	}
	if step.What == StepTimeout {
		return step, s.parseTimeout(&step, words)
	}
	return step, step.parseNode(words)
}

// parseNode reads the node of a step, and the rest of its arguments.
func (s *Step) parseNode(words []string) (err error) {
	if words, err = s.cutUnits(words); err != nil {
		return err
	}
	if words, err = s.cutFirst(words); err != nil {
		return err
	}
	ids, err := numbers(words)
	if err != nil || len(ids) != 1 {
		return fmt.Errorf("%s takes a node, such as %s 0", stepWords[s.What], stepWords[s.What])
	}
	s.Node = nodes.ID(ids[0])
	return nil
}

// cutFirst takes the number of an instance off the first word.
func (s *Step) cutFirst(words []string) (rest []string, err error) {
	if len(words) > 0 {
		words = slices.Clone(words)
		words[0], err = s.cutInstance(words[0])
	}
	return words, err
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

// unknownStep returns the error for a line with an unknown first word. Before the first step, a name with a
// word that is not a number looks like an option of another algorithm.
func (s *scheduleParser) unknownStep(words []string) error {
	if _, err := numbers(words[1:]); err != nil && len(words) == 2 && len(s.Steps) == 0 {
		heads := []string{"algorithm", "copies", "fenced", "reordering", "timing", "units", "until"}
		if near := suggest.Nearest(words[0], heads); near != "" {
			return fmt.Errorf("there is no line %q: did you mean %s?", words[0], near)
		}
		if s.Spec == nil {
			return fmt.Errorf("%s comes before the algorithm: write algorithm and its name first", words[0])
		}
		return s.Spec.Validate(nodes.Config{N: 1}.With(words[0], words[1]))
	}
	known := slices.Clone(stepWords[:])
	known[StepDeliver] = "0>1 KIND"
	return fmt.Errorf("there is no step %q%s", words[0], suggest.Hint(words[0], known))
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

// parseMessage reads the message of a step.
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
	if s.Kind == "" {
		return wrong
	}
	s.Node = s.To
	if len(words) == 3 {
		if s.Nth, err = strconv.Atoi(words[2]); err != nil || s.Nth < 1 {
			return wrong
		}
	}
	return nil
}

// parsePeer reads two nodes: the first suspects or trusts the second.
func (s *Step) parsePeer(words []string) error {
	by, of, _ := strings.Cut(strings.Join(words, " "), ">")
	ids, err := numbers([]string{by, of})
	if err != nil {
		return fmt.Errorf("%s takes two nodes, such as %[1]s 0>1", stepWords[s.What])
	}
	s.Node, s.Peer = nodes.ID(ids[0]), nodes.ID(ids[1])
	return nil
}

// parseCut reads the sides of a cut.
func (s *Step) parseCut(words []string) error {
	sides := strings.Split(strings.Join(words, " "), "/")
	if len(sides) < 2 {
		return errors.New("cut takes two sides or more, such as cut 0-1/2")
	}
	named := nodes.Set{}
	for _, side := range sides {
		group, err := nodes.ParseGroup(side)
		if err != nil {
			return fmt.Errorf("cut: %w", err)
		}
		for _, id := range group {
			if !named.Add(id) {
				return fmt.Errorf("cut: node %d is on two sides", id)
			}
		}
		s.Sides = append(s.Sides, group)
	}
	return nil
}

// parseWho reads the nodes that are inside, or that lead.
func (s *Step) parseWho(words []string) (err error) {
	if words, err = s.cutFirst(words); err != nil || slices.Equal(words, []string{"-"}) {
		return err
	}
	ids, err := numbers(words)
	switch {
	case err == nil && len(ids) > 0:
	case s.What == stepLeads:
		return errors.New("leads takes the nodes that lead, such as leads 3, or leads - if no node does")
	default:
		return errors.New("in takes the nodes whose clients are inside, such as in 0, or in - if no client is")
	}
	for _, id := range ids {
		s.Who = append(s.Who, nodes.ID(id))
	}
	return nil
}

// somebody is the word for nodes.Somebody.
const somebody = "somebody"

// believed is the word for a declared leader.
func believed(leader nodes.ID) string {
	switch leader {
	case nodes.None:
		return "-"
	case nodes.Somebody:
		return somebody
	}
	return strconv.Itoa(int(leader))
}

// parseBelief reads a node and the leader that it has declared.
func (s *Step) parseBelief(words []string) (err error) {
	if words, err = s.cutFirst(words); err != nil {
		return err
	}
	wrong := errors.New("believes takes a node and its leader, such as believes 1 3, or believes 1 - if it " +
		"knows no leader")
	if len(words) != 2 {
		return wrong
	}
	ids, err := numbers(words[:1])
	if err != nil {
		return wrong
	}
	s.Node = nodes.ID(ids[0])
	switch words[1] {
	case "-":
		s.Peer = nodes.None
	case somebody:
		s.Peer = nodes.Somebody
	default:
		if ids, err = numbers(words[1:]); err != nil || ids[0] < 0 {
			return wrong
		}
		s.Peer = nodes.ID(ids[0])
	}
	return nil
}

// parseTimeout reads a node and its timer: by name, or by the numbers of its kind and peer.
func (s *scheduleParser) parseTimeout(step *Step, words []string) (err error) {
	if words, err = step.cutFirst(words); err != nil {
		return err
	}
	wrong := errors.New("timeout takes a node and a timer, such as timeout 0 retry, and the peer of a timer " +
		"that is kept per peer")
	if len(words) < 2 {
		return wrong
	}
	node, err := numbers(words[:1])
	if err != nil {
		return wrong
	}
	step.Node = nodes.ID(node[0])
	if ids, err := numbers(words[1:]); err == nil && len(ids) == 2 && ids[0] <= math.MaxUint8 {
		step.Timer = nodes.Timer{Kind: nodes.TimerKind(ids[0]), Peer: nodes.ID(ids[1])}
		return nil
	}
	if step.Named, err = s.timerNamed(step, words[1]); err != nil {
		return err
	}
	step.Timer.Kind = step.Named.Kind
	peers, err := numbers(words[2:])
	switch {
	case err == nil && step.Named.PerPeer && len(peers) == 1:
		step.Timer.Peer = nodes.ID(peers[0])
	case step.Named.PerPeer:
		return fmt.Errorf("the timer %s is kept per peer: write which, such as timeout 0 %[1]s 1", words[1])
	case len(words) > 2:
		return fmt.Errorf("the timer %s is not kept per peer: leave out %s", words[1],
			strings.Join(words[2:], " "))
	}
	return nil
}

// timerNamed returns the timer that has this name at the node of a step.
func (s *scheduleParser) timerNamed(step *Step, name string) (*nodes.TimerName, error) {
	switch {
	case s.Spec == nil:
		return nil, errors.New("timeout comes before the algorithm: write algorithm and its name first")
	case step.Instance > 0:
		return nil, errors.New("this instance is not the first: write a timer by the numbers of its kind and " +
			"peer, such as timeout 0@1 2 0")
	}
	var known []string
	for _, t := range s.Spec.Timers {
		of := s.Spec.TimerName(s.Config, step.Node, t.Kind)
		if of == nil || slices.Contains(known, of.Name) { // this node has no such timer, or it is listed already
			continue
		}
		if of.Name == name {
			return of, nil
		}
		known = append(known, of.Name)
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("the timers of %s have no names: write the numbers of the kind and the peer, "+
			"such as timeout 0 1 2", s.Spec.Name)
	}
	return nil, fmt.Errorf("node %d of %s has no timer %s%s", step.Node, s.Spec.Name, name,
		suggest.Hint(name, known))
}

// cutCrashing reads and cuts off the words that say after how many saves and messages of a step its
// node crashes, as in req 0 crashing 1.
func (s *Step) cutCrashing(words []string) ([]string, error) {
	at := slices.Index(words, "crashing")
	if at < 0 {
		return words, nil
	}
	all, err := numbers(words[at+1:])
	if err != nil || len(all) != 1 || all[0] < 1 {
		return words, errors.New("crashing takes how often the node has saved or sent, from 1, such as " +
			"crashing 1; choosing comes after it")
	}
	s.Crashing = all[0]
	return words[:at], nil
}

// parseTiming reads the arguments of timing.
func parseTiming(words []string) (*Timing, error) {
	if len(words) != 2 {
		return nil, errors.New("timing takes a tick and a latency, such as timing 1ms uniform:1ms,2ms")
	}
	tick, err := time.ParseDuration(words[0])
	switch unit := suggest.Unit(words[0], "ms"); {
	case err != nil && unit != nil:
		return nil, unit
	case err != nil:
		return nil, fmt.Errorf("%q is no tick: write a time, such as 1ms", words[0])
	}
	t := &Timing{Tick: tick}
	if err := t.Latency.Set(words[1]); err != nil {
		return nil, err
	}
	return t, t.Validate()
}
