package election

import (
	"fmt"
	"math"
	"strconv"

	"turnstile/nodes"
)

// nextOnly are the ports of an anonymous ring: the only one leads to the next node.
func nextOnly(c nodes.Config, id nodes.ID) []nodes.ID { return []nodes.ID{(id + 1) % nodes.ID(c.N)} }

// drawsOption says from how many identities nodes draw.
var drawsOption = nodes.Option{Name: "draws", Default: "n",
	Usage: "how many identities nodes of an anonymous ring draw from: a whole number, or n, for as many as " +
		"nodes",
	Check: checkDraws}

// mostIdentities returns how many identities nodes draw from.
func mostIdentities(c nodes.Config) int {
	if k, err := strconv.Atoi(c.Value(drawsOption)); err == nil {
		return k
	}
	return max(2, c.N)
}

// checkDraws says what is wrong with a number of identities.
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
	// The probability that a round ends with a leader is at most the mean number of identities drawn once.
	if once := float64(c.N) * math.Pow(1-1/float64(k), float64(c.N-1)); once < 0.001 {
		return fmt.Errorf("%d identities for %d nodes: of a thousand rounds not one would end with an identity "+
			"that only one node has drawn; take more, or n", k, c.N)
	}
	return nil
}

// itself is how a node of an anonymous ring notes that it leads.
const itself nodes.ID = 0

// A stranger is what the nodes of an anonymous ring have in common.
type stranger struct {
	most   int      // identities to draw from
	leader nodes.ID // itself, nodes.Somebody or nodes.None
}

func newStranger(c nodes.Config) stranger { return stranger{mostIdentities(c), nodes.None} }

// chooseIdentity draws an identity, from 1.
func (s *stranger) chooseIdentity(env *nodes.Env) uint32 { return uint32(env.Choose(s.most)) + 1 }

// somebodyUnless is the leader of a node, which may be itself.
func somebodyUnless(me bool) nodes.ID {
	if me {
		return itself
	}
	return nodes.Somebody
}

// follow takes note of who leads.
func (s *stranger) follow(env *nodes.Env, leader nodes.ID) {
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
