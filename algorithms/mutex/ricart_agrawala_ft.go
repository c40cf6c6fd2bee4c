package mutex

import (
	"fmt"
	"strconv"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var ricartRetryingAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "ricart-agrawala-ft",
		New: func(c nodes.Config) nodes.Machine {
			return &ricartRetrying{
				ricartAgrawala: ricartAgrawala{deferred: make([]ricartReply, c.N)},
				retry:          c.Duration(retryOption),
				giveUp:         uint32(triesOf(c)),
				atOnce:         c.Value(nackOption) == nackAtOnce,
				silent:         make([]uint32, c.N),
			}
		},
		Timers: []nodes.TimerName{{Kind: nextTry.Kind, Name: "retry"}},
		Messages: []nodes.MessageKind{{Zero: ricartRequest{}, Broadcast: true}, {Zero: ricartReply{}, Permit: true},
			{Zero: ricartNack{}}, {Zero: ricartRetry{}}, {Zero: ricartProbe{}}, {Zero: ricartClock{}}},
		Options: []nodes.Option{giveUpOption, givingUpOption, nackOption},
		// To give up a silent peer is safe only if answers come in time.
		Safe:      nodes.NoLoss | nodes.NoAmnesia | nodes.Timing,
		Live:      nodes.Timing,
		Fenced:    true,
		Effective: nodes.NoAmnesia,
		Grace: func(c nodes.Config) time.Duration {
			return 2 * time.Duration(triesOf(c)+2) * c.Duration(retryOption)
		},
	},
	Aliases: []string{"ricart-ft", "ra-ft"}, Family: "permission",
	Source: "Ricart and Agrawala, CACM 24(1), 1981, made fault tolerant as by Jones, Mutual exclusion in " +
		"distributed systems, notes of 22C:116, University of Iowa, 2002",
	Summary: "Ricart-Agrawala with retries: a peer that defers its reply says that it is alive, and a silent " +
		"peer is taken for dead.",
	Mutex: &algorithm.Exclusion{
		Cost: func(c nodes.Config) algorithm.Cost {
			// The reply of a peer that is given up may be missing.
			plain := 2 * float64(c.N-1)
			cost := always("2(N-1)", algorithm.Exactly(plain), algorithm.Exactly(1))
			most := plain
			if c.Value(nackOption) == nackAtOnce {
				most += float64(c.N - 1)
			}
			cost.Saturated = algorithm.Between(float64(c.N-1), most)
			cost.Any = cost.Saturated
			return cost
		},
		Bypass: peers, // without faults, as in ricart-agrawala
		Identities: []algorithm.Identity{
			counts("request = (N-1) entries", peers),
			counts("request <= reply + retry + probe"),
			counts("reply <= request + retry + probe"),
			{
				Says: "nack <= retry + probe, and request if it comes at once",
				Holds: func(c nodes.Config, t algorithm.Tally) bool {
					nack, asked := t.Sent["nack"], t.Sent["retry"]+t.Sent["probe"]
					return nack <= asked || c.Value(nackOption) == nackAtOnce && nack <= asked+t.Sent["request"]
				},
			},
		},
	},
	Faults: beside(under(recovers|breaks, "a node that has forgotten its clock may enter twice under one "+
		"number (X)", "amnesia", "empty-restarts"),
		suspecting(under(recovers, "a dead node leaves some tries unanswered, and is given up (Jones, notes of "+
			"22C:116, 2002)", "dead-idle", "dead-waiter", "dead-holder"))),
}

var (
	giveUpOption = nodes.Option{Name: "give-up", Default: "5", Check: checkTries,
		Usage: "how many tries in a row a peer leaves unanswered until it is taken for dead",
		Shows: afterTries}
	givingUpOption = nodes.Option{Name: retryOption.Name, Usage: retryOption.Usage,
		Default: retryOption.Default, Check: retryOption.Check, Shows: retryOption.Shows,
		Bound: &nodes.TimeoutBound{Formula: "2T/give-up", Covers: anyTry,
			Answer: retryOfTurn.Bound.Answer, Answers: turn,
			Suits: func(c nodes.Config, d nodes.Delays) time.Duration {
				return max(anyTry(c, d)/4*5, retryOfTurn.Bound.Suits(c, d))
			}}}
	nackOption = nodes.Option{Name: "nack", Values: []string{nackOnRetry, nackAtOnce}, Default: nackOnRetry,
		Usage: "when a peer that cannot reply yet says so",
		Shows: []nodes.Shown{
			{Value: nackOnRetry, Figure: "nack per entry", Least: 0, Most: 0.1},
			{Value: nackAtOnce, Figure: "nack per entry", Least: 0.5, Most: 4},
		}}
	// afterTries states that a dead peer stops all others until they give it up.
	afterTries = []nodes.Shown{{Value: "12", Than: "3", Figure: "longest pause", Least: 2.5, Most: 4.5,
		For: 3 * time.Second, Faults: []string{"kill: 4, at: 100ms"}}}
)

const (
	nackOnRetry = "on-retry" // a peer sends a NACK when it gets the request again
	nackAtOnce  = "at-once"  // a peer sends a NACK as soon as it gets the request
)

// anyTry is the least time between tries with which a peer can answer the first before it is given up.
func anyTry(c nodes.Config, d nodes.Delays) time.Duration {
	return 2 * d.Message / time.Duration(triesOf(c))
}

// mostTries bounds the tries, so that a simulation ends.
const mostTries = 1000

func checkTries(_ nodes.Config, value string) error {
	switch tries, err := strconv.Atoi(value); {
	case err != nil:
		return fmt.Errorf("%q is not a number of tries, such as 5", value)
	case tries < 1 || tries > mostTries:
		return fmt.Errorf("%d is not from 1 to %d: a peer that defers its reply shows only when it is asked again "+
			"that it is alive", tries, mostTries)
	}
	return nil
}

// triesOf returns how many tries a peer is given.
func triesOf(c nodes.Config) int {
	tries, _ := strconv.Atoi(c.Value(giveUpOption)) // the options are valid
	return tries
}

// ricartRetrying is the algorithm of Ricart and Agrawala, made fault tolerant as D. W. Jones describes: "by
// applying the same kinds of tricks as are applied in other client server applications".
//
// A peer that has not replied to a request for some time gets it again, and then answers in any case: by the
// reply, or by a NACK ("I got your request and I can't reply yet"). After a NACK it gets probes ("are you
// still there"), and answers them alike. A peer that leaves so many of these in a row unanswered is given
// up: its reply is not waited for. With --nack at-once a request that has to wait is answered by a NACK when
// it comes, as in the source.
//
// A peer that was given up may have been slow, or be up again. So the next request asks it too, and it has
// the time of one retry to answer. If it is heard of while the request that gave it up still waits, its
// reply is waited for again.
//
// A node saves its clock before it answers. So after a crash it stamps its requests higher than all that it
// has permitted, and no two requests of a node have the same stamp: the stamp in a reply or NACK names its
// request. Copies do no harm: a request is answered once more, and a reply counts once.
//
// Mutual exclusion holds as without faults if peers that are given up are down: if a live peer answers one
// of so many tries in time. Loss, cuts, pauses and delays can break that, and then a peer that was given up
// may be inside. If messages are lost with probability p, a live peer is given up with probability
// (1-(1-p)^2)^k in k tries, which is 9e-6 for p = 5% and k = 5.
//
// The stamp of a request is its fence number. Let j have permitted an entry of i. Then either j requested
// nothing, and stamps its next request higher; or j waited, and its stamp was the higher one. So a node that
// enters after i has a higher number, unless i gave it up. In that case it may have asked before i, and
// enters under the lower number, so that the resource refuses its writes. No two entries have the same
// number. So once a node has entered under a higher number, the resource accepts nothing from a holder that
// was given up: nothing stale, whichever peer is given up.
type ricartRetrying struct {
	ricartAgrawala
	retry  time.Duration
	giveUp uint32
	atOnce bool      // send NACKs at once
	silent []uint32  // by peer: tries since it was heard of
	told   nodes.Set // peers that have answered our request by a NACK
	gone   nodes.Set // peers given up for our request
}

type (
	ricartNack  struct{ Clock uint64 } // the request stamped Clock has come, and has to wait
	ricartRetry struct{ Clock uint64 } // the request stamped Clock, once more
	ricartProbe struct{ Clock uint64 } // asks the receiver of the request stamped Clock whether it is still up
	ricartClock struct{ Clock uint64 } // the clock that a node saves
)

// nextTry is the timer of a node that waits for replies.
var nextTry = nodes.Timer{}

// Recover restores the clock. Nothing else matters: a node that waits for a reply asks again.
func (r *ricartRetrying) Recover(_ *nodes.Env, m nodes.Message) {
	saved, _ := m.(ricartClock)
	r.clock = saved.Clock
}

func (r *ricartRetrying) Request(env *nodes.Env) {
	r.rise(env, r.clock+1)
	r.ours = stamp{r.clock, env.Self()}
	r.awaiting = env.Peers()
	r.told.Clear()
	r.gone.Clear()
	env.Broadcast(ricartRequest{r.clock})
	for id := range r.silent {
		if r.silent[id] > r.giveUp { // a peer may put off its reply to a request, but answers a probe at once
			r.silent[id] = r.giveUp
			env.Resend(nodes.ID(id), ricartProbe{r.clock})
		}
	}
	r.proceed(env)
}

// proceed enters if no reply is missing, and otherwise waits for the next try.
func (r *ricartRetrying) proceed(env *nodes.Env) {
	if !r.awaiting.Empty() {
		env.SetTimer(nextTry, r.retry, r.retry)
		return
	}
	env.StopTimer(nextTry)
	env.GrantFenced(r.ours.fence(env))
}

func (r *ricartRetrying) Timeout(env *nodes.Env, _ nodes.Timer) {
	missing := r.awaiting.Clone()
	for id := range missing.All() {
		r.silent[id]++
		switch {
		case r.silent[id] > r.giveUp:
			r.awaiting.Remove(id)
			r.gone.Add(id)
		case r.told.Has(id):
			env.Resend(id, ricartProbe{r.ours.Clock})
		default:
			env.Resend(id, ricartRetry{r.ours.Clock})
		}
	}
	r.proceed(env)
}

func (r *ricartRetrying) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	r.hear(from)
	switch m := m.(type) {
	case ricartRequest:
		r.answer(env, from, m, false)
	case ricartRetry:
		r.answer(env, from, ricartRequest(m), true)
	case ricartProbe:
		r.answer(env, from, ricartRequest(m), true)
	case ricartNack:
		if m.Clock == r.ours.Clock {
			r.told.Add(from)
		}
	case ricartReply:
		if m.Clock == r.ours.Clock && r.awaiting.Remove(from) && r.awaiting.Empty() {
			r.proceed(env)
		}
	default:
		nodes.Unexpected(r, m)
	}
}

// hear notes that a peer is up. If it was given up and we still wait, we wait for its reply again.
func (r *ricartRetrying) hear(from nodes.ID) {
	r.silent[from] = 0
	if !r.awaiting.Empty() && r.gone.Remove(from) {
		r.awaiting.Add(from)
	}
}

// answer answers a request. If the request has to wait, it answers by a NACK, for a first request only with
// atOnce.
func (r *ricartRetrying) answer(env *nodes.Env, from nodes.ID, m ricartRequest, again bool) {
	r.rise(env, m.Clock)
	send := env.Send
	if again {
		send = env.Resend
	}
	// A node that is inside defers every request, even an earlier one of a peer that it gave up.
	inside := !r.ours.isZero() && r.awaiting.Empty()
	if !inside && (r.ours.isZero() || !r.ours.before(stamp{m.Clock, from})) {
		send(from, ricartReply(m))
		return
	}
	r.putOff(from, m)
	if again || r.atOnce {
		send(from, ricartNack(m))
	}
}

// rise sets the clock to a higher value, and saves it.
func (r *ricartRetrying) rise(env *nodes.Env, clock uint64) {
	if clock > r.clock {
		r.clock = clock
		env.Save(ricartClock{clock})
	}
}
