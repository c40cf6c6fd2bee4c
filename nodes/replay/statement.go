package replay

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"turnstile/nodes"
)

// check checks whether the nodes and the kind of message that a step names exist.
func (c *cluster) check(s Step) error {
	all := append([]nodes.ID{s.Node, s.From, s.To}, s.Who...) // 0 if a step names none
	if s.What != stepBelieves || s.Peer >= 0 {
		all = append(all, s.Peer)
	}
	for _, id := range all {
		if id < 0 || int(id) >= len(c.Nodes) {
			return fmt.Errorf("there is no node %d: they are 0 to %d", id, len(c.Nodes)-1)
		}
	}
	if kinds := c.stack.Codec().Names(); s.Kind != "" && !slices.Contains(kinds, s.Kind) {
		return fmt.Errorf("there is no message of kind %s: there are %s", s.Kind, strings.Join(kinds, ", "))
	}
	return nil
}

// in checks that exactly the clients that a step names are inside.
func (c *cluster) in(s Step) error {
	return same(c.clients(s.Instance, nodes.Inside), s.Who, "nobody is inside", "inside is %s")
}

// none checks that no message such as a step names is on its way.
func (c *cluster) none(s Step) error {
	if at, _ := c.find(s); at >= 0 {
		return fmt.Errorf("there is %s", c.describe(c.Flying[at]))
	}
	return nil
}

// electing returns an error if instance 0 is no elector, or a step is about another.
func (c *cluster) electing(s Step) error {
	if !c.stack.Elects() || s.Instance != 0 {
		return errors.New("it elects no leaders")
	}
	return nil
}

// leads checks that exactly the nodes that a step names say that they lead.
func (c *cluster) leads(s Step) error {
	if err := c.electing(s); err != nil {
		return err
	}
	return same(c.electorate().Leaders(), s.Who, "nobody leads", "the leader is %s")
}

// believes checks whom a node takes for the leader.
func (c *cluster) believes(s Step) error {
	if err := c.electing(s); err != nil {
		return err
	}
	switch a := &c.Nodes[s.Node]; {
	case int(s.Node) >= c.stack.N():
		return errors.New("it is a server, and takes no part")
	case !a.Process.Up():
		return errors.New("it is down")
	case a.Belief.Leader != s.Peer:
		return fmt.Errorf("it %s", saysBelief(s.Node, a.Belief.Leader))
	}
	return nil
}

// same returns an error if the nodes that are something are not exactly those that were named: it says that
// nobody is, or which.
func same(are, named []nodes.ID, nobody, which string) error {
	switch {
	case slices.Equal(are, named):
		return nil
	case len(are) == 0:
		return errors.New(nobody)
	}
	return fmt.Errorf(which, list(are))
}
