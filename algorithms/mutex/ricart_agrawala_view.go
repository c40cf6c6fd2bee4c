package mutex

import (
	"math"
	"slices"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

var ricartViewAlgorithm = algorithm.Algorithm{
	Spec: nodes.Spec{
		Name: "ricart-agrawala-view",
		New: func(c nodes.Config) nodes.Machine {
			return &ricartView{
				ricartAgrawala: ricartAgrawala{deferred: make([]ricartReply, c.N)},
				census:         newCensus[viewReport](c),
			}
		},
		Timers: []nodes.TimerName{{Kind: nextTry.Kind, Name: "retry"}, censusTimerName},
		Messages: slices.Concat([]nodes.MessageKind{{Zero: viewRequest{}, Broadcast: true},
			{Zero: viewReply{}, Permit: true}, {Zero: viewInstall{}}, {Zero: viewWanted{}}},
			censusKinds[viewReport]()),
		Options: []nodes.Option{retryOfTurn},
		Detects: "heartbeat:period=50ms,timeout=250ms",
		Safe:    nodes.PerfectDetector,
		Live:    nodes.Majority | nodes.NoAmnesia, // some nodes may forget their state if the others are a majority
		Fenced:  true,                             // with fence numbers, exclusion of writes needs no assumption
		Grace:   func(c nodes.Config) time.Duration { return 10 * c.Duration(retryOption) },
	},
	Aliases: []string{"ricart-view", "ra-view"}, Family: "permission",
	Source: "Ricart and Agrawala, CACM 24(1), 1981, in views that a majority agrees on, as in Lamport, " +
		"The part-time parliament, ACM TOCS 16(2), 1998",
	Summary: "Ricart-Agrawala among the members of a view: when one is suspected, the others agree on " +
		"a view without it, if they are a majority.",
	Mutex: &algorithm.Exclusion{
		Epochs:   epochsOf("view"),
		Minority: minorityWaits,
		Cost: func(c nodes.Config) algorithm.Cost {
			// A node that waits longer than a retry asks silent members again.
			least := 2 * float64(c.N-1)
			cost := always("2(N-1)", algorithm.Exactly(least), algorithm.Exactly(1))
			cost.Saturated, cost.Any = algorithm.Unbounded(least), algorithm.Unbounded(least)
			return cost
		},
		Bypass: peers, // within a view, as in ricart-agrawala; a node outside the view is passed over
		Fair:   undisturbed,
		Identities: []algorithm.Identity{
			counts("request >= (N-1) entries", peers),
			counts("reply >= (N-1) entries", peers),
			counts("reply <= request"),
		},
	},
	Faults: withCensus(under(recovers, "lost messages are sent again", "lost-request",
		"lost-reply")),
}

// ricartView is the algorithm of Ricart and Agrawala among the members of a view, on which a majority of all
// clients has agreed.
//
// A view is a complete census: its number is the epoch, and its members are the clients that have answered.
// View 0 has all clients. The lowest client that is not suspected takes a census when it suspects a member,
// or when a client outside the view asks for one. Within a view the algorithm is that of 1981, with all
// messages tagged by the view. A node that promises an epoch takes part in no lower view any more; waiting
// requests are made anew in the next view. A node inside stays inside: as a member it defers all requests of
// the new view until it leaves. A node that has been down or was left out asks for a view that it can be in,
// once its client wants to enter.
//
// With a perfect failure detector two nodes are never inside together. Within a view, this holds as it does
// without faults: a node that comes up again has no place in the view any more. When a view is complete, all
// live nodes have promised it, so nobody enters in a lower one any more. A node that entered in a lower one
// and is still inside is a member, and nobody enters without its reply.
//
// The fence number of an entry is the view and its serial number in the view. Each reply tells the serial of
// the last entry that its sender knows. A node that entered earlier in the view replies after it has left,
// so serials rise. A view is completed once, and by only one side of a partition. So even if detectors err,
// no two entries have the same number. The resource refuses a node of a superseded view as soon as one has
// entered in a later view.
//
// While a client waits, messages that may have been lost are sent again.
type ricartView struct {
	ricartAgrawala
	census[viewReport]
	view    uint64    // the latest view that we were in
	members nodes.Set // the members of that view
	pledged uint64    // the latest view that we have promised since we are up
	serial  uint64    // serial number of the last entry in the view, as far as we know
	wants   bool      // our client waits
	inside  bool      // our client is inside
}

type (
	viewRequest struct { // asks to enter, in a view
		View, Clock uint64
		Again       bool // the request was sent before, and may have been answered
	}
	viewReply struct { // permits the request
		View, Clock uint64 // view and clock of the request
		Serial      uint64 // serial number of the last entry in the view, as far as the sender knows
	}
	viewInstall struct { // lists the members of a view
		View    uint64
		Members []nodes.ID
	}
	viewWanted struct { // asks for a view with the sender in it
		Epoch, Pledged uint64 // the highest epoch that the sender knows; the sender's latest promise since it is up
	}
	viewReport struct{} // is empty: a new view depends only on which nodes have answered
)

// noView is the promise of a node that has come up again.
const noView = math.MaxUint64

func (r *ricartView) Start(env *nodes.Env) {
	r.start(env)
	r.members = nodes.Everyone(env.N())
}

func (r *ricartView) Recover(env *nodes.Env, m nodes.Message) {
	r.pledged = noView
	r.recover(env, m)
}

func (r *ricartView) Request(env *nodes.Env) {
	r.wants = true
	r.proceed(env)
}

// proceed asks to enter, or for a view to enter in.
func (r *ricartView) proceed(env *nodes.Env) {
	if !r.wants {
		return
	}
	env.SetTimer(nextTry, r.retry, r.retry)
	if !r.running(env) {
		r.seek(env)
		return
	}
	r.clock++
	r.ours = stamp{r.clock, env.Self()}
	r.awaiting = r.members.Clone()
	r.awaiting.Remove(env.Self())
	m := viewRequest{View: r.view, Clock: r.clock}
	if r.members.Len() == env.N() {
		env.Broadcast(m)
	} else {
		for id := range r.awaiting.All() {
			env.Send(id, m)
		}
	}
	r.enter(env)
}

// enter lets our client in if no reply is missing.
func (r *ricartView) enter(env *nodes.Env) {
	switch {
	case !r.awaiting.Empty():
	case r.serial == mostSerial(env.N()):
		r.change(env) // the view has no numbers left
	default:
		r.serial++
		r.wants, r.inside = false, true
		env.StopTimer(nextTry)
		env.GrantFenced(fence(env.N(), r.view, r.serial))
	}
}

func (r *ricartView) Release(env *nodes.Env) {
	r.inside, r.ours = false, stamp{}
	for _, peer := range r.owed {
		env.Send(peer, viewReply{r.view, r.deferred[peer].Clock, r.serial})
		r.deferred[peer] = ricartReply{}
	}
	r.owed = r.owed[:0]
}

// running reports whether we take part in a view.
func (r *ricartView) running(env *nodes.Env) bool {
	return r.view == r.epoch && !r.joining && r.members.Has(env.Self())
}

func (r *ricartView) Timeout(env *nodes.Env, t nodes.Timer) {
	if t == censusTimer {
		r.again(env)
		return
	}
	env.SetTimer(nextTry, r.retry, r.retry)
	if !r.running(env) || r.awaiting.Meets(r.suspected) {
		r.seek(env)
	}
	for id := range r.awaiting.All() {
		env.Resend(id, viewRequest{r.view, r.ours.Clock, true})
	}
}

func (r *ricartView) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case viewRequest:
		r.asked(env, from, m)
	case viewReply:
		if m.View == r.view && m.Clock == r.ours.Clock && r.awaiting.Remove(from) {
			r.serial = max(r.serial, m.Serial)
			r.enter(env)
		}
	case censusAsk:
		if r.answer(env, from, m, viewReport{}) {
			r.pledged = r.epoch
		}
		r.leave(env)
	case censusAnswer[viewReport]:
		joining := r.joining
		if r.hear(env, from, m) {
			r.install(env)
		}
		r.leave(env)
		if joining && !r.joining {
			r.proceed(env)
		}
	case viewInstall:
		r.installed(env, m)
	case viewWanted:
		r.wanted(env, from, m)
	default:
		nodes.Unexpected(r, m)
	}
}

// asked answers a request.
func (r *ricartView) asked(env *nodes.Env, from nodes.ID, m viewRequest) {
	switch {
	case m.View == r.view && r.running(env):
		r.clock = max(r.clock, m.Clock)
		if r.inside || !r.ours.isZero() && r.ours.before(stamp{m.Clock, from}) {
			r.putOff(from, ricartRequest{m.Clock})
			return
		}
		send := env.Send
		if m.Again {
			send = env.Resend
		}
		send(from, viewReply{m.View, m.Clock, r.serial})
	case m.View >= r.epoch:
		r.seek(env) // we do not know that view
	case r.running(env):
		env.Resend(from, r.present())
	default:
		env.Resend(from, viewInstall{View: r.epoch}) // the sender has to know that there is to be a later view
	}
}

// seek asks for a view with us in it.
func (r *ricartView) seek(env *nodes.Env) {
	switch lowest := r.lowest(env); lowest {
	case env.Self():
		r.change(env)
	default:
		env.Send(lowest, viewWanted{r.epoch, r.pledged})
	}
}

// lowest returns the lowest client that we do not suspect.
func (r *ricartView) lowest(env *nodes.Env) nodes.ID {
	id := nodes.ID(0)
	for id != env.Self() && r.suspected.Has(id) {
		id++
	}
	return id
}

// wanted gives a client a view with the client in it.
func (r *ricartView) wanted(env *nodes.Env, from nodes.ID, m viewWanted) {
	known := r.running(env) && !r.members.Meets(r.suspected)
	if known && (m.Epoch < r.view || m.Epoch == r.view && m.Pledged == r.view && r.members.Has(from)) {
		env.Resend(from, r.present())
		return
	}
	r.raise(env, m.Epoch) // else we would offer a view that the client has left for a later one
	r.leave(env)
	r.change(env)
}

// change takes a census, unless one is open.
func (r *ricartView) change(env *nodes.Env) {
	if r.open || r.joining {
		return
	}
	complete := r.begin(env, viewReport{})
	r.pledged = r.epoch
	r.leave(env)
	if complete {
		r.install(env)
	}
}

// leave drops requests and replies of a view that is over for us.
func (r *ricartView) leave(env *nodes.Env) {
	if r.running(env) {
		return
	}
	r.ours = stamp{}
	r.awaiting.Clear()
	for _, peer := range r.owed {
		r.deferred[peer] = ricartReply{}
	}
	r.owed = r.owed[:0]
}

// install tells all clients of the view that we have completed.
func (r *ricartView) install(env *nodes.Env) {
	m := viewInstall{View: r.epoch, Members: slices.Collect(r.answered.All())}
	peers := env.Peers()
	for id := range peers.All() {
		env.Send(id, m)
	}
	r.installed(env, m)
}

// installed begins a view, if it is the latest that we have promised.
func (r *ricartView) installed(env *nodes.Env, m viewInstall) {
	r.raise(env, m.View)
	r.leave(env)
	if m.View != r.epoch || m.View != r.pledged || r.running(env) || !slices.Contains(m.Members, env.Self()) {
		return
	}
	r.view, r.serial = m.View, 0
	r.members.Clear()
	for _, id := range m.Members {
		r.members.Add(id)
	}
	if !r.joining {
		r.proceed(env)
	}
}

// present returns the members of our view.
func (r *ricartView) present() viewInstall {
	return viewInstall{View: r.view, Members: slices.Collect(r.members.All())}
}

// Suspect makes the lowest client change to a view without the peer.
func (r *ricartView) Suspect(env *nodes.Env, peer nodes.ID) {
	joining := r.joining
	switch {
	case r.suspect(env, peer):
		r.install(env)
	case joining && !r.joining:
		r.proceed(env)
	case r.members.Has(peer) && r.lowest(env) == env.Self():
		r.change(env)
	}
}

func (r *ricartView) Trust(env *nodes.Env, peer nodes.ID) { r.trust(env, peer) }
