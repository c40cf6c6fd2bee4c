package mutex

import (
	"slices"

	"turnstile/nodes"
)

// Variants returns sound forms of algorithms of the table that are no rows of it: what a mutant or a script
// is held against where the row does not have the rule that is broken.
func Variants() []nodes.Spec {
	withholding := variant("lamport", "lamport-withholding", func(c nodes.Config) nodes.Machine {
		return &lamportWithholding{lamport: lamport{seen: make([]uint64, c.N)}}
	})
	withholding.Safe &^= nodes.FIFO

	retrying := variant("suzuki-kasami", "suzuki-kasami-retrying", func(c nodes.Config) nodes.Machine {
		return &suzukiRetrying{suzukiKasami: suzukiKasami{rn: make([]uint64, c.N)}, anew: true}
	})
	repeating := variant("suzuki-kasami", "suzuki-kasami-repeating", func(c nodes.Config) nodes.Machine {
		return &suzukiRetrying{suzukiKasami: suzukiKasami{rn: make([]uint64, c.N)}, exact: true}
	})
	for _, v := range []*nodes.Spec{&retrying, &repeating} {
		v.Identities = v.Identities[1:] // what is asked again is a message more
		v.Cost = func(nodes.Config) nodes.Cost { return always("", nodes.Unbounded(0), nodes.Unbounded(0)) }
	}
	return []nodes.Spec{
		withholding, retrying, repeating,
		saving("lamport", lamportSaved{}, func(c nodes.Config) nodes.Machine {
			return &lamportSaving{lamport{seen: make([]uint64, c.N)}}
		}),
		saving("ricart-agrawala", ricartSaved{}, func(c nodes.Config) nodes.Machine {
			return &ricartSaving{ricartAgrawala{deferred: make([]ricartReply, c.N)}}
		}),
		saving("suzuki-kasami", suzukiSaved{}, func(c nodes.Config) nodes.Machine {
			return &suzukiSaving{suzukiKasami{rn: make([]uint64, c.N)}}
		}),
	}
}

func variant(of, name string, new func(c nodes.Config) nodes.Machine) nodes.Spec {
	row, err := Find(of)
	if err != nil {
		panic(err) // a slip of the pen above
	}
	v := *row
	v.Name, v.Aliases, v.New = name, nil, new
	return v
}

// saving is the variant of an algorithm in which a node that comes up again remembers what it must.
func saving(of string, saved nodes.Message, new func(c nodes.Config) nodes.Machine) nodes.Spec {
	v := variant(of, of+"-saving", new)
	v.Messages = append(slices.Clone(v.Messages), nodes.Kind{Zero: saved})
	return v
}

// find returns the row or the variant of that name.
func find(name string) (*nodes.Spec, error) {
	variants := Variants()
	at := slices.IndexFunc(variants, func(v nodes.Spec) bool { return v.Name == name })
	if at >= 0 {
		return &variants[at], nil
	}
	return Find(name)
}

// lamportWithholding is Lamport's algorithm as some teach it: a node inside acknowledges when it has left.
// Then nothing rests on the order of messages. Let P be inside, and Q have all acknowledgements. P gave its
// own before it entered; so it had Q's request in its queue, and its own came first. That is in Q's queue
// too, since Q has acknowledged it, and stays there until P releases it.
type lamportWithholding struct {
	lamport
	withheld []stamp // what we have queued inside and not acknowledged yet
}

func (l *lamportWithholding) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	q, ok := m.(lamportRequest)
	if !ok || !l.inside {
		l.lamport.Receive(env, from, m)
		return
	}
	l.hear(stamp{q.Clock, from})
	l.withheld = append(l.withheld, stamp{q.Clock, from})
}

func (l *lamportWithholding) Release(env *nodes.Env) {
	l.lamport.Release(env)
	for _, s := range l.withheld {
		env.Send(s.ID, lamportAck{s.Clock})
	}
	l.withheld = l.withheld[:0]
}

// lamportSaving is Lamport's algorithm by nodes that do not forget what they have stamped and acknowledged.
type lamportSaving struct{ lamport }

// lamportSaved is what a node knew.
type lamportSaved struct {
	Clock uint64
	Queue []stamp
}

func (l *lamportSaving) save(env *nodes.Env, s stamp) {
	env.Save(lamportSaved{max(l.clock, s.Clock), insert(slices.Clone(l.queue), s)})
}

func (l *lamportSaving) Request(env *nodes.Env) {
	l.save(env, stamp{l.clock + 1, env.Self()})
	l.lamport.Request(env)
}

func (l *lamportSaving) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, ok := m.(lamportRequest); ok {
		l.save(env, stamp{q.Clock, from})
	}
	l.lamport.Receive(env, from, m)
}

// Recover takes back what we had asked for: our client is a new one.
func (l *lamportSaving) Recover(env *nodes.Env, m nodes.Message) {
	saved, _ := m.(lamportSaved)
	l.clock = saved.Clock
	for _, s := range saved.Queue {
		if s.ID == env.Self() {
			env.Broadcast(lamportRelease{s.Clock})
		} else {
			l.hear(s)
		}
	}
}

// ricartSaving is the algorithm of Ricart and Agrawala by nodes that do not forget their clocks.
type ricartSaving struct{ ricartAgrawala }

// ricartSaved is the clock of a node.
type ricartSaved struct{ Clock uint64 }

func (r *ricartSaving) Request(env *nodes.Env) {
	env.Save(ricartSaved{r.clock + 1})
	r.ricartAgrawala.Request(env)
}

func (r *ricartSaving) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, ok := m.(ricartRequest); ok && q.Clock > r.clock {
		env.Save(ricartSaved(q))
	}
	r.ricartAgrawala.Receive(env, from, m)
}

func (r *ricartSaving) Recover(_ *nodes.Env, m nodes.Message) {
	saved, _ := m.(ricartSaved)
	r.clock = saved.Clock
}

// suzukiSaving is the algorithm of Suzuki and Kasami by nodes that do not forget the numbers of their
// requests.
type suzukiSaving struct{ suzukiKasami }

// suzukiSaved is the number of a node's latest request.
type suzukiSaved struct{ Number uint64 }

func (s *suzukiSaving) Request(env *nodes.Env) {
	if !s.has {
		env.Save(suzukiSaved{s.rn[env.Self()] + 1})
	}
	s.suzukiKasami.Request(env)
}

func (s *suzukiSaving) Recover(env *nodes.Env, m nodes.Message) {
	saved, _ := m.(suzukiSaved)
	s.rn[env.Self()] = saved.Number
}

// suzukiRetrying is the algorithm of Suzuki and Kasami by nodes that ask again when they wait for long; once,
// so that there is an end to explore. It stands that if the request keeps its number, or if all higher
// numbers count as asking.
type suzukiRetrying struct {
	suzukiKasami
	anew  bool // who asks again does so under a new number
	exact bool // only RN = LN+1 counts as asking, as in the paper
}

func (s *suzukiRetrying) Request(env *nodes.Env) {
	s.suzukiKasami.Request(env)
	if !s.has {
		env.SetTimer(tired, tiredAfter, 2*tiredAfter)
	}
}

// Timeout asks again.
func (s *suzukiRetrying) Timeout(env *nodes.Env, _ nodes.Timer) {
	ours := &s.rn[env.Self()]
	if s.anew {
		*ours++
	}
	peers := env.Peers()
	for peer := range peers.All() {
		env.Resend(peer, suzukiRequest{*ours})
	}
}

func (s *suzukiRetrying) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, ok := m.(suzukiRequest); ok && s.has && !s.asks(q.Number, from) {
		s.rn[from] = max(s.rn[from], q.Number)
		return
	}
	s.suzukiKasami.Receive(env, from, m)
	if s.has {
		env.StopTimer(tired)
	}
}

// Release overlooks those who do not count as asking.
func (s *suzukiRetrying) Release(env *nodes.Env) {
	heard := slices.Clone(s.rn)
	for id, number := range s.rn {
		if from := nodes.ID(id); from != env.Self() && !s.asks(number, from) {
			s.rn[id] = s.token.LN[id]
		}
	}
	s.suzukiKasami.Release(env)
	copy(s.rn, heard)
}

// asks reports whether a node of which that number was heard counts as asking.
func (s *suzukiRetrying) asks(number uint64, from nodes.ID) bool {
	served := s.token.LN[from]
	return number == served+1 || !s.exact && number > served
}
