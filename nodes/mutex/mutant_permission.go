package mutex

import (
	"slices"

	"turnstile/nodes"
)

// The mutants of the central algorithm.

func centralMutants() []Mutant {
	c := nodes.Config{N: 3}
	return []Mutant{
		mutant("central", "RELEASE does not say of which grant", "exclusion", c, nil).copied().
			served(func() nodes.Machine { return &ceAnyRelease{} }),
		mutant("central", "a copy of a request is queued", "progress", c, nil).copied().
			served(func() nodes.Machine { return &ceAnyRequest{} }),
		mutant("central", "the coordinator does not wait for the release", "exclusion", c, nil).
			served(func() nodes.Machine { return &ceHasty{} }),
		mutant("central", "GRANT does not say of which request", "exclusion or progress", c,
			func(c nodes.Config) nodes.Mutex {
				return &ceAnyGrant{centralClient{server: nodes.ID(c.N)}}
			}).copied(),
	}
}

type (
	ceAnyRelease struct{ coordinator }
	ceAnyRequest struct{ coordinator }
	ceHasty      struct{ coordinator }
	ceAnyGrant   struct{ centralClient }
)

func (c *ceAnyRelease) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, ok := m.(ceRelease); ok {
		m = ceRelease{c.serial}
	}
	c.coordinator.Receive(env, from, m)
}

func (c *ceAnyRequest) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if c.seen != nil {
		c.seen[from] = 0
	}
	c.coordinator.Receive(env, from, m)
}

func (c *ceHasty) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	c.holder = ticket{}
	c.coordinator.Receive(env, from, m)
}

func (c *ceAnyGrant) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if g, ok := m.(ceGrant); ok {
		m = ceGrant{c.number, g.Serial}
	}
	c.centralClient.Receive(env, from, m)
}

// The mutants of Lamport's algorithm.

func lamportMutants() []Mutant {
	c := nodes.Config{N: 3}
	base := func(c nodes.Config) lamport { return lamport{seen: make([]uint64, c.N)} }
	return []Mutant{
		mutant("lamport", "the first of its own queue enters, acknowledged or not", "exclusion", c,
			func(c nodes.Config) nodes.Mutex { return &lmUnheard{base(c)} }),
		mutant("lamport", "whoever is acknowledged enters, first or not", "exclusion", c,
			func(c nodes.Config) nodes.Mutex { return &lmUnordered{base(c)} }),
		mutant("lamport", "a clock does not advance when a message comes", "exclusion", c,
			func(c nodes.Config) nodes.Mutex { return &lmDeaf{base(c)} }),
		mutant("lamport", "ACK does not say of which request", "exclusion", c,
			func(c nodes.Config) nodes.Mutex { return &lmAnyAck{base(c)} }).copied(),
		mutant("lamport", "a copy of a request is queued", "progress", c,
			func(c nodes.Config) nodes.Mutex { return &lmAnyRequest{base(c)} }).copied(),
		mutant("lamport-withholding", "RELEASE does not say of which request", "exclusion", c,
			func(c nodes.Config) nodes.Mutex { return &lmAnyRelease{lmWithholding{lamport: base(c)}} }),
	}
}

type (
	lmUnheard    struct{ lamport }
	lmUnordered  struct{ lamport }
	lmDeaf       struct{ lamport }
	lmAnyAck     struct{ lamport }
	lmAnyRequest struct{ lamport }
	lmAnyRelease struct{ lmWithholding }
)

func (l *lmUnheard) Request(env *nodes.Env) {
	l.lamport.Request(env)
	l.awaiting.Clear()
	l.enter(env)
}

func (l *lmUnordered) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	l.lamport.Receive(env, from, m)
	if !l.ours.isZero() && !l.inside && l.awaiting.Empty() {
		l.inside = true
		env.Grant()
	}
}

func (l *lmDeaf) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	clock := l.clock
	l.lamport.Receive(env, from, m)
	l.clock = clock
}

func (l *lmAnyAck) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, ok := m.(lmAck); ok && !l.ours.isZero() {
		m = lmAck{l.ours.Clock}
	}
	l.lamport.Receive(env, from, m)
}

func (l *lmAnyRequest) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	l.seen[from] = 0
	l.lamport.Receive(env, from, m)
}

func (l *lmAnyRelease) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, ok := m.(lmRelease); ok {
		l.queue = slices.DeleteFunc(l.queue, func(s stamp) bool { return s.ID == from })
		l.enter(env)
		return
	}
	l.lmWithholding.Receive(env, from, m)
}

// The mutants of the algorithm of Ricart and Agrawala.

func ricartMutants() []Mutant {
	c := nodes.Config{N: 3}
	base := func(c nodes.Config) ricartAgrawala { return ricartAgrawala{deferred: make([]raReply, c.N)} }
	return []Mutant{
		mutant("ricart-agrawala", "whoever asks enters, and asks nobody", "exclusion", c,
			func(c nodes.Config) nodes.Mutex { return &raLawless{base(c)} }),
		mutant("ricart-agrawala", "a node replies at once, inside or not", "exclusion", c,
			func(c nodes.Config) nodes.Mutex { return &raYielding{base(c)} }),
		mutant("ricart-agrawala", "a node that waits defers, whoever came first", "progress", c,
			func(c nodes.Config) nodes.Mutex { return &raSelfish{base(c)} }),
		mutant("ricart-agrawala", "of equal clocks neither defers", "exclusion", c,
			func(c nodes.Config) nodes.Mutex { return &raPolite{base(c)} }),
		mutant("ricart-agrawala", "of equal clocks each defers", "progress", c,
			func(c nodes.Config) nodes.Mutex { return &raStubborn{base(c)} }),
		mutant("ricart-agrawala", "a node inside replies at once", "exclusion", c,
			func(c nodes.Config) nodes.Mutex { return &raAbsent{base(c)} }),
		mutant("ricart-agrawala", "the clock falls back to the request that comes", "exclusion", c,
			func(c nodes.Config) nodes.Mutex { return &raFalling{ricartAgrawala: base(c)} }),
		mutant("ricart-agrawala", "the clock falls back, but who is inside defers in any case", "exclusion", c,
			func(c nodes.Config) nodes.Mutex { return &raHolding{raFalling{ricartAgrawala: base(c)}} }),
		mutant("ricart-agrawala", "replies are counted, whoever they are from", "exclusion", c,
			func(c nodes.Config) nodes.Mutex { return &raCounting{ricartAgrawala: base(c)} }).copied(),
		mutant("ricart-agrawala", "REPLY does not say to which request", "exclusion", c,
			func(c nodes.Config) nodes.Mutex { return &raAnyReply{base(c)} }).copied(),
		mutant("ricart-agrawala", "the last of several deferred replies is forgotten", "progress", c,
			func(c nodes.Config) nodes.Mutex { return &raForgetful{base(c)} }),
		mutant("ricart-agrawala", "who waits for long enters without the silent", "exclusion", c,
			func(c nodes.Config) nodes.Mutex { return &raImpatient{base(c)} }),
	}
}

type (
	raLawless  struct{ ricartAgrawala }
	raYielding struct{ ricartAgrawala }
	raSelfish  struct{ ricartAgrawala }
	raPolite   struct{ ricartAgrawala }
	raStubborn struct{ ricartAgrawala }
	raAbsent   struct{ ricartAgrawala }
	raFalling  struct {
		ricartAgrawala
		local uint64 // the stamp of our latest request
	}
	raHolding  struct{ raFalling }
	raCounting struct {
		ricartAgrawala
		need int // so many replies are missing
	}
	raAnyReply  struct{ ricartAgrawala }
	raForgetful struct{ ricartAgrawala }
	raImpatient struct{ ricartAgrawala }
)

func (r *raLawless) Request(env *nodes.Env) { env.Grant() }

func (r *raYielding) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, ok := m.(raRequest); ok {
		env.Send(from, raReply(q))
		return
	}
	r.ricartAgrawala.Receive(env, from, m)
}

func (r *raSelfish) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, ok := m.(raRequest); ok && !r.ours.isZero() {
		r.putOff(from, q)
		return
	}
	r.ricartAgrawala.Receive(env, from, m)
}

func (r *raPolite) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, ok := m.(raRequest); ok && q.Clock == r.ours.Clock {
		env.Send(from, raReply(q))
		return
	}
	r.ricartAgrawala.Receive(env, from, m)
}

func (r *raStubborn) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, ok := m.(raRequest); ok && q.Clock == r.ours.Clock {
		r.putOff(from, q)
		return
	}
	r.ricartAgrawala.Receive(env, from, m)
}

func (r *raAbsent) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, ok := m.(raRequest); ok && !r.ours.isZero() && r.awaiting.Empty() {
		r.clock = max(r.clock, q.Clock)
		env.Send(from, raReply(q))
		return
	}
	r.ricartAgrawala.Receive(env, from, m)
}

func (r *raFalling) Request(env *nodes.Env) {
	r.ricartAgrawala.Request(env)
	r.local = r.clock
}

func (r *raFalling) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	r.ricartAgrawala.Receive(env, from, m)
	if q, ok := m.(raRequest); ok {
		r.clock = max(r.local, q.Clock)
	}
}

func (r *raHolding) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, ok := m.(raRequest); ok && !r.ours.isZero() && r.awaiting.Empty() {
		r.putOff(from, q)
		r.clock = max(r.local, q.Clock)
		return
	}
	r.raFalling.Receive(env, from, m)
}

func (r *raCounting) Request(env *nodes.Env) {
	r.need = env.N() - 1
	r.ricartAgrawala.Request(env)
}

func (r *raCounting) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, ok := m.(raReply); !ok {
		r.ricartAgrawala.Receive(env, from, m)
		return
	}
	r.need--
	if !r.ours.isZero() && r.need == 0 {
		env.Grant()
	}
}

func (r *raAnyReply) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, ok := m.(raReply); ok && !r.ours.isZero() {
		m = raReply{r.ours.Clock}
	}
	r.ricartAgrawala.Receive(env, from, m)
}

func (r *raForgetful) Release(env *nodes.Env) {
	if last := len(r.owed) - 1; last > 0 {
		r.deferred[r.owed[last]] = raReply{}
		r.owed = r.owed[:last]
	}
	r.ricartAgrawala.Release(env)
}

func (r *raImpatient) Request(env *nodes.Env) {
	r.ricartAgrawala.Request(env)
	env.SetTimer(tired, tiredAfter, 2*tiredAfter)
}

func (r *raImpatient) Timeout(env *nodes.Env, _ nodes.Timer) {
	r.awaiting.Clear()
	env.Grant()
}

func (r *raImpatient) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	r.ricartAgrawala.Receive(env, from, m)
	if r.awaiting.Empty() {
		env.StopTimer(tired)
	}
}
