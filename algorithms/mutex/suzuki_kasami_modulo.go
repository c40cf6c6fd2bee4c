package mutex

import (
	"slices"
	"strconv"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// indexOption is the modulus of the request numbers of a node, or unbounded. Unbounded numbers need no
// further assumption.
var indexOption = nodes.Option{
	Name:    "index",
	Usage:   "modulus of the numbers of a node's requests",
	Values:  []string{unboundedIndex, "4", "8", "64"},
	Default: unboundedIndex,
	Shows: []nodes.Shown{
		{Value: unboundedIndex, Figure: "largest request.number", Least: 100, Most: 1000, For: 4 * time.Second},
		{Value: "4", Figure: "largest request.number", Least: 4, Most: 4},
		{Value: "8", Figure: "largest request.number", Least: 8, Most: 8},
		{Value: "64", Figure: "largest request.number", Least: 64, Most: 64, For: 4 * time.Second},
	},
}

const unboundedIndex = "unbounded"

// modulusOf returns the modulus of request numbers, or 0 if they are unbounded.
func modulusOf(c nodes.Config) uint64 {
	modulus, _ := strconv.ParseUint(c.Value(indexOption), 10, 64) // the options are valid
	return modulus
}

// besidesOfIndex returns the additional assumptions of bounded request numbers: requests arrive in time, in
// order, and once.
func besidesOfIndex(c nodes.Config) (safe, live nodes.Assumption) {
	if modulusOf(c) > 0 {
		live = nodes.FIFO | nodes.NoDuplication | nodes.NoPause | nodes.Timing
	}
	return 0, live
}

// ofUnbounded restricts an identity to unbounded request numbers. With a modulus, a late request may be taken
// for a newer one, and the token is then sent to a node that has not asked for it.
func ofUnbounded(of algorithm.Identity) algorithm.Identity {
	return algorithm.Identity{Says: of.Says + ", unless the index is bounded",
		Holds: func(c nodes.Config, t algorithm.Tally) bool { return modulusOf(c) > 0 || of.Holds(c, t) }}
}

// suzukiModulo is the algorithm of Suzuki and Kasami with request numbers modulo a constant, since an "index
// can be bound" (Lozes and Henrio). A node asks again only after it was served, so the other nodes' records
// of its number differ only by requests that have not arrived yet. Of two numbers, the later one is less than
// half the modulus ahead. So a request may be overtaken only by fewer later requests of its node than half
// the modulus.
type suzukiModulo struct {
	suzukiKasami
	modulus uint64
}

// later reports whether the number a comes after b.
func (s *suzukiModulo) later(a, b uint64) bool {
	ahead := (a + s.modulus - b) % s.modulus
	return ahead > 0 && 2*ahead < s.modulus
}

func (s *suzukiModulo) Request(env *nodes.Env) {
	s.suzukiKasami.Request(env)
	s.rn[env.Self()] %= s.modulus
}

func (s *suzukiModulo) Release(env *nodes.Env) {
	s.counting(env, s.token.LN, func() { s.suzukiKasami.Release(env) })
}

func (s *suzukiModulo) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case suzukiRequest:
		if s.later(m.Number, s.rn[from]) {
			s.note(from, m.Number)
		}
		if s.has && !s.wants && s.later(s.rn[from], s.token.LN[from]) {
			s.send(env, from)
		}
	case suzukiToken:
		s.counting(env, m.LN, func() { s.suzukiKasami.Receive(env, from, m) })
	}
}

// counting calls do while rn is changed: the number of each other node is LN+1 if it is later than the node's
// LN, and otherwise LN.
func (s *suzukiModulo) counting(env *nodes.Env, ln []uint64, do func()) {
	heard := slices.Clone(s.rn)
	for id := range s.rn {
		switch {
		case nodes.ID(id) == env.Self():
		case s.later(s.rn[id], ln[id]):
			s.rn[id] = ln[id] + 1
		default:
			s.rn[id] = ln[id]
		}
	}
	do()
	copy(s.rn, heard)
}
