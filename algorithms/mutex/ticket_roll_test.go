package mutex

import (
	"cmp"
	"fmt"
	"testing"

	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/sim"
)

func ticketMutants() []mutant {
	c := nodes.Config{N: 3}
	change := mutantsOf[customer](&ticketAlgorithm, c)
	server := mutantsOf[ticketRoll](&ticketAlgorithm, c)
	clerks := mutantsOf[ticketRoll](&ticketAlgorithm, nodes.Config{N: 3, Units: 2})
	return []mutant{
		change("a client does not wait for its turn", "exclusion",
			func(k customer) nodes.Machine { return &ticketHasty{k} }),
		change("a turn is for whatever number the client has", "exclusion or progress",
			func(k customer) nodes.Machine { return &ticketCredulous{k} }).copied(),
		change("who leaves does not advance", "progress",
			func(k customer) nodes.Machine { return &ticketClinging{k} }),
		change("one request of a client in 25 is sent with a copy of an earlier one", "identities",
			func(k customer) nodes.Machine { return &ticketWasteful{customer: k} }).wasteful(),
		server("a request that comes twice gets two numbers", "progress",
			func(r ticketRoll) nodes.Machine { return &ticketGenerous{r} }).copied(),
		server("an advance that comes twice counts twice", "exclusion",
			func(r ticketRoll) nodes.Machine { return &ticketSkipping{r} }).copied(),
		clerks("numbers are divided among one clerk more than there are", "exclusion",
			func(r ticketRoll) nodes.Machine { return ticketRollOf(3) }),
		clerks("one clerk serves all numbers", "capacity",
			func(r ticketRoll) nodes.Machine { return ticketRollOf(1) }).holding(longHold),
		clerks("a clerk serves the second number after the one that has left", "progress",
			func(r ticketRoll) nodes.Machine { return &ticketHopping{r} }),
	}
}

type (
	ticketHasty     struct{ customer }
	ticketCredulous struct{ customer }
	ticketClinging  struct{ customer }
	ticketGenerous  struct{ ticketRoll }
	ticketSkipping  struct{ ticketRoll }
	ticketHopping   struct{ ticketRoll }
	ticketWasteful  struct {
		customer
		waste
	}
)

func (k *ticketHasty) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	k.customer.Receive(env, from, m)
	if n, ok := m.(rollNumber); ok && k.waiting {
		k.customer.Receive(env, from, rollTurn{n.Number})
	}
}

func (k *ticketCredulous) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if t, ok := m.(rollTurn); ok && k.number != 0 {
		t.Number = k.number
		m = t
	}
	k.customer.Receive(env, from, m)
}

func (k *ticketClinging) Release(*nodes.Env) {}

func (k *ticketWasteful) Request(env *nodes.Env) {
	if k.now() {
		env.Send(k.roll, rollTake{})
	}
	k.customer.Request(env)
}

func (r *ticketGenerous) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if t, ok := m.(rollTake); ok && t.Request > 0 {
		r.taken[from].Request = t.Request - 1
	}
	r.ticketRoll.Receive(env, from, m)
}

func (r *ticketSkipping) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if a, ok := m.(rollAdvance); ok && a.Number <= *r.clerk(a.Number) {
		a.Number = *r.clerk(a.Number)
		m = a
	}
	r.ticketRoll.Receive(env, from, m)
}

// ticketRollOf returns the server of a resource with so many units, for three clients.
func ticketRollOf(units int) *ticketRoll { return newTicketRoll(nodes.Config{N: 3, Units: units}) }

func (r *ticketHopping) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if a, ok := m.(rollAdvance); ok && a.Number == *r.clerk(a.Number) {
		*r.clerk(a.Number) += uint64(len(r.served))
		m = rollAdvance{*r.clerk(a.Number)}
	}
	r.ticketRoll.Receive(env, from, m)
}

// A ticketPool lets the first waiting client go to any free clerk.
type ticketPool struct {
	ticketRoll
	free int
}

func (r *ticketPool) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	switch m := m.(type) {
	case rollTake:
		r.ticketRoll.Receive(env, from, m)
		return
	case rollAwait:
		r.waiting = append(r.waiting, rollWait{from, m.Number})
	case rollAdvance:
		r.free++
	}
	for ; r.free > 0 && len(r.waiting) > 0; r.free-- {
		env.Send(r.waiting[0].Client, rollTurn{r.waiting[0].Number})
		r.waiting = r.waiting[1:]
	}
}

// Numbers have no gaps, and each clerk serves its numbers in order. So clients may use them for more: "the
// clients could use their number to select a clerk (number modulo number of clerks)", and each clerk gets as
// many, to within one; "the number modulo the queue size could indicate the slot in the buffer", and no slot
// is taken again before it was left, nor before all others were taken.
func TestTicketsAreServedInOrder(t *testing.T) {
	pool := algotest.MutantsOf[ticketRoll](&ticketAlgorithm)("whoever waits first goes to any clerk who is free",
		func(r ticketRoll) nodes.Machine { return &ticketPool{r, len(r.served)} })
	for clerks := 1; clerks <= 3; clerks++ {
		mutants := []algotest.Mutant{pool}
		if clerks == 1 {
			mutants = nil
		}
		algotest.Hunt(t, &ticketAlgorithm, mutants, 10,
			func(t testing.TB, algo *algorithm.Algorithm, seed uint64) string {
				return disorder(t, algo, clerks, seed)
			})
	}
}

// disorder returns what is wrong with the order in which clerks serve numbers in a run, or nothing.
func disorder(t testing.TB, algo *algorithm.Algorithm, clerks int, seed uint64) (fault string) {
	served, inside := make([][]uint64, clerks), make([]uint64, clerks)
	around := func(m nodes.Machine, received nodes.Message, handle func()) {
		c, ok := m.(*customer)
		if !ok {
			handle()
			return
		}
		waited, number := c.waiting, c.number
		handle()
		switch of := int(number) % clerks; {
		case waited && !c.waiting: // it enters
			if inside[of] != 0 {
				fault = fmt.Sprintf("%d enters at a clerk whom %d has not left", number, inside[of])
			}
			served[of], inside[of] = append(served[of], number), number
		case received == nil && !waited && !c.waiting: // it leaves
			inside[of] = 0
		}
	}
	r, err := sim.Run(watchedOptions(algo, nodes.Config{N: 5, Units: clerks}, seed, around))
	if err != nil || r.Cut != nil {
		return fmt.Sprint(err, r.Cut)
	}
	for of, numbers := range served {
		for i, n := range numbers {
			if want := uint64(i*clerks + cmp.Or(of, clerks)); n != want {
				return cmp.Or(fault, fmt.Sprintf("clerk %d serves %d, and %d was its next number", of, n, want))
			}
		}
		if len(numbers)-len(served[0]) > 1 || len(served[0])-len(numbers) > 1 || len(numbers) < 15 {
			return cmp.Or(fault, fmt.Sprintf("%d clients come to clerk %d, and %d to clerk 0", len(numbers), of,
				len(served[0])))
		}
	}
	return fault
}
