package chaos

import (
	"fmt"
	"strings"

	"turnstile/nodes"
)

// A Cut says between which nodes no message passes. Nodes of one group reach each other, and nodes that are
// in no group reach all. Its zero value cuts nothing.
type Cut struct {
	groups []Group
	oneWay bool // only messages from the first group to the second are lost
	group  map[nodes.ID]int
}

// cutForms lists what ParseCut takes, for its errors.
const cutForms = "0-1/2-4 (nodes 0 and 1 from 2 to 4), 0/1/2 (each from the others), 0,3/1-2, " +
	"or 0>1-2 (what 0 sends to 1 and 2, and not what they send)"

// ParseCut reads a cut: groups of nodes with / between them, or two with >.
func ParseCut(text string) (Cut, error) {
	fail := func(why string) (Cut, error) {
		return Cut{}, fmt.Errorf("%q is no cut%s: write %s", text, why, cutForms)
	}
	c := Cut{oneWay: strings.Contains(text, ">"), group: map[nodes.ID]int{}}
	between := "/"
	if c.oneWay {
		between = ">"
	}
	parts := strings.Split(text, between)
	if len(parts) < 2 {
		return fail(", since it has one group")
	}
	if c.oneWay && len(parts) > 2 {
		return fail(", since one way leads from one group to one other")
	}
	for i, part := range parts {
		group, err := ParseGroup(part)
		if err != nil {
			return fail("")
		}
		for _, id := range group {
			if _, twice := c.group[id]; twice {
				return fail(fmt.Sprintf(", since node %d is in it twice", id))
			}
			c.group[id] = i
		}
		c.groups = append(c.groups, group)
	}
	return c, nil
}

// IsZero implements yaml.IsZeroer, and what encoding/json asks for omitzero.
func (c Cut) IsZero() bool { return c.None() }

// None reports whether it cuts nothing.
func (c Cut) None() bool { return len(c.groups) == 0 }

// Separates reports whether messages from one node to another are lost.
func (c Cut) Separates(from, to nodes.ID) bool {
	a, in := c.group[from]
	b, too := c.group[to]
	return in && too && a != b && (!c.oneWay || a == 0)
}

// Check says what is wrong with the cut of so many nodes, servers included, if anything is.
func (c Cut) Check(total int) error {
	for _, g := range c.groups {
		if err := g.Check(total); err != nil {
			return err
		}
	}
	return nil
}

// String writes the cut as ParseCut reads it.
func (c Cut) String() string {
	var groups []string
	for _, g := range c.groups {
		groups = append(groups, g.String())
	}
	if c.oneWay {
		return strings.Join(groups, ">")
	}
	return strings.Join(groups, "/")
}

// MarshalText writes the cut as ParseCut reads it.
func (c Cut) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText is ParseCut in place.
func (c *Cut) UnmarshalText(text []byte) (err error) {
	*c, err = ParseCut(string(text))
	return err
}

// Set is ParseCut in place, for flags.
func (c *Cut) Set(text string) error { return c.UnmarshalText([]byte(text)) }

// Type names the value of a flag.
func (c *Cut) Type() string { return "groups" }
