package mutex

import "turnstile/nodes"

func neilsenMutants() []mutant {
	change := mutantsOf[neilsenMizuno](&neilsenMizunoAlgorithm, nodes.Config{N: 4})
	return []mutant{
		change("edges are not turned", "progress",
			func(m neilsenMizuno) nodes.Machine { return &neilsenFixed{m} }),
		change("edges are turned to who asks", "cost or identities",
			func(m neilsenMizuno) nodes.Machine { return &neilsenShortening{m} }),
		change("next is not forgotten when the token goes there", "progress, identities or cost",
			func(m neilsenMizuno) nodes.Machine { return &neilsenClinging{m} }),
		change("a node inside sends the token", "exclusion",
			func(m neilsenMizuno) nodes.Machine { return &neilsenGenerous{m} }),
		change("node 0 makes a token whenever it comes up", "exclusion or panic",
			func(m neilsenMizuno) nodes.Machine { return &neilsenMinting{m} }).restarted(),
		change("a token that was here before is taken again", "exclusion or panic",
			func(m neilsenMizuno) nodes.Machine { return &neilsenStale{m} }).copied(),
		change("one request of a node in 25 goes with a token that is out of date", "cost",
			func(m neilsenMizuno) nodes.Machine { return &neilsenWasteful{neilsenMizuno: m} }).wasteful(),
		mutantsOf[neilsenMizuno](&neilsenMizunoAlgorithm, nodes.Config{N: 5})(
			"a node that wants to enter keeps the last node's request until it leaves", "fairness",
			func(m neilsenMizuno) nodes.Machine { return &neilsenUnfair{neilsenMizuno: m} }).at("tree", "line"),
	}
}

type (
	neilsenFixed      struct{ neilsenMizuno }
	neilsenShortening struct{ neilsenMizuno }
	neilsenClinging   struct{ neilsenMizuno }
	neilsenGenerous   struct{ neilsenMizuno }
	neilsenMinting    struct{ neilsenMizuno }
	neilsenStale      struct{ neilsenMizuno }
	neilsenWasteful   struct {
		neilsenMizuno
		waste
	}
	neilsenUnfair struct {
		neilsenMizuno
		keeps bool
		kept  neilsenRequest
		from  nodes.ID
	}
)

func (m *neilsenFixed) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	last := m.last
	m.neilsenMizuno.Receive(env, from, msg)
	m.last = last
}

// Receive turns edges as Naimi and Trehel do: the tree changes.
func (m *neilsenShortening) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	last := m.last
	m.neilsenMizuno.Receive(env, from, msg)
	if q, ok := msg.(neilsenRequest); ok && m.last != last {
		m.last = q.Origin
	}
}

func (m *neilsenClinging) Release(env *nodes.Env) {
	next := m.next
	m.neilsenMizuno.Release(env)
	m.next = next
}

func (m *neilsenGenerous) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	wanted := m.wants
	if _, ok := msg.(neilsenRequest); ok && m.has {
		m.wants = false
	}
	m.neilsenMizuno.Receive(env, from, msg)
	m.wants = wanted
}

func (m *neilsenMinting) Recover(env *nodes.Env, _ nodes.Message) { m.Start(env) }

func (m *neilsenStale) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	if token, ok := msg.(neilsenPrivilege); ok && !m.has {
		m.serial = token.Serial - 1
	}
	m.neilsenMizuno.Receive(env, from, msg)
}

func (m *neilsenUnfair) Receive(env *nodes.Env, from nodes.ID, msg nodes.Message) {
	if q, ok := msg.(neilsenRequest); ok && m.wants && int(q.Origin) == env.N()-1 {
		m.keeps, m.kept, m.from = true, q, from
		return
	}
	m.neilsenMizuno.Receive(env, from, msg)
}

func (m *neilsenUnfair) Release(env *nodes.Env) {
	m.neilsenMizuno.Release(env)
	if m.keeps {
		m.keeps = false
		m.neilsenMizuno.Receive(env, m.from, m.kept)
	}
}

func (m *neilsenWasteful) Request(env *nodes.Env) {
	if m.now() && m.last != nodes.None {
		env.Send(m.last, neilsenPrivilege{})
	}
	m.neilsenMizuno.Request(env)
}
