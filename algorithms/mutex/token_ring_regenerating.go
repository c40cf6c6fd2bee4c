package mutex

import (
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var tokenRingRegeneratingAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "token-ring-regenerating",
		New: func(c nodes.Config) nodes.Machine {
			return &tokenRingRegenerating{regeneration: newRegeneration[tokenMark](c),
				follower: newFollower(c), patience: c.Duration(lossTimeoutOption)}
		},
		Timers: []nodes.TimerName{{Kind: ringWatch.Kind, Name: "watch"}, censusTimerName},
		Messages: append([]nodes.MessageKind{{Zero: regeneratedToken{}, Token: true}, {Zero: ringRenewal{}}},
			censusKinds[tokenMark]()...),
		Options: []nodes.Option{lossTimeoutOption, retryOfRing},
		Edges:   func(c nodes.Config, id nodes.ID) []nodes.ID { return []nodes.ID{after(nil, c.N, id)} },
		Detects: "heartbeat:period=50ms,timeout=250ms",
		Fenced:  true,
		Follows: true,
		Safe:    nodes.PerfectDetector,
		Live:    nodes.Majority | nodes.NoAmnesia, // some nodes may forget their state if the others are a majority
		// A node suspects a loss after its timer for half of the loss timeout has run out twice.
		Grace: func(c nodes.Config) time.Duration {
			return 2*c.Duration(lossTimeoutOption) + 4*c.Duration(retryOption)
		},
		Circulates: true,
	},
	Aliases: []string{"ring-regenerating", "regenerating-ring"}, Family: "token",
	Source: "Le Lann, Distributed systems: towards a formal approach, IFIP Congress 1977, with " +
		"regeneration of a lost token; the census after Lamport, The part-time parliament, ACM TOCS 16(2), 1998",
	Summary: "A token ring whose token is made again when it is lost, once a census has found no other, " +
		"under a higher epoch; suspected nodes are skipped.",
	Mutex: &algorithm.Exclusion{
		Epochs:   epochsOf("token"),
		Minority: minorityKeeps,
		// A round of the token takes N(T+hold); a textbook considers it lost after twice that time.
		Silence: algorithm.Silence{Formula: "2N(T+hold)",
			Of: func(c nodes.Config, latency, hold time.Duration) time.Duration {
				return twoRounds(c, nodes.Delays{Message: latency, Hold: hold})
			}},
		Cost:   tokenRingAlgorithm.Mutex.Cost,
		Bypass: peers, // only under the condition Fair, since a node that is suspected wrongly is skipped
		Fair:   undisturbed,
	},
	Faults: withCensus(under(recovers, "the token is made again once a majority has answered",
		"lost-token")),
}

// lossTimeoutOption is how long the token may stay away before it is considered lost.
var lossTimeoutOption = nodes.Option{Name: "loss-timeout", Default: "1s",
	Usage: "how long a token may stay away until a census is taken",
	Check: func(c nodes.Config, value string) error {
		return algorithm.CheckTime(value, time.Millisecond, time.Hour, "1s")
	},
	Shows: []nodes.Shown{{Value: "3s", Than: "1s", Figure: "longest pause", Least: 2, Most: 6,
		For: 8 * time.Second, Faults: []string{"loss: 100%, kind: token, at: 500ms, for: 20ms"}}},
	Bound: &nodes.TimeoutBound{Formula: "2N(T+hold)", Covers: twoRounds}}

// retryOfRing matters only in a census, whose answers are lost here.
var retryOfRing = func() nodes.Option {
	o := retryOfCensus
	o.Shows = []nodes.Shown{{Value: "400ms", Than: "100ms", Figure: "ask sent", Least: 0.2, Most: 0.7,
		With: "loss-timeout=300ms", For: 3 * time.Second,
		Faults: []string{"loss: 100%, kind: token, at: 500ms, for: 20ms", "loss: 100%, kind: answer, at: 500ms"}}}
	return o
}()

// twoRounds is twice the time of one round of the token, in which each other node may enter once. A node
// checks for the token twice per loss timeout.
func twoRounds(c nodes.Config, d nodes.Delays) time.Duration { return 2 * d.Round(c.N) }

// tokenRingRegenerating is the ring of G. Le Lann, "Distributed systems: towards a formal approach", IFIP
// Congress 1977. He proposes that a node that has waited too long for the token makes it again. Here all have
// to agree first, since a token that stays away may only be slow.
//
// The token has an epoch, which rises each time the token is made again, and counts its hops in that epoch. A
// node passes the token to the next node that is not suspected. A node takes a census if it has not seen the
// token for the loss timeout, or if its failure detector suspects the node to which it passed the token. Then
// the token is made again (see regeneration, also for why exclusion holds). The node that makes it passes it
// on, so that the round goes on from where it was.
type tokenRingRegenerating struct {
	regeneration[tokenMark]
	follower
	silent   int  // number of half loss timeouts since the token was here
	watching bool // the timer ringWatch is set
	patience time.Duration
}

// ringRenewal gives its receiver a new epoch: for the token that it has, or for a new token.
type ringRenewal struct{ Epoch uint64 }

// ringWatch is the timer for half of the loss timeout.
var ringWatch = nodes.Timer{Kind: 1}

// Start makes the token of epoch 0 at node 0.
func (r *tokenRingRegenerating) Start(env *nodes.Env) {
	r.census.start(env)
	r.campaign(env)
	r.watch(env)
	if env.Self() == 0 {
		r.make(0)
		r.settle(env)
	}
}

// Recover makes the node join the others again. A token that it had before the crash is lost.
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
	r.complete(env, r.census.suspect(env, peer))
	if peer == r.leader {
		r.campaign(env)
	}
	if r.diedWith(peer) && r.leads(env) {
		r.search(env)
	}
}

// Lead implements nodes.Led: if nodes follow a leader, only the leader finds that the token is lost.
func (r *tokenRingRegenerating) Lead(_ *nodes.Env, leader nodes.ID, _ uint64) { r.leader = leader }

func (r *tokenRingRegenerating) Trust(env *nodes.Env, peer nodes.ID) {
	r.census.trust(env, peer)
	r.watch(env)
	r.settle(env) // the token can be passed to the peer again
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
	} else if r.silent++; r.silent >= 2 && r.leads(env) {
		r.search(env)
	}
}

func (r *tokenRingRegenerating) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case regeneratedToken:
		if r.take(env, m) {
			r.silent = 0
			r.settle(env)
		}
	case censusAsk:
		if r.census.answer(env, from, m, r.token.mark()) {
			r.silent = 0
		}
	case censusAnswer[tokenMark]:
		r.complete(env, r.census.hear(env, from, m))
		r.settle(env) // the answer may complete our joining, and so make the token here usable
	case ringRenewal:
		r.renewed(env, m.Epoch)
	default:
		nodes.Unexpected(r, m)
	}
}

// settle applies if the token is here: it lets our client in, or passes the token on if no client waits.
func (r *tokenRingRegenerating) settle(env *nodes.Env) {
	switch {
	case !r.usable() || r.inside:
	case !r.wants:
		r.pass(env)
	case !r.enter(env):
		r.search(env) // take a census to get another epoch: the numbers of this one are used up
	}
}

// pass sends the token to the next node that is not suspected. If all others are suspected, the token stays
// here.
func (r *tokenRingRegenerating) pass(env *nodes.Env) {
	n := nodes.ID(env.N())
	next := (env.Self() + 1) % n
	for r.census.suspected.Has(next) && next != env.Self() {
		next = (next + 1) % n
	}
	if next != env.Self() {
		env.Send(next, r.leaves(next))
	}
}

// watch sets the timer, unless so many nodes are suspected that a census cannot be completed.
func (r *tokenRingRegenerating) watch(env *nodes.Env) {
	if !r.watching && !r.census.minority(env) {
		r.watching = true
		env.SetTimer(ringWatch, r.patience/2, r.patience/2+r.patience/8)
	}
}

// search takes a census, unless one is open.
func (r *tokenRingRegenerating) search(env *nodes.Env) {
	if !r.census.open {
		r.silent = 0
	}
	r.complete(env, r.begin(env, r.token.mark()))
}

// complete gives the epoch of our census to the node that had the token last, if the census is complete.
func (r *tokenRingRegenerating) complete(env *nodes.Env, is bool) {
	if is {
		r.give(env, ringRenewal{r.census.epoch})
	}
}

// renewed handles an epoch that another node's census gives to us.
func (r *tokenRingRegenerating) renewed(env *nodes.Env, epoch uint64) {
	was := r.here
	if !r.renew(epoch) {
		return
	}
	r.silent = 0
	if !was && r.usable() {
		r.pass(env) // the round goes on from here
	}
	r.settle(env)
}
