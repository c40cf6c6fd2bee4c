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
			served(func() nodes.Machine { return &centralAnyRelease{} }),
		mutant("central", "a copy of a request is queued", "progress", c, nil).copied().
			served(func() nodes.Machine { return &centralAnyRequest{} }),
		mutant("central", "the coordinator does not wait for the release", "exclusion", c, nil).
			served(func() nodes.Machine { return &centralHasty{} }),
		mutant("central", "GRANT does not say of which request", "exclusion or progress", c,
			func(c nodes.Config) nodes.Machine {
				return &centralAnyGrant{centralClient{server: nodes.ID(c.N)}}
			}).copied(),
	}
}

type (
	centralAnyRelease struct{ coordinator }
	centralAnyRequest struct{ coordinator }
	centralHasty      struct{ coordinator }
	centralAnyGrant   struct{ centralClient }
)

func (c *centralAnyRelease) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, ok := m.(centralRelease); ok {
		m = centralRelease{c.serial}
	}
	c.coordinator.Receive(env, from, m)
}

func (c *centralAnyRequest) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if c.seen != nil {
		c.seen[from] = 0
	}
	c.coordinator.Receive(env, from, m)
}

func (c *centralHasty) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	c.holder = ticket{}
	c.coordinator.Receive(env, from, m)
}

func (c *centralAnyGrant) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if g, ok := m.(centralGrant); ok {
		m = centralGrant{c.number, g.Serial}
	}
	c.centralClient.Receive(env, from, m)
}

// The mutants of Lamport's algorithm.

func lamportMutants() []Mutant {
	c := nodes.Config{N: 3}
	base := func(c nodes.Config) lamport { return lamport{seen: make([]uint64, c.N)} }
	return []Mutant{
		mutant("lamport", "the first of its own queue enters, acknowledged or not", "exclusion", c,
			func(c nodes.Config) nodes.Machine { return &lamportUnheard{base(c)} }),
		mutant("lamport", "whoever is acknowledged enters, first or not", "exclusion", c,
			func(c nodes.Config) nodes.Machine { return &lamportUnordered{base(c)} }),
		mutant("lamport", "a clock does not advance when a message comes", "exclusion", c,
			func(c nodes.Config) nodes.Machine { return &lamportDeaf{base(c)} }),
		mutant("lamport", "ACK does not say of which request", "exclusion", c,
			func(c nodes.Config) nodes.Machine { return &lamportAnyAck{base(c)} }).copied(),
		mutant("lamport", "a copy of a request is queued", "progress", c,
			func(c nodes.Config) nodes.Machine { return &lamportAnyRequest{base(c)} }).copied(),
		mutant("lamport-withholding", "RELEASE does not say of which request", "exclusion", c,
			func(c nodes.Config) nodes.Machine { return &lamportAnyRelease{lamportWithholding{lamport: base(c)}} }),
	}
}

type (
	lamportUnheard    struct{ lamport }
	lamportUnordered  struct{ lamport }
	lamportDeaf       struct{ lamport }
	lamportAnyAck     struct{ lamport }
	lamportAnyRequest struct{ lamport }
	lamportAnyRelease struct{ lamportWithholding }
)

func (l *lamportUnheard) Request(env *nodes.Env) {
	l.lamport.Request(env)
	l.awaiting.Clear()
	l.enter(env)
}

func (l *lamportUnordered) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	l.lamport.Receive(env, from, m)
	if !l.ours.isZero() && !l.inside && l.awaiting.Empty() {
		l.inside = true
		env.Grant()
	}
}

func (l *lamportDeaf) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	clock := l.clock
	l.lamport.Receive(env, from, m)
	l.clock = clock
}

func (l *lamportAnyAck) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, ok := m.(lamportAck); ok && !l.ours.isZero() {
		m = lamportAck{l.ours.Clock}
	}
	l.lamport.Receive(env, from, m)
}

func (l *lamportAnyRequest) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	l.seen[from] = 0
	l.lamport.Receive(env, from, m)
}

func (l *lamportAnyRelease) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, ok := m.(lamportRelease); ok {
		l.queue = slices.DeleteFunc(l.queue, func(s stamp) bool { return s.ID == from })
		l.enter(env)
		return
	}
	l.lamportWithholding.Receive(env, from, m)
}

// The mutants of the algorithm of Ricart and Agrawala.

func ricartMutants() []Mutant {
	c := nodes.Config{N: 3}
	base := func(c nodes.Config) ricartAgrawala { return ricartAgrawala{deferred: make([]ricartReply, c.N)} }
	return []Mutant{
		mutant("ricart-agrawala", "whoever asks enters, and asks nobody", "exclusion", c,
			func(c nodes.Config) nodes.Machine { return &ricartLawless{base(c)} }),
		mutant("ricart-agrawala", "a node replies at once, inside or not", "exclusion", c,
			func(c nodes.Config) nodes.Machine { return &ricartYielding{base(c)} }),
		mutant("ricart-agrawala", "a node that waits defers, whoever came first", "progress", c,
			func(c nodes.Config) nodes.Machine { return &ricartSelfish{base(c)} }),
		mutant("ricart-agrawala", "of equal clocks neither defers", "exclusion", c,
			func(c nodes.Config) nodes.Machine { return &ricartPolite{base(c)} }),
		mutant("ricart-agrawala", "of equal clocks each defers", "progress", c,
			func(c nodes.Config) nodes.Machine { return &ricartStubborn{base(c)} }),
		mutant("ricart-agrawala", "a node inside replies at once", "exclusion", c,
			func(c nodes.Config) nodes.Machine { return &ricartAbsent{base(c)} }),
		mutant("ricart-agrawala", "the clock falls back to the request that comes", "exclusion", c,
			func(c nodes.Config) nodes.Machine { return &ricartFalling{ricartAgrawala: base(c)} }),
		mutant("ricart-agrawala", "the clock falls back, but who is inside defers in any case", "exclusion", c,
			func(c nodes.Config) nodes.Machine { return &ricartHolding{ricartFalling{ricartAgrawala: base(c)}} }),
		mutant("ricart-agrawala", "replies are counted, whoever they are from", "exclusion", c,
			func(c nodes.Config) nodes.Machine { return &ricartCounting{ricartAgrawala: base(c)} }).copied(),
		mutant("ricart-agrawala", "REPLY does not say to which request", "exclusion", c,
			func(c nodes.Config) nodes.Machine { return &ricartAnyReply{base(c)} }).copied(),
		mutant("ricart-agrawala", "the last of several deferred replies is forgotten", "progress", c,
			func(c nodes.Config) nodes.Machine { return &ricartForgetful{base(c)} }),
		mutant("ricart-agrawala", "who waits for long enters without the silent", "exclusion", c,
			func(c nodes.Config) nodes.Machine { return &ricartImpatient{base(c)} }),
	}
}

type (
	ricartLawless  struct{ ricartAgrawala }
	ricartYielding struct{ ricartAgrawala }
	ricartSelfish  struct{ ricartAgrawala }
	ricartPolite   struct{ ricartAgrawala }
	ricartStubborn struct{ ricartAgrawala }
	ricartAbsent   struct{ ricartAgrawala }
	ricartFalling  struct {
		ricartAgrawala
		local uint64 // the stamp of our latest request
	}
	ricartHolding  struct{ ricartFalling }
	ricartCounting struct {
		ricartAgrawala
		need int // so many replies are missing
	}
	ricartAnyReply  struct{ ricartAgrawala }
	ricartForgetful struct{ ricartAgrawala }
	ricartImpatient struct{ ricartAgrawala }
)

func (r *ricartLawless) Request(env *nodes.Env) { env.Grant() }

func (r *ricartYielding) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, ok := m.(ricartRequest); ok {
		env.Send(from, ricartReply(q))
		return
	}
	r.ricartAgrawala.Receive(env, from, m)
}

func (r *ricartSelfish) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, ok := m.(ricartRequest); ok && !r.ours.isZero() {
		r.putOff(from, q)
		return
	}
	r.ricartAgrawala.Receive(env, from, m)
}

func (r *ricartPolite) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, ok := m.(ricartRequest); ok && q.Clock == r.ours.Clock {
		env.Send(from, ricartReply(q))
		return
	}
	r.ricartAgrawala.Receive(env, from, m)
}

func (r *ricartStubborn) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, ok := m.(ricartRequest); ok && q.Clock == r.ours.Clock {
		r.putOff(from, q)
		return
	}
	r.ricartAgrawala.Receive(env, from, m)
}

func (r *ricartAbsent) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, ok := m.(ricartRequest); ok && !r.ours.isZero() && r.awaiting.Empty() {
		r.clock = max(r.clock, q.Clock)
		env.Send(from, ricartReply(q))
		return
	}
	r.ricartAgrawala.Receive(env, from, m)
}

func (r *ricartFalling) Request(env *nodes.Env) {
	r.ricartAgrawala.Request(env)
	r.local = r.clock
}

func (r *ricartFalling) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	r.ricartAgrawala.Receive(env, from, m)
	if q, ok := m.(ricartRequest); ok {
		r.clock = max(r.local, q.Clock)
	}
}

func (r *ricartHolding) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, ok := m.(ricartRequest); ok && !r.ours.isZero() && r.awaiting.Empty() {
		r.putOff(from, q)
		r.clock = max(r.local, q.Clock)
		return
	}
	r.ricartFalling.Receive(env, from, m)
}

func (r *ricartCounting) Request(env *nodes.Env) {
	r.need = env.N() - 1
	r.ricartAgrawala.Request(env)
}

func (r *ricartCounting) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, ok := m.(ricartReply); !ok {
		r.ricartAgrawala.Receive(env, from, m)
		return
	}
	r.need--
	if !r.ours.isZero() && r.need == 0 {
		env.Grant()
	}
}

func (r *ricartAnyReply) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, ok := m.(ricartReply); ok && !r.ours.isZero() {
		m = ricartReply{r.ours.Clock}
	}
	r.ricartAgrawala.Receive(env, from, m)
}

func (r *ricartForgetful) Release(env *nodes.Env) {
	if last := len(r.owed) - 1; last > 0 {
		r.deferred[r.owed[last]] = ricartReply{}
		r.owed = r.owed[:last]
	}
	r.ricartAgrawala.Release(env)
}

func (r *ricartImpatient) Request(env *nodes.Env) {
	r.ricartAgrawala.Request(env)
	env.SetTimer(tired, tiredAfter, 2*tiredAfter)
}

func (r *ricartImpatient) Timeout(env *nodes.Env, _ nodes.Timer) {
	r.awaiting.Clear()
	env.Grant()
}

func (r *ricartImpatient) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	r.ricartAgrawala.Receive(env, from, m)
	if r.awaiting.Empty() {
		env.StopTimer(tired)
	}
}
