package mutex

import (
	"errors"
	"fmt"
	"time"

	"turnstile/algorithms/register"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// bakeryPriority is the option --priority of the bakery.
var bakeryPriority = nodes.Option{
	Name:    priorityOption.Name,
	Usage:   priorityOption.Usage,
	Values:  priorityOption.Values,
	Default: priorityOption.Default,
	Shows:   priorityOption.Shows,
	Check: func(c nodes.Config, _ string) error {
		if priorityOf(c) != byStamp && c.Value(readsOption) != together {
			return errors.New("a node that claims to be first reads all peers at once, so leave --reads out, or " +
				"write --priority stamp")
		}
		return nil
	},
}

// bakeryCost is the cost of an entry. With a priority other than stamps a node reads all twice.
func bakeryCost(c nodes.Config) algorithm.Cost {
	switch {
	case priorityOf(c) != byStamp:
		return rereading("4(N-1), plus 2 for each repeated read", 4*peers(c))
	case trees[c.Value(readsOption)] != "":
		return rereading("6(N-1), plus 2 for each repeated read, or 2(N-1) to read all", 6*peers(c))
	}
	return rereading("6(N-1), plus 2 for each repeated read", 6*peers(c))
}

// bakeryRanked is the bakery with a priority other than numbers. For Ricart and Agrawala's algorithm and for
// this one, D. W. Jones, notes of 22C:116, University of Iowa, 2002, has "the same alternatives".
//
// With the rules of the bakery alone two would enter together. Variables do not tell whether a node waits or
// is inside, which does no harm if later nodes take higher numbers. With other priorities a later node may
// come first: it finds nobody before it, and enters beside a node that is inside.
//
// So there is one more rule here. A node that finds nobody before it claims to be first, by its variable,
// and reads all once more; it enters when no other node claims to be first. If two were inside, the later to
// claim would have read the claim of the other, which stands until the other leaves. A node that reads the
// claim of a node before it withdraws its own claim, and waits for that node. So the first of the claiming
// nodes never withdraws, and enters. No hand is raised, since no number depends on the numbers of others.
//
// Numbers are ranking numbers: they do not change while a node waits. A node outside still shows the number
// that it left with, and a node inside has read all of these: so a node that leaves later has the higher
// one.
type bakeryRanked struct {
	ranking
	reread time.Duration
	own    register.Memory // one variable: the number, and a bakeryStanding
	client register.Client
	ours   stamp // our request
	step   bakeryStep
	ahead  nodes.Set // peers that were read and keep us waiting
}

// A bakeryStanding is in the low bits of a node's variable; the node's number is in the other bits.
type bakeryStanding uint64

const (
	standsOutside bakeryStanding = iota
	standsWaiting
	standsFirst // is inside, or claims that nobody comes before it

	standingBits = 2
)

func newBakeryRanked(c nodes.Config) *bakeryRanked {
	return &bakeryRanked{ranking: ranking{by: priorityOf(c)}, reread: c.Duration(rereadOption),
		own: register.MemoryOf(1)}
}

func (b *bakeryRanked) Request(env *nodes.Env) {
	b.ours = stamp{b.next(), env.Self()}
	b.begin(env, bakeryWaits, standsWaiting)
}

func (b *bakeryRanked) Release(*nodes.Env) {
	b.step = bakeryOutside
	b.leave()
	b.show(b.last, standsOutside)
}

// show sets our variable.
func (b *bakeryRanked) show(number uint64, s bakeryStanding) {
	b.own.Set(0, number<<standingBits|uint64(s))
}

// begin begins a step: it shows our standing, and reads the variables of all.
func (b *bakeryRanked) begin(env *nodes.Env, step bakeryStep, s bakeryStanding) {
	b.step = step
	b.show(b.ours.Clock, s)
	b.ahead.Clear()
	b.client.Begin(env)
	b.client.ReadAll(env, 0)
	b.proceed(env)
}

func (b *bakeryRanked) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m.(type) {
	case register.Read:
		b.own.Serve(env, from, m)
	case register.Value:
		if value, awaited := b.client.Take(from, m); awaited {
			b.see(env, stamp{value >> standingBits, from}, bakeryStanding(value%(1<<standingBits)))
		}
	default:
		nodes.Unexpected(b, m)
	}
}

// see records the number and standing of a peer.
func (b *bakeryRanked) see(env *nodes.Env, theirs stamp, s bakeryStanding) {
	b.meet(theirs.Clock)
	b.ahead.Remove(theirs.ID)
	precedes := s != standsOutside && b.by.before(theirs, b.ours)
	switch {
	case b.step == bakeryWaits && precedes:
		b.ahead.Add(theirs.ID)
	case b.step == bakeryClaims && s == standsFirst && precedes:
		b.begin(env, bakeryWaits, standsWaiting)
		return
	case b.step == bakeryClaims && s == standsFirst:
		b.ahead.Add(theirs.ID)
	}
	b.proceed(env)
}

// proceed goes on once all answers have come.
func (b *bakeryRanked) proceed(env *nodes.Env) {
	switch {
	case b.client.Awaited():
	case !b.ahead.Empty():
		env.SetTimer(bakeryReread, b.reread, b.reread)
	case b.step == bakeryWaits:
		b.begin(env, bakeryClaims, standsFirst)
	default:
		b.step = bakeryInside
		env.Grant()
	}
}

// Timeout reads the peers again that keep us waiting.
func (b *bakeryRanked) Timeout(env *nodes.Env, _ nodes.Timer) {
	for id := range b.ahead.All() {
		b.client.Read(env, id, 0)
	}
}

// WaitsFor names the peers that have yet to answer, and the peers ahead.
func (b *bakeryRanked) WaitsFor() nodes.Set {
	all := b.client.WaitsFor()
	for id := range b.ahead.All() {
		all.Add(id)
	}
	return all
}

// Standing tells the node's number.
func (b *bakeryRanked) Standing() string {
	switch b.step {
	case bakeryWaits:
		return fmt.Sprintf("it has the number %d", b.ours.Clock)
	case bakeryClaims:
		return fmt.Sprintf("it has the number %d, and says that nobody comes before it", b.ours.Clock)
	}
	return ""
}
