package effect

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"turnstile/nodes"
	"turnstile/nodes/port"
)

// A Cut says between which nodes no message passes. Nodes of one group reach each other, and nodes that are
// in no group reach all. Its zero value cuts nothing.
type Cut struct {
	groups []nodes.Group
	hosts  []nodes.Group // hosts[i] are the hosts with the nodes of groups[i]; nil: the cut names no hosts
	oneWay bool          // only messages from the first group to the second are lost
	ring   nodes.Group
	reach  int // how many nodes each node of the ring reaches on either side
	side   int // side of a square of nodes, where each node reaches its row and its column; 0: no square
	// Word is for groups that are not resolved yet: bridge, ring, or a target to cut off from all others.
	Word string
	Of   Target // the target that Word names
	// members are the sides of a cut between brokers, between servers, or between servers and the clients in Of;
	// empty: a cut between nodes.
	members []Target
	group   map[nodes.ID]int // the index of each node's group, or its place in the ring
}

// Words for cuts other than targets.
const (
	BridgeCut = "bridge"
	RingCut   = "ring"
	GridCut   = "grid"
)

// cutForms describes the texts that ParseCut reads, for its errors.
const cutForms = "0-1/2-4 (nodes 0 and 1 from 2 to 4), 0/1/2 (each from the others), " +
	"0,3/1-2, 0>1-2 (only messages from 0 to 1 and 2), host 0/host 1-3, bridge, ring, grid, " +
	"or nodes to cut off from all others, as in minority or holder; for a service holder/servers, " +
	"server 0/server 1-2; for brokers broker 0/broker 1-2"

// ParseCut reads a cut: groups of nodes or hosts with / between them, or two with >, or a word.
func ParseCut(text string) (Cut, error) {
	fail := func(why string) (Cut, error) {
		return Cut{}, fmt.Errorf("%q is not a cut%s: write %s", text, why, cutForms)
	}
	sides := strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == '>' })
	if slices.ContainsFunc(sides, namesMembers) {
		return parseMemberCut(text)
	}
	if !strings.ContainsAny(text, "/>") {
		return parseCutWord(text, fail)
	}
	oneWay := strings.Contains(text, ">")
	between := "/"
	if oneWay {
		between = ">"
	}
	parts := strings.Split(text, between)
	if oneWay && len(parts) > 2 {
		return fail(", since one way leads from one group to one other")
	}
	groups, hosts := make([]nodes.Group, len(parts)), make([]nodes.Group, len(parts))
	taken := [2]map[nodes.ID]bool{{}, {}}
	for i, part := range parts {
		list, of, err := ParseHosts(part)
		what, into, kind := "host", hosts, 1
		if !of {
			list, err = nodes.ParseGroup(part)
			what, into, kind = "node", groups, 0
		}
		if err != nil {
			return fail("")
		}
		for _, id := range list {
			if taken[kind][id] {
				return fail(fmt.Sprintf(", since %s %d is in it twice", what, id))
			}
			taken[kind][id] = true
		}
		into[i] = list
	}
	c := CutInto(oneWay, groups...)
	if len(taken[1]) > 0 {
		c.hosts = hosts
	}
	return c, nil
}

// parseCutWord reads a cut that is written without groups.
func parseCutWord(text string, fail func(string) (Cut, error)) (Cut, error) {
	list, isRing := strings.CutPrefix(text, RingCut+":")
	side, isGrid := strings.CutPrefix(text, GridCut+":")
	target, err := ParseTarget(text)
	switch {
	case text == BridgeCut, text == RingCut, text == GridCut:
		return Cut{Word: text}, nil
	case isGrid:
		side, err := strconv.Atoi(side)
		if err != nil || side < 2 || side > mostSide {
			return fail(fmt.Sprintf(", since a grid has a side of 2 to %d nodes, as in grid:3", mostSide))
		}
		return Cut{side: side}, nil
	case isRing:
		var ring nodes.Group
		for _, word := range strings.Split(list, ",") {
			id, err := nodes.ParseGroup(word)
			if err != nil || len(id) > 1 || slices.Contains(ring, id[0]) {
				return fail(", since a ring lists each node once, as in ring:0,2,1")
			}
			ring = append(ring, id...)
		}
		return RingOf(ring), nil
	case err == nil && target.Word != "":
		return CutOff(target), nil
	case err == nil:
		return fail(", since it has one group")
	}
	return fail("")
}

// CutInto returns the cut between groups.
func CutInto(oneWay bool, groups ...nodes.Group) Cut {
	c := Cut{groups: groups, oneWay: oneWay, group: map[nodes.ID]int{}}
	for i, g := range groups {
		for _, id := range g {
			c.group[id] = i
		}
	}
	return c
}

// RingOf returns the cut in which every node of a ring reaches its nearest neighbors. Each node and its
// neighbors are a majority, but each node has a different one.
func RingOf(ring nodes.Group) Cut {
	c := Cut{ring: ring, reach: (len(ring)/2 + 1) / 2, group: map[nodes.ID]int{}}
	for i, id := range ring {
		c.group[id] = i
	}
	return c
}

// mostSide bounds the side of a grid.
const mostSide = 1000

// GridOf returns a cut of nodes 0 to n-1. They form a square, row by row, and a node reaches only the nodes
// of its row and of its column. It returns false unless n is the square of 2 or more.
func GridOf(n int) (Cut, bool) {
	side := int(math.Round(math.Sqrt(float64(n))))
	return Cut{side: side}, side > 1 && side*side == n
}

// Sides returns the groups that are cut off from each other both ways; nil: the cut is one way, or has no
// groups.
func (c Cut) Sides() []nodes.Group {
	if c.oneWay {
		return nil
	}
	return c.groups
}

// Links reports whether the cut lists groups of nodes: it is no word, ring or grid.
func (c Cut) Links() bool { return len(c.groups) > 0 }

// Named returns the nodes that a cut of groups names.
func (c Cut) Named() (all nodes.Group) {
	for _, g := range c.groups {
		all = append(all, g...)
	}
	return all
}

// Exchanged returns a cut of groups with two nodes swapped.
func (c Cut) Exchanged(a, b nodes.ID) Cut {
	var groups []nodes.Group
	for _, g := range c.groups {
		var group nodes.Group
		for _, id := range g {
			switch id {
			case a:
				id = b
			case b:
				id = a
			}
			group = append(group, id)
		}
		slices.Sort(group)
		groups = append(groups, group)
	}
	return CutInto(c.oneWay, groups...)
}

// IsZero reports whether the cut cuts nothing.
func (c Cut) IsZero() bool {
	return len(c.groups) == 0 && len(c.ring) == 0 && c.side == 0 && c.Word == "" && len(c.members) == 0
}

// Separates reports whether messages from one node to another are lost. The groups must be resolved.
func (c *Cut) Separates(from, to nodes.ID) bool {
	if side := nodes.ID(c.side); side > 0 {
		return c.Names(from) && c.Names(to) && from/side != to/side && from%side != to%side
	}
	a, in := c.group[from]
	b, too := c.group[to]
	if len(c.ring) > 0 {
		apart := max(a-b, b-a)
		return in && too && min(apart, len(c.ring)-apart) > c.reach
	}
	return in && too && a != b && (!c.oneWay || a == 0)
}

// Parts reports whether no message passes between two nodes either way, given the victim that the run
// determined, or None.
func (c *Cut) Parts(a, b, victim nodes.ID) bool {
	return c.Blocks(a, b, victim) && c.Blocks(b, a, victim)
}

// Part returns a number for the part of a node, given the victim as in Parts. Nodes with the same number
// reach each other, and Parts treats them alike.
func (c *Cut) Part(id, victim nodes.ID) int {
	group, in := c.group[id]
	switch {
	case c.Of.ByRun() && id == victim:
		return 1
	case c.Of.ByRun():
		return 0
	case c.side > 0 && c.Names(id):
		return 1 + int(id)
	case in:
		return 1 + group
	}
	return 0
}

// Blocks reports whether messages from one node to another are lost, given the victim as in Parts.
func (c *Cut) Blocks(from, to, victim nodes.ID) bool {
	if c.Of.ByRun() {
		return from != to && (from == victim || to == victim)
	}
	return c.Separates(from, to)
}

// Role returns the role of the members that the cut separates: nodes, unless a side names brokers or servers.
func (c Cut) Role() port.Role {
	if len(c.members) == 0 {
		return port.Node
	}
	return c.members[0].Role
}

// CutOff cuts nodes off from all others.
func CutOff(of Target) Cut { return Cut{Word: of.String(), Of: of} }

// Names reports whether a node is in one of the groups, in the ring or in the grid.
func (c *Cut) Names(id nodes.ID) bool {
	if c.side > 0 {
		return int(id) < c.side*c.side
	}
	_, in := c.group[id]
	return in
}

// Check returns an error if the cut names nodes that a run with total nodes, servers included, does not have.
func (c *Cut) Check(total int) error {
	if c.side*c.side > total {
		return fmt.Errorf("a grid of %d by %d takes %d nodes, and there are %d", c.side, c.side, c.side*c.side,
			total)
	}
	for _, g := range append(slices.Clip(c.groups), c.ring, c.Of.List) {
		if err := g.Check(total); err != nil {
			return err
		}
	}
	return nil
}

// Short writes the cut for people: only the first few of many nodes.
func (c Cut) Short() string {
	if len(c.ring) > nodes.MostNamed {
		return fmt.Sprintf("%s:%v,... (%d nodes)", RingCut, c.ring[:nodes.MostNamed/2], len(c.ring))
	}
	return c.write(nodes.Group.Short)
}

// String writes the cut as ParseCut reads it.
func (c Cut) String() string { return c.write(nodes.Group.String) }

func (c Cut) write(group func(nodes.Group) string) string {
	var groups []string
	for i, g := range c.groups {
		if c.hosts != nil && len(c.hosts[i]) > 0 {
			groups = append(groups, hostsText(c.hosts[i]))
		} else {
			groups = append(groups, group(g))
		}
	}
	switch {
	case len(c.members) > 0:
		if !c.Of.IsZero() {
			groups = append(groups, c.Of.String())
		}
		for _, side := range c.members {
			groups = append(groups, side.String())
		}
	case c.Word != "":
		return c.Word
	case c.side > 0:
		return fmt.Sprintf("%s:%d", GridCut, c.side)
	case len(c.ring) > 0:
		for _, id := range c.ring {
			groups = append(groups, fmt.Sprint(id))
		}
		return RingCut + ":" + strings.Join(groups, ",")
	case c.oneWay:
		return strings.Join(groups, ">")
	}
	return strings.Join(groups, "/")
}

// MarshalText writes the cut as ParseCut reads it.
func (c Cut) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText sets c to the cut that ParseCut reads. Empty text is the zero Cut.
func (c *Cut) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*c = Cut{}
		return nil
	}
	*c, err = ParseCut(string(text))
	return err
}

// namesMembers reports whether a side of a cut names brokers or servers.
func namesMembers(side string) bool {
	words := strings.Fields(side)
	return len(words) > 0 && slices.Contains([]string{port.Broker.String(), port.Server.String(), AllServers},
		words[0])
}

// memberCutForms describes the texts that parseMemberCut reads, for its errors.
const memberCutForms = "holder/servers, 0-2/server 1, 3/server leader (clients from servers), " +
	"server 0/server 1-2, server leader/servers, server of holder/servers (a server from others), " +
	"broker 0/broker 1-2 (the routes between brokers)"

// parseMemberCut reads a cut of servers or brokers: two sides with / between them, or more if no side names
// clients.
func parseMemberCut(text string) (c Cut, err error) {
	fail := func(why string) (Cut, error) {
		return Cut{}, fmt.Errorf("%q is not a cut of servers or brokers%s: write %s", text, why, memberCutForms)
	}
	if strings.Contains(text, ">") {
		return fail(", since connections are cut both ways")
	}
	parts := strings.Split(text, "/")
	taken := map[port.Member]bool{}
	for _, part := range parts {
		part = strings.TrimSpace(part)
		if !namesMembers(part) {
			if !c.Of.IsZero() {
				return fail("")
			}
			if c.Of, err = ParseTarget(part); err != nil {
				return fail("")
			}
			continue
		}
		side := Target{Role: port.Server, Word: AllServers}
		if part != AllServers {
			if side, err = ParseTarget(part); err != nil {
				return fail("")
			}
		}
		for _, id := range side.List {
			m := port.Member{Role: side.Role, I: int(id)}
			if taken[m] {
				return fail(fmt.Sprintf(", since %v is in it twice", m))
			}
			taken[m] = true
		}
		c.members = append(c.members, side)
	}
	return c, c.checkMembers(len(parts), fail)
}

// checkMembers returns an error if the sides of a cut of servers or brokers do not fit together.
func (c *Cut) checkMembers(parts int, fail func(why string) (Cut, error)) (err error) {
	words := slices.ContainsFunc(c.members, func(t Target) bool { return t.Word != "" })
	others := slices.ContainsFunc(c.members, func(t Target) bool { return t.Role != c.Role() })
	switch clients := !c.Of.IsZero(); {
	case parts < 2:
		_, err = fail(", since it has one side")
	case others:
		_, err = fail(", since it has servers on one side and brokers on another")
	case clients && c.Role() == port.Broker:
		_, err = fail(", since it has nodes on one side and brokers on another: write broker on each side")
	case clients && len(c.members) != 1:
		_, err = fail(", since it has clients on one side and servers on more")
	case clients && c.members[0].Word == ServerOfHolder && c.Of.Word != "holder":
		_, err = fail(", since only the holder can be cut off from its server: name the server by its number")
	case !clients && words && (len(c.members) > 2 || c.members[0].Word == c.members[1].Word):
		_, err = fail("")
	}
	return err
}
