package mutex

import (
	"slices"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var suzukiKasamiFTAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "suzuki-kasami-ft",
		New: func(c nodes.Config) nodes.Machine {
			return &suzukiKasamiFT{regeneration: newRegeneration[suzukiReport](c), rn: make([]uint64, c.N),
				patience: c.Duration(lossTimeoutOption)}
		},
		Timers: []nodes.TimerName{{Kind: suzukiWait.Kind, Name: "wait"}, censusTimerName},
		Messages: append([]nodes.MessageKind{{Zero: suzukiRequest{}, Broadcast: true},
			{Zero: skftToken{}, Token: true}, {Zero: suzukiRenewal{}}}, censusKinds[suzukiReport]()...),
		Options: []nodes.Option{lossTimeoutOption, retryOfTurn},
		Detects: "heartbeat:period=50ms,timeout=250ms",
		Fenced:  true,
		Safe:    nodes.PerfectDetector,
		Live:    nodes.Majority | nodes.NoAmnesia, // some nodes may forget their state if the others are a majority
		// A waiting node suspects a loss, after the loss timeout at the latest.
		Grace: func(c nodes.Config) time.Duration {
			return 2*c.Duration(lossTimeoutOption) + 4*c.Duration(retryOption)
		},
	},
	Aliases: []string{"sk-ft"}, Family: "token",
	Source: "Suzuki and Kasami, A distributed mutual exclusion algorithm, ACM TOCS 3(4), 1985; the census " +
		"after Lamport, The part-time parliament, ACM TOCS 16(2), 1998",
	Summary: "Suzuki and Kasami's token, made again when it is lost, once a census has found no other, under " +
		"a higher epoch and with a queue of all waiting nodes; requests are sent again.",
	Mutex: &algorithm.Exclusion{
		Epochs:   epochsOf("token"),
		Minority: minorityKeeps,
		Cost: func(c nodes.Config) algorithm.Cost {
			cost := suzukiKasamiAlgorithm.Mutex.Cost(c)
			if c.N > 1 { // a node that waits long asks again
				cost.Saturated, cost.Any = algorithm.Unbounded(0), algorithm.Unbounded(0)
			}
			return cost
		},
		Identities: []algorithm.Identity{{ // requests that are sent again come on top
			Says: "(N-1) token <= request, and token > 0 if request > 0, unless a census was taken",
			Holds: func(c nodes.Config, t algorithm.Tally) bool {
				token, request := t.Sent["token"], t.Sent["request"]
				return t.Sent["ask"] > 0 || uint64(peers(c))*token <= request && (token > 0) == (request > 0)
			},
		}},
		Bypass: peers, // suspected nodes are passed over, even wrongly
		Fair:   undisturbed,
	},
	Faults: withCensus(under(recovers, "the token is made again, and requests are sent again under the same "+
		"number", "lost-token", "lost-request")),
}

// suzukiKasamiFT is the algorithm of I. Suzuki and T. Kasami, "A distributed mutual exclusion algorithm",
// ACM TOCS 3(4), 1985 (see suzukiKasami), with a token that is made again when it is lost.
//
// A waiting node sends its request again under the same number, less and less often. A node takes a census
// when it has waited for the loss timeout, or when the failure detector of the node that sent the token last
// suspects the receiver. Then the token is made again (see regeneration, also for why exclusion holds). Each
// node also reports the number of its latest request, and of its latest request that was served. The node
// that makes the token, or puts it under the new epoch, takes LN and RN from the reports. So every waiting
// node that has answered is in the queue as soon as the token goes on. For a node that has not answered LN
// is 0: if its request is known the token comes to it, perhaps for nothing. Suspected nodes are passed over,
// and queued again when they are trusted.
//
// The numbers of a node's requests begin with its incarnation, so that they rise though it forgets.
type suzukiKasamiFT struct {
	regeneration[suzukiReport]
	rn       []uint64      // RN: by node, the number of its latest known request
	served   uint64        // the number of our latest request that was served
	ln       []uint64      // LN of the token, while the token is here
	queue    []nodes.ID    // queue of the token, while the token is here
	pause    time.Duration // time until our request is sent again
	waited   time.Duration // how long we have waited for the token, as a sum of pauses
	patience time.Duration
}

type (
	skftToken struct { // is the token, the privilege to enter
		Token regeneratedToken
		LN    []uint64   // by node: its latest request that was served
		Queue []nodes.ID // next receivers
	}
	suzukiReport struct {
		Token          tokenMark
		Number, Served uint64 // numbers of our latest request, and of our latest request that was served
	}
	suzukiRenewal struct { // gives its receiver an epoch: for the token that it has, or for a new token
		Epoch  uint64
		LN, RN []uint64
	}
)

func (r suzukiReport) last() tokenMark { return r.Token }

// suzukiWait is the timer of a waiting node.
var suzukiWait = nodes.Timer{Kind: 1}

// Start puts the token of epoch 0 at node 0.
func (s *suzukiKasamiFT) Start(env *nodes.Env) {
	s.census.start(env)
	if env.Self() == 0 {
		s.make(0)
		s.ln = make([]uint64, env.N())
	}
}

// Recover makes the node join the others again. If it had the token, that is lost.
func (s *suzukiKasamiFT) Recover(env *nodes.Env, saved nodes.Message) {
	s.census.recover(env, saved)
	s.served = uint64(env.Incarnation()) << 32
	s.rn[env.Self()] = s.served
}

func (s *suzukiKasamiFT) Request(env *nodes.Env) {
	s.wants = true
	if s.usable() {
		s.settle(env)
		return
	}
	s.rn[env.Self()]++
	env.Broadcast(suzukiRequest{s.rn[env.Self()]})
	s.pause, s.waited = s.census.retry, 0
	s.wait(env)
}

// wait sets the timer that ends a pause.
func (s *suzukiKasamiFT) wait(env *nodes.Env) { env.SetTimer(suzukiWait, s.pause, s.pause+s.pause/4) }

func (s *suzukiKasamiFT) Release(env *nodes.Env) {
	s.wants, s.inside = false, false
	s.served = s.rn[env.Self()]
	s.settle(env)
}

func (s *suzukiKasamiFT) Suspect(env *nodes.Env, peer nodes.ID) {
	s.complete(env, s.census.suspect(env, peer))
	if s.diedWith(peer) {
		s.search(env)
	}
}

func (s *suzukiKasamiFT) Trust(env *nodes.Env, peer nodes.ID) {
	s.census.trust(env, peer)
	s.settle(env) // the token may be here because it could not be sent to the peer
}

// Timeout asks again, and takes a census when that has not helped for too long.
func (s *suzukiKasamiFT) Timeout(env *nodes.Env, t nodes.Timer) {
	if t == censusTimer {
		s.census.again(env)
		return
	}
	for peer := range nodes.ID(env.N()) {
		if peer != env.Self() && !s.census.suspected.Has(peer) {
			env.Resend(peer, suzukiRequest{s.rn[env.Self()]})
		}
	}
	if s.waited += s.pause; s.waited >= s.patience {
		s.waited = 0
		s.search(env)
	}
	if s.wants && !s.inside { // else the search has found a token
		s.pause = min(2*s.pause, max(s.census.retry, s.patience/2))
		s.wait(env)
	}
}

func (s *suzukiKasamiFT) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case suzukiRequest:
		s.rn[from] = max(s.rn[from], m.Number)
		s.settle(env)
	case skftToken:
		if s.take(env, m.Token) {
			s.ln, s.queue = slices.Clone(m.LN), slices.Clone(m.Queue)
			s.settle(env)
		}
	case censusAsk:
		if s.census.answer(env, from, m, s.report(env)) {
			s.waited = 0
		}
	case censusAnswer[suzukiReport]:
		s.complete(env, s.census.hear(env, from, m))
		s.settle(env) // the answer may complete our joining, and so make the token here usable
	case suzukiRenewal:
		s.renewed(env, m)
	default:
		nodes.Unexpected(s, m)
	}
}

func (s *suzukiKasamiFT) report(env *nodes.Env) suzukiReport {
	return suzukiReport{s.token.mark(), s.rn[env.Self()], s.served}
}

// settle lets our client in, or sends the token on, if the token is here.
func (s *suzukiKasamiFT) settle(env *nodes.Env) {
	switch {
	case !s.usable() || s.inside:
	case !s.wants:
		s.leave(env)
	case s.enter(env):
		env.StopTimer(suzukiWait)
	default:
		s.search(env) // takes another epoch: the fence numbers of this one are used up
	}
}

// leave records that our latest request is served, queues the nodes that have asked, and sends the token to
// the first that is not suspected. Without such a node, the token stays.
func (s *suzukiKasamiFT) leave(env *nodes.Env) {
	s.queue = suzukiServed(env.Self(), cyclicFrom(env.Self(), nodes.ID(env.N())), s.rn, s.ln, s.queue)
	for len(s.queue) > 0 {
		first := s.queue[0]
		s.queue = slices.Delete(s.queue, 0, 1)
		if first == env.Self() || s.census.suspected.Has(first) {
			continue
		}
		env.Send(first, skftToken{s.leaves(first), s.ln, s.queue})
		s.ln, s.queue = nil, nil
		return
	}
}

// search takes a census, unless one is open.
func (s *suzukiKasamiFT) search(env *nodes.Env) { s.complete(env, s.begin(env, s.report(env))) }

// complete gives our epoch, with what was reported, to the node that had the token last, if our census is
// complete.
func (s *suzukiKasamiFT) complete(env *nodes.Env, is bool) {
	if !is {
		return
	}
	m := suzukiRenewal{Epoch: s.census.epoch, LN: make([]uint64, env.N()), RN: make([]uint64, env.N())}
	for id := range s.census.answered.All() {
		m.LN[id], m.RN[id] = s.census.reports[id].Served, s.census.reports[id].Number
	}
	s.give(env, m)
}

// renewed takes an epoch that we are given.
func (s *suzukiKasamiFT) renewed(env *nodes.Env, m suzukiRenewal) {
	if !s.renew(m.Epoch) {
		return
	}
	for id, number := range m.RN {
		s.rn[id] = max(s.rn[id], number)
	}
	s.ln, s.queue = slices.Clone(m.LN), nil
	s.settle(env)
}
