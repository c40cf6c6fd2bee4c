package mutex

import "turnstile/nodes"

func ricartMutants() []mutant {
	change := mutantsOf[ricartAgrawala](&ricartAgrawalaAlgorithm, nodes.Config{N: 3})
	return []mutant{
		change("whoever asks enters, and asks nobody", "exclusion",
			func(r ricartAgrawala) nodes.Machine { return &ricartLawless{r} }),
		change("a node replies at once, inside or not", "exclusion",
			func(r ricartAgrawala) nodes.Machine { return &ricartYielding{r} }),
		change("a node that waits defers, whoever came first", "progress",
			func(r ricartAgrawala) nodes.Machine { return &ricartSelfish{r} }),
		change("of equal clocks neither defers", "exclusion",
			func(r ricartAgrawala) nodes.Machine { return &ricartPolite{r} }),
		change("of equal clocks each defers", "progress",
			func(r ricartAgrawala) nodes.Machine { return &ricartStubborn{r} }),
		change("a node inside replies at once", "exclusion",
			func(r ricartAgrawala) nodes.Machine { return &ricartAbsent{r} }),
		change("the clock falls back, but who is inside defers in any case", "exclusion",
			func(r ricartAgrawala) nodes.Machine { return &ricartHolding{ricartAgrawala: r} }),
		change("REPLY does not say to which request", "exclusion",
			func(r ricartAgrawala) nodes.Machine { return &ricartAnyReply{r} }).copied(),
		change("the last of several deferred replies is forgotten", "progress",
			func(r ricartAgrawala) nodes.Machine { return &ricartForgetful{r} }),
		change("who waits for long enters without the silent", "exclusion",
			func(r ricartAgrawala) nodes.Machine { return &ricartImpatient{r} }),
		change("a node inside replies at once while its clock is 999 modulo 1000", "exclusion",
			func(r ricartAgrawala) nodes.Machine { return &ricartRare{r} }).after(1200),
	}
}

type (
	ricartLawless  struct{ ricartAgrawala }
	ricartYielding struct{ ricartAgrawala }
	ricartSelfish  struct{ ricartAgrawala }
	ricartPolite   struct{ ricartAgrawala }
	ricartStubborn struct{ ricartAgrawala }
	ricartAbsent   struct{ ricartAgrawala }
	ricartHolding  struct {
		ricartAgrawala
		local uint64 // the stamp of our latest request
	}
	ricartAnyReply  struct{ ricartAgrawala }
	ricartForgetful struct{ ricartAgrawala }
	ricartImpatient struct{ ricartAgrawala }
	ricartRare      struct{ ricartAgrawala }
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

func (r *ricartHolding) Request(env *nodes.Env) {
	r.ricartAgrawala.Request(env)
	r.local = r.clock
}

func (r *ricartHolding) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	q, ok := m.(ricartRequest)
	if ok && !r.ours.isZero() && r.awaiting.Empty() {
		r.putOff(from, q)
	} else {
		r.ricartAgrawala.Receive(env, from, m)
	}
	if ok {
		r.clock = max(r.local, q.Clock)
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

var ricartSavingAlgorithm = variantOf(&ricartAgrawalaAlgorithm, "ricart-agrawala-saving",
	func(r ricartAgrawala) nodes.Machine { return &ricartSaving{r} }, nodes.MessageKind{Zero: ricartSaved{}})

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

func (r *ricartRare) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	ours := r.ours
	if _, ok := m.(ricartRequest); ok && r.awaiting.Empty() && r.clock%1000 == 999 {
		r.ours = stamp{}
	}
	r.ricartAgrawala.Receive(env, from, m)
	r.ours = ours
}
