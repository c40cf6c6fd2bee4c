package mutex

import (
	"slices"
	"time"

	"turnstile/nodes"
)

var suzukiKasamiFTRow = nodes.Spec{
	Info: nodes.Info{
		Name:    "suzuki-kasami-ft",
		Aliases: []string{"sk-ft"},
		Family:  "token",
		Source: "Suzuki and Kasami, A distributed mutual exclusion algorithm, ACM TOCS 3(4), 1985; the census " +
			"after Lamport, The part-time parliament, ACM TOCS 16(2), 1998",
		Summary: "Suzuki and Kasami's token, made again when it is lost, once a census has found no other, under " +
			"a higher epoch and with a queue of all who wait; requests are sent again.",
	},
	New: func(c nodes.Config) nodes.Machine {
		return &suzukiKasamiFT{census: newCensus[suzukiReport](c), rn: make([]uint64, c.N), gave: nodes.None,
			patience: c.Duration(lossTimeoutOption)}
	},
	Messages: append([]nodes.Kind{{Zero: suzukiRequest{}, Broadcast: true}, {Zero: skftToken{}, Token: true},
		{Zero: suzukiRenewal{}}}, censusKinds[suzukiReport]()...),
	Options: []nodes.Option{lossTimeoutOption, retryOption},
	Detects: "heartbeat:period=50ms,timeout=250ms",
	Fenced:  true,
	Safe:    nodes.PerfectDetector,
	Live:    nodes.Majority | nodes.NoAmnesia, // some may forget, and ask the others: not a majority
	Cost: func(c nodes.Config) nodes.Cost {
		cost := suzukiKasamiRow.Cost(c)
		if c.N > 1 { // who waits long asks again
			cost.Saturated, cost.Any = nodes.Unbounded(0), nodes.Unbounded(0)
		}
		return cost
	},
	Identities: []nodes.Identity{{ // requests that are sent again come on top
		Says: "(N-1) token <= request, and token > 0 if request > 0, unless a census was taken",
		Holds: func(c nodes.Config, t nodes.Tally) bool {
			token, request := t.Sent["token"], t.Sent["request"]
			return t.Sent["ask"] > 0 || uint64(peers(c))*token <= request && (token > 0) == (request > 0)
		},
	}},
	// No Bypass: who is suspected is passed over, even wrongly.
	// A loss is suspected by who waits, after the loss timeout at the latest.
	Grace: func(c nodes.Config) time.Duration {
		return 2*c.Duration(lossTimeoutOption) + 4*c.Duration(retryOption)
	},
	Faults: withCensus(under(recovers, dossierFT+"the token is made again, and requests are sent again under "+
		"the same number", "lost-token", "lost-request")),
}

// suzukiKasamiFT is the algorithm of I. Suzuki and T. Kasami, "A distributed mutual exclusion algorithm", ACM
// TOCS 3(4), 1985 (see suzukiKasami), whose token is made again when it is lost.
//
// A node that waits sends its request again under the same number, less and less often. If it has waited
// for the loss timeout, or the failure detector of who sent the token last suspects the one to whom, it
// takes a census (see census). Everyone reports which token it had last, the number of its latest request,
// and that of its latest request that was served. Whoever had the latest token, by epoch and how often it
// was sent, is given the new epoch: if it has the token still, that goes on under it; otherwise it makes
// one. In both cases LN and RN are what was reported, so that every node that has answered and waits is in
// the queue as soon as the token goes on. Of a node that has not answered LN is 0: if its request is known
// the token comes to it, even for nothing. Who is suspected is passed over, and queued again when it is
// trusted.
//
// A node that has promised an epoch swallows tokens of lower ones, and does not use its own until it is given
// the epoch or a later token comes. Safety is that of token-ring-regenerating: there is one token in an
// epoch, given once, to one node, which takes it once; its copies were sent no more often than the last it
// had; and with a perfect failure detector no node that is up heeds a lower epoch when one is complete
// (census, 3), and who is inside has the latest token, so that it is the one that is given the epoch. Without
// a perfect detector grants are fenced by the epoch and their number in it, and only a majority makes tokens.
//
// The numbers of a node's requests begin with its incarnation, so that they rise though it forgets.
type suzukiKasamiFT struct {
	census   census[suzukiReport]
	rn       []uint64  // RN, by node; ours numbers our own requests
	served   uint64    // our latest request that was served
	token    skftToken // as it was here last; LN and the queue only while it is here
	here     bool
	wants    bool          // our client waits or is inside
	inside   bool          // our client is
	gave     nodes.ID      // whom we sent the token or gave an epoch to, last
	pause    time.Duration // before our request is sent again
	waited   time.Duration // for the token, in pauses
	patience time.Duration
}

type (
	skftToken struct { // is the privilege
		Epoch, Sent, Grants uint64     // in its epoch: how often it was sent, and granted
		LN                  []uint64   // by node: its latest request that was served
		Queue               []nodes.ID // who gets it next
	}
	suzukiReport struct {
		Token          tokenMark
		Number, Served uint64 // of our requests: the latest, and the latest that was served
	}
	suzukiRenewal struct { // gives its receiver an epoch, for its token or a new one
		Epoch  uint64
		LN, RN []uint64
	}
)

func (r suzukiReport) last() tokenMark { return r.Token }

// suzukiWait is the timer of who waits.
var suzukiWait = nodes.Timer{Kind: 1}

// Start puts the token of epoch 0 at node 0.
func (s *suzukiKasamiFT) Start(env *nodes.Env) {
	s.census.start(env)
	if env.Self() == 0 {
		s.token = skftToken{Sent: 1, LN: make([]uint64, env.N())}
		s.here = true
	}
}

// Recover has the node join the others again. If it had the token, that is lost.
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

// wait has the timer run that ends a pause.
func (s *suzukiKasamiFT) wait(env *nodes.Env) { env.SetTimer(suzukiWait, s.pause, s.pause+s.pause/4) }

func (s *suzukiKasamiFT) Release(env *nodes.Env) {
	s.wants, s.inside = false, false
	s.served = s.rn[env.Self()]
	s.settle(env)
}

func (s *suzukiKasamiFT) Suspect(env *nodes.Env, peer nodes.ID) {
	s.give(env, s.census.suspect(env, peer))
	if peer == s.gave && !s.here {
		s.search(env) // it died with the token, for all we know
	}
}

func (s *suzukiKasamiFT) Trust(env *nodes.Env, peer nodes.ID) {
	s.census.trust(env, peer)
	s.settle(env) // it may have been passed over
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
		s.take(env, m)
	case censusAsk:
		if s.census.answer(env, from, m, s.report(env)) {
			s.waited = 0
		}
	case censusAnswer[suzukiReport]:
		s.give(env, s.census.hear(env, from, m))
		s.settle(env) // if we have joined
	case suzukiRenewal:
		s.renew(env, m)
	default:
		nodes.Unexpected(s, m)
	}
}

// take takes a token, unless it is stale or a copy.
func (s *suzukiKasamiFT) take(env *nodes.Env, m skftToken) {
	if m.Epoch < s.census.epoch || !s.mark().before(tokenMark{m.Epoch, m.Sent}) {
		return
	}
	s.census.raise(env, m.Epoch)
	m.LN, m.Queue = slices.Clone(m.LN), slices.Clone(m.Queue)
	s.token, s.here = m, true
	s.settle(env)
}

func (s *suzukiKasamiFT) mark() tokenMark { return tokenMark{s.token.Epoch, s.token.Sent} }

func (s *suzukiKasamiFT) report(env *nodes.Env) suzukiReport {
	return suzukiReport{s.mark(), s.rn[env.Self()], s.served}
}

// usable reports whether a token is here under which somebody may enter.
func (s *suzukiKasamiFT) usable() bool {
	return s.here && s.token.Epoch == s.census.epoch && !s.census.joining
}

// settle lets our client in, or sends the token on, if it is here.
func (s *suzukiKasamiFT) settle(env *nodes.Env) {
	switch {
	case !s.usable() || s.inside:
	case !s.wants:
		s.leave(env)
	case s.token.Grants == mostSerial(env.N()):
		s.search(env) // the numbers of this epoch are used up
	default:
		s.inside = true
		env.StopTimer(suzukiWait)
		s.token.Grants++
		env.GrantFenced(fence(env.N(), s.token.Epoch, s.token.Grants))
	}
}

// leave notes that our latest request is served, queues those who have asked and sends the token to the first
// who is not suspected; if there is none, it stays.
func (s *suzukiKasamiFT) leave(env *nodes.Env) {
	self, n := env.Self(), nodes.ID(env.N())
	s.token.LN[self] = s.rn[self]
	queued := nodes.SetOf(s.token.Queue...)
	for step := nodes.ID(1); step < n; step++ {
		if id := (self + step) % n; s.rn[id] > s.token.LN[id] && queued.Add(id) {
			s.token.Queue = append(s.token.Queue, id)
		}
	}
	for len(s.token.Queue) > 0 {
		first := s.token.Queue[0]
		s.token.Queue = slices.Delete(s.token.Queue, 0, 1)
		if first == self || s.census.suspected.Has(first) {
			continue
		}
		s.here, s.gave = false, first
		next := s.token
		next.Sent++
		env.Send(first, next)
		s.token.LN, s.token.Queue = nil, nil
		return
	}
}

// search takes a census, unless one is open.
func (s *suzukiKasamiFT) search(env *nodes.Env) {
	if !s.census.open {
		s.give(env, s.census.begin(env, s.report(env)))
	}
}

// give gives our epoch to the one who had the token last, if our census is complete, with what was reported.
func (s *suzukiKasamiFT) give(env *nodes.Env, complete bool) {
	if !complete {
		return
	}
	m := suzukiRenewal{Epoch: s.census.epoch, LN: make([]uint64, env.N()), RN: make([]uint64, env.N())}
	for id := range s.census.answered.All() {
		m.LN[id], m.RN[id] = s.census.reports[id].Served, s.census.reports[id].Number
	}
	s.gave = lastHolder(&s.census)
	env.Send(s.gave, m)
}

// renew puts the token under a new epoch, or makes one.
func (s *suzukiKasamiFT) renew(env *nodes.Env, m suzukiRenewal) {
	if m.Epoch != s.census.epoch || s.token.Epoch >= m.Epoch {
		return // late, or a copy
	}
	for id, number := range m.RN {
		s.rn[id] = max(s.rn[id], number)
	}
	s.token = skftToken{Epoch: m.Epoch, Sent: 1, LN: slices.Clone(m.LN)}
	s.here = true
	s.settle(env)
}

// HasToken reports whether a token is here that is not known to be stale.
func (s *suzukiKasamiFT) HasToken() bool { return s.usable() }
