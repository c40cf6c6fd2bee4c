package mutex

import (
	"time"

	"turnstile/nodes"
)

var tokenRingRegeneratingRow = nodes.Spec{
	Info: nodes.Info{
		Name:    "token-ring-regenerating",
		Aliases: []string{"ring-regenerating", "regenerating-ring"},
		Family:  "token",
		Source: "Le Lann, Distributed systems: towards a formal approach, IFIP Congress 1977, whose token is " +
			"made again; the census after Lamport, The part-time parliament, ACM TOCS 16(2), 1998",
		Summary: "A token ring whose token is made again when it is lost, once a census has found no other, " +
			"under a higher epoch; nodes that are suspected are skipped.",
	},
	New: func(c nodes.Config) nodes.Machine {
		return &tokenRingRegenerating{census: newCensus[tokenMark](c), patience: c.Duration(lossTimeoutOption),
			gave: nodes.None}
	},
	Messages: append([]nodes.Kind{{Zero: regeneratedToken{}, Token: true}, {Zero: ringRenewal{}}},
		censusKinds[tokenMark]()...),
	Options: []nodes.Option{lossTimeoutOption, retryOption},
	Detects: "heartbeat:period=50ms,timeout=250ms",
	Fenced:  true,
	Safe:    nodes.PerfectDetector,
	Live:    nodes.Majority | nodes.NoAmnesia, // some may forget, and ask the others: not a majority
	Cost:    tokenRingRow.Cost,
	// No Bypass: who is suspected is skipped, even wrongly.
	// A loss is suspected after the loss timeout, by a clock that is read twice in it.
	Grace: func(c nodes.Config) time.Duration {
		return 2*c.Duration(lossTimeoutOption) + 4*c.Duration(retryOption)
	},
	Circulates: true,
	Faults: withCensus(under(recovers, dossierFT+"what is lost is made again once a majority has answered",
		"lost-token")),
}

// lossTimeoutOption is after how much silence a token is taken for lost.
var lossTimeoutOption = nodes.Option{Name: "loss-timeout", Default: "1s",
	Usage: "how long a token may stay away until a census is taken",
	Check: func(c nodes.Config, value string) error {
		return nodes.CheckTime(value, time.Millisecond, time.Hour, "1s")
	}}

// tokenRingRegenerating is the ring of G. Le Lann, "Distributed systems: towards a formal approach", IFIP
// Congress 1977, in which a token that is lost is made again, as he proposes: whoever has waited for it too
// long sees to that. Here all have to agree first, since a token that stays away may only be slow.
//
// The token has an epoch, which rises each time it is made, and counts its hops in it. A node passes it to
// the next that is not suspected. A node that has not seen the token for the loss timeout, or whose failure
// detector suspects the one to which it was passed, takes a census (see census). Everyone reports which token
// it had last. Whoever had the latest one, by epoch and hops, is given the new epoch: if it has the token
// still, as when it is inside for long, that goes on under it; otherwise it makes one and passes it on, so
// that the round goes on from where it was. A node that has promised an epoch swallows tokens of lower ones,
// and keeps its own, unused, until it is given the epoch or a later token comes.
//
// There is one token in an epoch: one node completes its census, and gives it once, to one node, which takes
// it once, since its own token is of that epoch then. Its copies have no more hops than the last it had.
//
// With a perfect failure detector there is one token that can be used. When an epoch is complete no node that
// is up heeds lower ones any more (census, 3). So a token of a lower epoch, here or on its way, is of no use
// to anybody. Nor is anybody inside by one but the node that is given the epoch. For who is inside has the
// token, and only its latest holder, of the highest epoch, can be inside: all others had passed it on. That
// node was up, so it has answered, and with a later token than all others; it passes the new one on when it
// leaves.
//
// Without a perfect detector a node that stands still inside comes back to a ring that has another token:
// two are inside. Each grant is fenced: epoch, then the number of the grant in it. So the resource refuses
// what is written under the old one as soon as the new one has let anybody in, whatever was suspected. And
// since it takes a majority to make a token, only one side of a partition gets one.
type tokenRingRegenerating struct {
	census   census[tokenMark]
	token    regeneratedToken // as it was here last
	here     bool
	wants    bool     // our client waits or is inside
	inside   bool     // our client is
	gave     nodes.ID // whom we passed the token or gave an epoch to, last
	silent   int      // how often half of the loss timeout is over since the token was here
	watching bool     // the timer of that runs
	patience time.Duration
}

type (
	// regeneratedToken is the privilege, in its epoch the Hops-th time and after so many Grants.
	regeneratedToken struct{ Epoch, Hops, Grants uint64 }
	// ringRenewal gives its receiver an epoch, for its token or a new one.
	ringRenewal struct{ Epoch uint64 }
)

// ringWatch is the timer for half of the loss timeout.
var ringWatch = nodes.Timer{Kind: 1}

// Start has node 0 make the token of epoch 0.
func (r *tokenRingRegenerating) Start(env *nodes.Env) {
	r.census.start(env)
	r.watch(env)
	if env.Self() == 0 {
		r.token.Hops = 1
		r.here = true
		r.settle(env)
	}
}

// Recover has the node join the others again. If it had the token, that is lost.
func (r *tokenRingRegenerating) Recover(env *nodes.Env, saved nodes.Message) {
	r.census.recover(env, saved)
	r.watch(env)
}

func (r *tokenRingRegenerating) Request(env *nodes.Env) {
	r.wants = true
	r.settle(env)
}

func (r *tokenRingRegenerating) Release(env *nodes.Env) {
	r.wants, r.inside = false, false
	r.settle(env)
}

func (r *tokenRingRegenerating) Suspect(env *nodes.Env, peer nodes.ID) {
	r.give(env, r.census.suspect(env, peer))
	if peer == r.gave && !r.here {
		r.search(env) // it died with the token, for all we know
	}
}

func (r *tokenRingRegenerating) Trust(env *nodes.Env, peer nodes.ID) {
	r.census.trust(env, peer)
	r.watch(env)
	r.settle(env) // to whom it can be passed again
}

func (r *tokenRingRegenerating) Timeout(env *nodes.Env, t nodes.Timer) {
	if t == censusTimer {
		r.census.again(env)
		return
	}
	r.watching = false
	r.watch(env)
	if r.usable() {
		r.silent = 0
	} else if r.silent++; r.silent >= 2 {
		r.search(env)
	}
}

func (r *tokenRingRegenerating) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case regeneratedToken:
		r.take(env, m)
	case censusAsk:
		if r.census.answer(env, from, m, r.mark()) {
			r.silent = 0
		}
	case censusAnswer[tokenMark]:
		r.give(env, r.census.hear(env, from, m))
		r.settle(env) // if we have joined
	case ringRenewal:
		r.renew(env, m.Epoch)
	default:
		nodes.Unexpected(r, m)
	}
}

// take takes a token, unless it is stale or a copy.
func (r *tokenRingRegenerating) take(env *nodes.Env, m regeneratedToken) {
	if m.Epoch < r.census.epoch || !r.mark().before(tokenMark{m.Epoch, m.Hops}) {
		return
	}
	r.census.raise(env, m.Epoch)
	r.token, r.here = m, true
	r.silent = 0
	r.settle(env)
}

func (r *tokenRingRegenerating) mark() tokenMark { return tokenMark{r.token.Epoch, r.token.Hops} }

// usable reports whether a token is here under which somebody may enter.
func (r *tokenRingRegenerating) usable() bool {
	return r.here && r.token.Epoch == r.census.epoch && !r.census.joining
}

// settle lets our client in, or passes the token on, if it is here.
func (r *tokenRingRegenerating) settle(env *nodes.Env) {
	switch {
	case !r.usable() || r.inside:
	case !r.wants:
		r.pass(env)
	case r.token.Grants == mostSerial(env.N()):
		r.search(env) // the numbers of this epoch are used up
	default:
		r.inside = true
		r.token.Grants++
		env.GrantFenced(fence(env.N(), r.token.Epoch, r.token.Grants))
	}
}

// pass sends the token to the next node that is not suspected; if there is none, it stays.
func (r *tokenRingRegenerating) pass(env *nodes.Env) {
	n := nodes.ID(env.N())
	next := (env.Self() + 1) % n
	for r.census.suspected.Has(next) && next != env.Self() {
		next = (next + 1) % n
	}
	if next == env.Self() {
		return
	}
	r.here, r.gave = false, next
	env.Send(next, regeneratedToken{r.token.Epoch, r.token.Hops + 1, r.token.Grants})
}

// watch has the timer run, unless so many are suspected that no census can be complete.
func (r *tokenRingRegenerating) watch(env *nodes.Env) {
	if !r.watching && !r.census.minority(env) {
		r.watching = true
		env.SetTimer(ringWatch, r.patience/2, r.patience/2+r.patience/8)
	}
}

// search takes a census, unless one is open.
func (r *tokenRingRegenerating) search(env *nodes.Env) {
	if r.census.open {
		return
	}
	r.silent = 0
	r.give(env, r.census.begin(env, r.mark()))
}

// give gives our epoch to the one who had the token last, if our census is complete.
func (r *tokenRingRegenerating) give(env *nodes.Env, complete bool) {
	if !complete {
		return
	}
	r.gave = lastHolder(&r.census)
	env.Send(r.gave, ringRenewal{r.census.epoch})
}

// renew puts the token under a new epoch, or makes one.
func (r *tokenRingRegenerating) renew(env *nodes.Env, epoch uint64) {
	if epoch != r.census.epoch || r.token.Epoch >= epoch {
		return // late, or a copy
	}
	was := r.here
	r.token, r.here = regeneratedToken{Epoch: epoch, Hops: 1}, true
	r.silent = 0
	if !was && r.usable() {
		r.pass(env) // it went on from here
	}
	r.settle(env)
}

// HasToken reports whether a token is here that is not known to be stale.
func (r *tokenRingRegenerating) HasToken() bool { return r.usable() }
