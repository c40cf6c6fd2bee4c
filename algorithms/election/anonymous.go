package election

import (
	"fmt"
	"math"
	"strconv"

	"turnstile/nodes"
)

// nextOnly returns the next node of a ring: the one port of a node of an anonymous ring.
func nextOnly(c nodes.Config, id nodes.ID) []nodes.ID { return []nodes.ID{(id + 1) % nodes.ID(c.N)} }

// drawsOption is the number of identities that nodes draw from.
var drawsOption = nodes.Option{Name: "draws", Default: "n",
	Usage: "how many identities nodes of an anonymous ring draw from: a whole number, or n, for as many as " +
		"nodes",
	Check: checkDraws,
	Shows: []nodes.Shown{{Value: "2", Than: "n", Figure: "messages sent", Least: 1.3, Most: 20, N: 9}}}

// mostIdentities returns how many identities nodes draw from.
func mostIdentities(c nodes.Config) int {
	if k, err := strconv.Atoi(c.Value(drawsOption)); err == nil {
		return k
	}
	return max(2, c.N)
}

// checkDraws returns an error if, with this number of identities, hardly any round would end with a leader.
func checkDraws(c nodes.Config, value string) error {
	if value == "n" {
		return nil
	}
	k, err := strconv.ParseUint(value, 10, 31)
	switch {
	case err != nil:
		return fmt.Errorf("%q is neither a whole number nor n", value)
	case k < 2 && c.N > 1:
		return fmt.Errorf("%d identities for %d nodes: they would all draw the same; it takes 2 at least", k, c.N)
	case k < 1:
		return fmt.Errorf("no identities to draw from: it takes 1 at least")
	}
	// The mean number of identities that exactly one node draws bounds the probability that a round ends with a
	// leader.
	if once := float64(c.N) * math.Pow(1-1/float64(k), float64(c.N-1)); once < 0.001 {
		return fmt.Errorf("%d identities for %d nodes: not one round in a thousand would end with an identity "+
			"that only one node has drawn; take more, or n", k, c.N)
	}
	return nil
}

// itself stands for this node, as the leader of an anonymous ring.
const itself nodes.ID = 0

// An anonymousNode is the common part of the nodes of anonymous rings.
type anonymousNode struct {
	most   int      // identities to draw from
	leader nodes.ID // itself, nodes.Somebody or nodes.None
}

func newAnonymousNode(c nodes.Config) anonymousNode {
	return anonymousNode{mostIdentities(c), nodes.None}
}

// chooseIdentity draws an identity, from 1.
func (s *anonymousNode) chooseIdentity(env *nodes.Env) uint32 { return uint32(env.Choose(s.most)) + 1 }

// somebodyUnless returns the leader of a node: itself if me is true, and otherwise nodes.Somebody.
func somebodyUnless(me bool) nodes.ID {
	if me {
		return itself
	}
	return nodes.Somebody
}

// follow records the leader and reports a change.
func (s *anonymousNode) follow(env *nodes.Env, leader nodes.ID) {
	if leader == s.leader {
		return
	}
	switch s.leader = leader; leader {
	case itself:
		env.Lead(0)
	case nodes.Somebody:
		env.ElectSomebody(0)
	default:
		env.Elect(nodes.None, 0)
	}
}
