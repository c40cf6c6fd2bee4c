package explore

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	case s.What == StepLeads:
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
