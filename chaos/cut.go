package chaos

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"turnstile/nodes"
)

// A Cut says between which nodes no message passes. Nodes of one group reach each other, and nodes that are
// in no group reach all. Its zero value cuts nothing.
type Cut struct {
	groups [][]nodes.ID
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
		var group []nodes.ID
		for _, word := range strings.Split(part, ",") {
			first, last, isRange := strings.Cut(word, "-")
			if !isRange {
				last = first
			}
			from, err := strconv.ParseUint(first, 10, 20)
			to, err2 := strconv.ParseUint(last, 10, 20)
			if err != nil || err2 != nil || from > to {
				return fail("")
			}
			for id := nodes.ID(from); id <= nodes.ID(to); id++ {
				if _, twice := c.group[id]; twice {
					return fail(fmt.Sprintf(", since node %d is in it twice", id))
				}
				c.group[id] = i
				group = append(group, id)
			}
		}
		c.groups = append(c.groups, group)
	}
	return c, nil
}

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
	for id := range c.group {
		if int(id) >= total {
			return fmt.Errorf("there is no node %d to cut off: they are 0 to %d", c.most(), total-1)
		}
	}
	return nil
}

func (c Cut) most() (id nodes.ID) {
	for _, g := range c.groups {
		id = max(id, slices.Max(g))
	}
	return id
}

// String writes the cut as ParseCut reads it.
func (c Cut) String() string {
	var groups []string
	for _, ids := range c.groups {
		var words []string
		for i := 0; i < len(ids); {
			j := i
			for j+1 < len(ids) && ids[j+1] == ids[j]+1 {
				j++
			}
			word := fmt.Sprint(ids[i])
			if j > i {
				word += fmt.Sprintf("-%d", ids[j])
			}
			words, i = append(words, word), j+1
		}
		groups = append(groups, strings.Join(words, ","))
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
