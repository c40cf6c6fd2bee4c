package host_test

import (
	"fmt"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// The machines here are toys. Each uses one or two of the effects and handlers of package nodes, so that
// tests can check them in every host.

func toy(name string, new func() nodes.Machine, messages ...nodes.Message) *algorithm.Algorithm {
	spec := &algorithm.Algorithm{Spec: nodes.Spec{
		Name: name,
		New:  func(nodes.Config) nodes.Machine { return new() },
		Live: nodes.NoLoss | nodes.NoCrash,
	}}
	for _, m := range messages {
		spec.Messages = append(spec.Messages, nodes.MessageKind{Zero: m})
	}
	return spec
}

// shared says that an algorithm serves any number of units.
func shared(s *algorithm.Algorithm) *algorithm.Algorithm {
	s.Units = nodes.Units{Most: nodes.AnyUnits, Take: nodes.AnyUnits}
	return s
}

// A watcher is the failure detector of node 0, which asks its peers twice: it suspects peers that do not
// answer the first question in time, and trusts peers that answer the second.
type watcher struct {
	patience         time.Duration
	heard, suspected nodes.Set
}

type watcherAlive struct{ Answer bool }

func (w *watcher) Start(env *nodes.Env) {
	if env.Self() != 0 {
		return
	}
	env.Broadcast(watcherAlive{})
	env.SetTimer(nodes.Timer{}, w.patience, w.patience)
}

func (w *watcher) Timeout(env *nodes.Env, _ nodes.Timer) {
	env.Broadcast(watcherAlive{})
	peers := env.Peers()
	for id := range peers.All() {
		if !w.heard.Has(id) && w.suspected.Add(id) {
			env.Suspect(id)
		}
	}
}

func (w *watcher) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if !m.(watcherAlive).Answer {
		env.Send(from, watcherAlive{Answer: true})
		return
	}
	w.heard.Add(from)
	if w.suspected.Remove(from) {
		env.Trust(from)
	}
}

func watchers(patience time.Duration) *algorithm.Algorithm {
	s := toy("watcher", func() nodes.Machine { return &watcher{patience: patience} }, watcherAlive{})
	s.Messages[0].Heartbeat, s.Messages[0].Net = true, 1
	return s
}

// A deaf network loses the first message of node 0 to each other node on the detector's network, the second.
type deaf struct{ lost nodes.Set }

func (d *deaf) Shape(p *nodes.Packet, fate nodes.Fate) nodes.Fate {
	if p.Net == 1 && p.From == 0 && d.lost.Add(p.To) {
		return fate
	}
	return append(fate, 0)
}

// An elder is an elector that takes the highest node which is not suspected for the leader.
type elder struct {
	suspected nodes.Set
	term      uint64
}

func (e *elder) Start(env *nodes.Env)                        { e.Campaign(env) }
func (e *elder) Suspect(env *nodes.Env, peer nodes.ID)       { e.suspected.Add(peer); e.Campaign(env) }
func (e *elder) Trust(env *nodes.Env, peer nodes.ID)         { e.suspected.Remove(peer); e.Campaign(env) }
func (e *elder) Receive(*nodes.Env, nodes.ID, nodes.Message) {}

func (e *elder) Campaign(env *nodes.Env) {
	leader := nodes.ID(env.N() - 1)
	for e.suspected.Has(leader) {
		leader--
	}
	if e.term++; e.term < 4 { // no more, so that there are not too many states
		env.Elect(leader, e.term)
	}
}

func elders() *algorithm.Algorithm { return toy("elder", func() nodes.Machine { return &elder{} }) }

// A keeper is a mutex with a unit for everybody. It saves how often it was entered, and recovers this number.
type keeper struct{ Entries, Mark uint64 }

type keeperSaved struct{ Entries, Mark uint64 }

func (k *keeper) Request(env *nodes.Env) {
	k.Entries++
	env.Save(keeperSaved(*k))
	env.GrantFenced(k.Entries)
}

func (k *keeper) Release(*nodes.Env)                          {}
func (k *keeper) Receive(*nodes.Env, nodes.ID, nodes.Message) {}

func (k *keeper) Recover(_ *nodes.Env, saved nodes.Message) {
	if saved == nil {
		return
	}
	if s := saved.(keeperSaved); s.Mark != k.Mark {
		panic(fmt.Sprintf("keeper %d is given what keeper %d has saved", k.Mark, s.Mark))
	}
	*k = keeper(saved.(keeperSaved))
}

func keepers(mark uint64) *algorithm.Algorithm {
	return shared(toy("keeper", func() nodes.Machine { return &keeper{Mark: mark} }, keeperSaved{}))
}

// A librarian hands out the units of a resource, first come first served: readers want one, writers all.
type librarian struct {
	taken int
	queue []libraryRequest
}

type (
	library        struct{ Rooms int }
	libraryRequest struct {
		Client nodes.ID
		Units  int
	}
	libraryGrant  struct{}
	libraryReturn struct{ Units int }
)

func (*library) Request(env *nodes.Env) {
	env.Send(nodes.ID(env.N()), libraryRequest{env.Self(), env.Units()})
}
func (*library) Release(env *nodes.Env) { env.Send(nodes.ID(env.N()), libraryReturn{env.Units()}) }

func (*library) Receive(env *nodes.Env, _ nodes.ID, _ nodes.Message) { env.Grant() }

func (l *librarian) Receive(env *nodes.Env, _ nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case libraryRequest:
		l.queue = append(l.queue, m)
	case libraryReturn:
		l.taken -= m.Units
	}
	for len(l.queue) > 0 && l.taken+l.queue[0].Units <= shelves {
		l.taken += l.queue[0].Units
		env.Send(l.queue[0].Client, libraryGrant{})
		l.queue = l.queue[1:]
	}
}

// shelves are the units of the library.
const shelves = 3

func libraries() *algorithm.Algorithm {
	s := shared(toy("library", func() nodes.Machine { return &library{} },
		libraryRequest{}, libraryGrant{}, libraryReturn{}))
	s.Servers = func(nodes.Config) int { return 1 }
	s.NewServer = func(nodes.Config, nodes.ID) nodes.Machine { return &librarian{} }
	return s
}

// A tenant is a mutex of one node whose lease runs out while its client is inside.
type tenant struct{ lease bool }

func (t *tenant) Request(env *nodes.Env) {
	t.lease = true
	env.Grant()
	env.SetTimer(nodes.Timer{}, time.Millisecond, time.Millisecond)
}

func (t *tenant) Release(env *nodes.Env) {
	t.lease = false
	env.StopTimer(nodes.Timer{})
}

func (t *tenant) Timeout(env *nodes.Env, _ nodes.Timer)       { t.lease = false; env.Revoke() }
func (t *tenant) Receive(*nodes.Env, nodes.ID, nodes.Message) {}

func tenants() *algorithm.Algorithm { return toy("tenant", func() nodes.Machine { return &tenant{} }) }

// A stranger does not know its ID: it sends by the port to its successor, and receives by the port to its
// predecessor. Its client enters when its request has gone round. This excludes nobody, so only one client
// may ask.
type stranger struct{ waits bool }

type strangerAsk struct{ Hops int }

const (
	successor nodes.ID = iota
	predecessor
)

func (s *stranger) Request(env *nodes.Env) {
	s.waits = true
	env.Send(successor, strangerAsk{env.N() - 1})
}

func (s *stranger) Release(*nodes.Env) {}

// Receive passes a request on until it has gone round, which is a grant in a ring where only one asks.
func (s *stranger) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if from != predecessor {
		panic(fmt.Sprintf("a message came by port %d", from))
	}
	ask := m.(strangerAsk)
	if ask.Hops > 0 {
		env.Send(successor, strangerAsk{ask.Hops - 1})
		return
	}
	env.Grant()
}

func strangers() *algorithm.Algorithm {
	s := toy("stranger", func() nodes.Machine { return &stranger{} }, strangerAsk{})
	s.Ports = func(c nodes.Config, id nodes.ID) []nodes.ID {
		n := nodes.ID(c.N)
		return []nodes.ID{(id + 1) % n, (id + n - 1) % n}
	}
	return s
}

// A nosy stranger asks for its ID.
type nosy struct{ stranger }

func (n *nosy) Request(env *nodes.Env) { env.Self() }
