package mutex

import (
	"slices"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

func suzukiMutants() []mutant {
	change := mutantsOf[suzukiKasami](&suzukiKasamiAlgorithm, nodes.Config{N: 3})
	return []mutant{
		change("an idle holder answers no request", "progress",
			func(s suzukiKasami) nodes.Machine { return &suzukiIdle{suzukiPrinted{suzukiKasami: s}} }),
		change("a holder waits for the token it has", "progress",
			func(s suzukiKasami) nodes.Machine { return &suzukiSearching{suzukiPrinted{suzukiKasami: s}} }),
		change("who leaves does not note that it was served", "identities",
			func(s suzukiKasami) nodes.Machine { return &suzukiUnnoted{s} }),
		change("a holder inside sends the token", "exclusion",
			func(s suzukiKasami) nodes.Machine { return &suzukiGenerous{s} }),
		mutantsOf[suzukiKasami](&suzukiKasamiAlgorithm, nodes.Config{N: 5})(
			"all but the first of the token's queue count as served", "progress",
			func(s suzukiKasami) nodes.Machine { return &suzukiCutting{s} }),
		change("a token that was here before is taken again", "exclusion or panic",
			func(s suzukiKasami) nodes.Machine { return &suzukiStale{s} }).copied(),
		change("node 0 makes a token whenever it comes up", "exclusion or panic",
			func(s suzukiKasami) nodes.Machine { return &suzukiMinting{s} }).restarted(),
		mutantsOf[suzukiKasami](&suzukiKasamiAlgorithm, nodes.Config{N: 4})(
			"the last node is always put last in the token's queue", "fairness",
			func(s suzukiKasami) nodes.Machine { return &suzukiUnfair{s} }),
		change("one request of a node in 25 is sent again, with a token that is out of date", "cost",
			func(s suzukiKasami) nodes.Machine { return &suzukiWasteful{suzukiKasami: s} }).wasteful(),
		mutantsOf[suzukiRetrying](&suzukiRetryingAlgorithm, nodes.Config{N: 3})(
			"only RN = LN+1 counts as asking", "progress",
			func(s suzukiRetrying) nodes.Machine { s.exact = true; return &s }),
		mutantsOf[suzukiModulo](&suzukiModuloAlgorithm, nodes.Config{N: 3})(
			"numbers count modulo 4, and not 8", "progress or identities",
			func(s suzukiModulo) nodes.Machine { s.modulus = 4; return &s }),
	}
}

type (
	suzukiIdle      struct{ suzukiPrinted } // only its handling of requests is as printed
	suzukiSearching struct{ suzukiPrinted }
	suzukiUnnoted   struct{ suzukiKasami }
	suzukiGenerous  struct{ suzukiKasami }
	suzukiCutting   struct{ suzukiKasami }
	suzukiStale     struct{ suzukiKasami }
	suzukiMinting   struct{ suzukiKasami }
	suzukiUnfair    struct{ suzukiKasami }
	suzukiWasteful  struct {
		suzukiKasami
		waste
	}
)

func (s *suzukiIdle) Request(env *nodes.Env) { s.suzukiKasami.Request(env) }

func (s *suzukiSearching) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	s.suzukiKasami.Receive(env, from, m)
}

func (s *suzukiUnnoted) Release(env *nodes.Env) {
	ours := &s.rn[env.Self()]
	asked := *ours
	*ours = s.token.LN[env.Self()]
	s.suzukiKasami.Release(env)
	*ours = asked
}

func (s *suzukiGenerous) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, ok := m.(suzukiRequest); ok && s.has && q.Number > s.token.LN[from] {
		s.rn[from] = q.Number
		s.send(env, from)
		return
	}
	s.suzukiKasami.Receive(env, from, m)
}

func (s *suzukiGenerous) Release(env *nodes.Env) {
	if s.wants = false; s.has {
		s.leave(env)
	}
}

func (s *suzukiCutting) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if t, ok := m.(suzukiToken); ok && len(t.Queue) > 0 {
		t.LN = slices.Clone(t.LN)
		for _, id := range t.Queue[1:] {
			t.LN[id]++
		}
		t.Queue = t.Queue[:1]
		m = t
	}
	s.suzukiKasami.Receive(env, from, m)
}

func (s *suzukiStale) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if t, ok := m.(suzukiToken); ok && !s.has {
		s.token.Serial = t.Serial - 1
	}
	s.suzukiKasami.Receive(env, from, m)
}

func (s *suzukiMinting) Recover(env *nodes.Env, _ nodes.Message) { s.Start(env) }

var suzukiSavingAlgorithm = variantOf(&suzukiKasamiAlgorithm, "suzuki-kasami-saving",
	func(s suzukiKasami) nodes.Machine { return &suzukiSaving{s} }, nodes.MessageKind{Zero: suzukiSaved{}})

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

var (
	suzukiRetryingAlgorithm = askingMore(variantOf(&suzukiKasamiAlgorithm, "suzuki-kasami-retrying",
		func(s suzukiKasami) nodes.Machine { return &suzukiRetrying{suzukiKasami: s, anew: true} }))
	suzukiRepeatingAlgorithm = askingMore(variantOf(&suzukiKasamiAlgorithm, "suzuki-kasami-repeating",
		func(s suzukiKasami) nodes.Machine { return &suzukiRetrying{suzukiKasami: s, exact: true} }))
)

// askingMore returns a variant without bounds on messages, since its nodes ask again.
func askingMore(v algorithm.Algorithm) algorithm.Algorithm {
	more := *v.Mutex
	more.Identities, more.Exact = more.Identities[1:], nil
	more.Cost = func(nodes.Config) algorithm.Cost {
		return always("", algorithm.Unbounded(0),
			algorithm.Unbounded(0))
	}
	v.Mutex = &more
	return v
}

// suzukiRetrying is the algorithm of Suzuki and Kasami by nodes that ask again when they wait for long; once,
// so that there is an end to explore. Nobody waits for ever if the request keeps its number, or if all higher
// numbers count as asking.
type suzukiRetrying struct {
	suzukiKasami
	anew  bool // a node asks again under a new number
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

// Release overlooks nodes that do not count as asking.
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

// asks reports whether a node with this number counts as asking.
func (s *suzukiRetrying) asks(number uint64, from nodes.ID) bool {
	served := s.token.LN[from]
	return number == served+1 || !s.exact && number > served
}

func (s *suzukiUnfair) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if t, ok := m.(suzukiToken); ok {
		t.Queue = lastLast(t.Queue, func(id nodes.ID) bool { return int(id) == env.N()-1 })
		m = t
	}
	s.suzukiKasami.Receive(env, from, m)
}

func (s *suzukiWasteful) Request(env *nodes.Env) {
	s.suzukiKasami.Request(env)
	if s.now() && !s.has {
		env.Broadcast(suzukiRequest{s.rn[env.Self()]})
		env.Send((env.Self()+1)%nodes.ID(env.N()), suzukiToken{})
	}
}
