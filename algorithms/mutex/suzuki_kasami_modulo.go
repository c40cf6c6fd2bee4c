package mutex

import (
	"slices"
	"strconv"

	"turnstile/nodes"
	"turnstile/nodes/row"
)

// indexOption says how the requests of a node are numbered. Without a bound no further assumption is needed.
var indexOption = nodes.Option{
	Name:    "index",
	Usage:   "modulus of the numbers of a node's requests",
	Values:  []string{unboundedIndex, "4", "8", "64"},
	Default: unboundedIndex,
}

const unboundedIndex = "unbounded"

// modulusOf returns the modulus of request numbers; 0: they are unbounded.
func modulusOf(c nodes.Config) uint64 {
	modulus, _ := strconv.ParseUint(c.Value(indexOption), 10, 64) // the options are valid
	return modulus
}

// besidesOfIndex returns what a bounded index assumes: requests come in time, in order, and once.
func besidesOfIndex(c nodes.Config) (safe, live nodes.Assumption) {
	if modulusOf(c) > 0 {
		live = nodes.FIFO | nodes.NoDuplication | nodes.NoPause | nodes.Timing
	}
	return 0, live
}

// ofUnbounded returns an identity that holds only for unbounded numbers. With a bound, a request may pass
// for a later one, and the token is sent to a node that has not asked.
func ofUnbounded(of row.Identity) row.Identity {
	return row.Identity{Says: of.Says + ", unless the index is bounded",
		Holds: func(c nodes.Config, t row.Tally) bool { return modulusOf(c) > 0 || of.Holds(c, t) }}
}

// suzukiModulo is the algorithm of Suzuki and Kasami with request numbers modulo a number, since an "index
// can be bound" (Lozes and Henrio). A node asks again only when it was served, so its known numbers differ
// only as far as requests are late. The later of two numbers is the one that is less than half the modulus
// ahead. So fewer requests of the same node than that may overtake a request.
type suzukiModulo struct {
	suzukiKasami
	modulus uint64
}

// later reports whether a number comes after another.
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

// counting calls do with rn changed: a number of another node is LN+1 if it is later than LN, and otherwise
// LN.
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
