package mutex

import (
	"errors"
	"time"

	"turnstile/nodes"
)

// In the bakery a dead owner keeps all others waiting, since each entry reads its variables. D. W. Jones has
// nodes try several times, and then take a silent peer for failed. Likewise, a peer here that leaves more
// than --give-up tries in a row unanswered is skipped: it is not read any more until it is heard of.
//
// That is safe if the skipped peer is dead, even if it comes up later. Such a peer comes up outside, and
// before it takes a number it reads ours, which is lower; that read shows that it is up. But a slow owner, or
// one whose answers are lost, may be inside. So safety needs messages that are not lost and take bounded
// time, as in any algorithm that acts on silence. A pause of the holder breaks it: two are inside.
var (
	bakeryGiveUp = nodes.Option{Name: giveUpOption.Name, Usage: giveUpOption.Usage, Default: neverGivesUp,
		Shows: afterTries,
		Check: func(c nodes.Config, value string) error {
			switch {
			case value == neverGivesUp:
				return nil
			case value == "0":
				return errors.New("a peer has at least one try: write never if nobody is to be given up")
			case priorityOf(c) != byStamp:
				return errors.New("it needs --priority stamp: leave out --give-up or --priority")
			case trees[c.Value(readsOption)] != "":
				return errors.New("along a tree a node answers for those below it, so none can be skipped: leave it " +
					"out, or write --reads together")
			}
			return checkTries(c, value)
		}}
	bakeryRetryOption = nodes.Option{Name: retryOption.Name, Usage: retryOption.Usage,
		Default: retryOption.Default, Check: retryOption.Check,
		Shows: []nodes.Shown{{Value: "400ms", Than: "100ms", Figure: "longest pause", Least: 2.5, Most: 5,
			With: "give-up=3", For: 3 * time.Second, Faults: []string{"kill: 4, at: 100ms"}}},
		Bound: &nodes.TimeoutBound{Formula: "2T with --give-up",
			Covers: func(c nodes.Config, d nodes.Delays) time.Duration {
				if c.Value(bakeryGiveUp) == neverGivesUp {
					return 0
				}
				return 2 * d.Message
			}}}
)

// neverGivesUp is the value of bakeryGiveUp that skips nobody.
const neverGivesUp = "never"

// bakeryRetry is the timer of a node that waits for answers, if it gives up silent peers.
var bakeryRetry = nodes.Timer{Kind: 1}

// skipsIn reports whether dead owners are skipped.
func skipsIn(c nodes.Config) bool { return c.Value(bakeryGiveUp) != neverGivesUp }

// bakeryBesides returns further assumptions: bounded time if silent peers are skipped, otherwise no crash.
func bakeryBesides(c nodes.Config) (safe, live nodes.Assumption) {
	if skipsIn(c) {
		return nodes.NoLoss | nodes.Timing, nodes.Timing
	}
	return 0, nodes.NoCrash
}

// bakeryGrace is how long it takes to give up silent peers, for nodes that wait one after the other.
func bakeryGrace(c nodes.Config) time.Duration {
	if !skipsIn(c) {
		return 0
	}
	return 2 * time.Duration(triesOf(c)+2) * c.Duration(bakeryRetryOption)
}

// A skipper counts for how long peers have been silent.
type skipper struct {
	giveUp uint32 // tries; 0: nobody is given up
	retry  time.Duration
	silent []uint32 // by peer: tries since it was heard of
}

func newSkipper(c nodes.Config) skipper {
	if !skipsIn(c) {
		return skipper{}
	}
	return skipper{giveUp: uint32(triesOf(c)), retry: c.Duration(bakeryRetryOption), silent: make([]uint32, c.N)}
}

// heard notes that a peer is up.
func (s *skipper) heard(from nodes.ID) {
	if s.giveUp > 0 {
		s.silent[from] = 0
	}
}

// gone reports whether a peer is given up.
func (s *skipper) gone(id nodes.ID) bool { return s.giveUp > 0 && s.silent[id] > s.giveUp }

// wait sets the timer of a try while answers are missing.
func (s *skipper) wait(env *nodes.Env, missing bool) {
	switch {
	case s.giveUp == 0:
	case missing:
		env.SetTimer(bakeryRetry, s.retry, s.retry)
	default:
		env.StopTimer(bakeryRetry)
	}
}

// tryAgain reads unanswered peers again, or gives them up.
func (b *bakery) tryAgain(env *nodes.Env) {
	missing := b.client.WaitsFor()
	for id := range missing.All() {
		b.silent[id]++
		if !b.gone(id) {
			b.client.ReadAgain(env, id)
			continue
		}
		b.client.Forget(id)
		b.ahead[id] = 0
	}
	b.proceed(env)
}

// read reads from a peer the variable that the current step needs, unless the peer is given up.
func (b *bakery) read(env *nodes.Env, id nodes.ID) {
	if b.gone(id) {
		b.ahead[id] = 0
		return
	}
	b.client.Read(env, id, b.variable())
}
