package replay

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"turnstile/internal/suggest"
	"turnstile/nodes"
)

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

// parsePeer reads who suspects, or trusts, whom.
func (s *Step) parsePeer(words []string) error {
	by, of, _ := strings.Cut(strings.Join(words, " "), ">")
	ids, err := numbers([]string{by, of})
	if err != nil {
		return fmt.Errorf("say which node and whom, such as %s 0>1", stepWords[s.What])
	}
	s.Node, s.Peer = nodes.ID(ids[0]), nodes.ID(ids[1])
	return nil
}

// parseWho reads who is inside, or who leads.
func (s *Step) parseWho(words []string) (err error) {
	if words, err = s.cutFirst(words); err != nil || slices.Equal(words, []string{"-"}) {
		return err
	}
	ids, err := numbers(words)
	switch {
	case err == nil && len(ids) > 0:
	case s.What == stepLeads:
		return errors.New("leads takes the nodes that say that they lead, such as leads 3, or leads - if none does")
	default:
		return errors.New("in takes the nodes whose clients are inside, such as in 0, or in - if there are none")
	}
	for _, id := range ids {
		s.Who = append(s.Who, nodes.ID(id))
	}
	return nil
}

// somebody is the word for a leader that has no name in an anonymous network.
const somebody = "somebody"

// believed is the word for whom a node takes for the leader.
func believed(leader nodes.ID) string {
	switch leader {
	case nodes.None:
		return "-"
	case nodes.Somebody:
		return somebody
	}
	return strconv.Itoa(int(leader))
}

// parseBelief reads which node takes whom for the leader.
func (s *Step) parseBelief(words []string) (err error) {
	if words, err = s.cutFirst(words); err != nil {
		return err
	}
	wrong := errors.New("believes takes a node and whom it takes for the leader, such as believes 1 3, or " +
		"believes 1 - if it knows of none")
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

// parseTimeout reads at which node which timer runs out: by its name, or by the numbers of its kind and peer.
func (s *scheduleParser) parseTimeout(step *Step, words []string) (err error) {
	if words, err = step.cutFirst(words); err != nil {
		return err
	}
	wrong := errors.New("timeout takes a node and a timer, such as timeout 0 retry; behind one that is kept " +
		"per peer, the peer")
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

// timerNamed returns the timer of the node of a step that goes by a name.
func (s *scheduleParser) timerNamed(step *Step, name string) (*nodes.TimerName, error) {
	switch {
	case s.Spec == nil:
		return nil, errors.New("timeout comes before the algorithm: write algorithm and its name first")
	case step.Instance > 0:
		return nil, errors.New("of another instance than the first, write a timer by the numbers of its kind and " +
			"peer, such as timeout 0@1 2 0")
	}
	var known []string
	for _, t := range s.Spec.Timers {
		of := s.Spec.TimerName(s.Config, step.Node, t.Kind)
		if of == nil || slices.Contains(known, of.Name) { // one of servers
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
