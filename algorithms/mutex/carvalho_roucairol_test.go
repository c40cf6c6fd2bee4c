package mutex

import (
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

func carvalhoMutants() []mutant {
	change := mutantsOf[carvalhoRoucairol](&carvalhoRoucairolAlgorithm, nodes.Config{N: 3})
	return []mutant{
		change("who waits and has given a permission away does not ask for it again", "progress",
			func(r carvalhoRoucairol) nodes.Machine { return &carvalhoSilent{r} }),
		change("a permission is kept after it was given back", "exclusion",
			func(r carvalhoRoucairol) nodes.Machine { return &carvalhoGreedy{r} }),
		change("who is inside replies to an earlier request", "exclusion or panic",
			func(r carvalhoRoucairol) nodes.Machine { return &carvalhoYielding{r} }),
		change("a permission that was put off is not given away", "exclusion",
			func(r carvalhoRoucairol) nodes.Machine { return &carvalhoClinging{r} }),
		change("a copy of a request is replied to", "exclusion or progress",
			func(r carvalhoRoucairol) nodes.Machine { return &carvalhoAnyRequest{r} }).copied(),
		change("REPLY does not say to which request", "exclusion",
			func(r carvalhoRoucairol) nodes.Machine { return &carvalhoAnyReply{r} }).copied(),
		change("one request in 25 goes to a peer that has permitted", "cost",
			func(r carvalhoRoucairol) nodes.Machine { return &carvalhoWasteful{carvalhoRoucairol: r} }).wasteful(),
	}
}

type (
	carvalhoSilent     struct{ carvalhoRoucairol }
	carvalhoGreedy     struct{ carvalhoRoucairol }
	carvalhoYielding   struct{ carvalhoRoucairol }
	carvalhoClinging   struct{ carvalhoRoucairol }
	carvalhoAnyRequest struct{ carvalhoRoucairol }
	carvalhoAnyReply   struct{ carvalhoRoucairol }
	carvalhoWasteful   struct {
		carvalhoRoucairol
		waste
	}
)

func (r *carvalhoSilent) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	q, asks := m.(carvalhoRequest)
	if waits := !r.ours.isZero() && !r.lacks.Empty(); asks && waits && !r.lacks.Has(from) &&
		(stamp{q.Clock, from}).before(r.ours) {
		r.clock, r.seen[from] = max(r.clock, q.Clock), q.Clock
		r.permit(env, from)
		return
	}
	r.carvalhoRoucairol.Receive(env, from, m)
}

func (r *carvalhoGreedy) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	had, idle := !r.lacks.Has(from), r.ours.isZero()
	r.carvalhoRoucairol.Receive(env, from, m)
	if had && idle {
		r.lacks.Remove(from)
	}
}

func (r *carvalhoYielding) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	q, asks := m.(carvalhoRequest)
	if asks && !r.ours.isZero() && r.lacks.Empty() && (stamp{q.Clock, from}).before(r.ours) {
		r.clock, r.seen[from] = max(r.clock, q.Clock), q.Clock
		env.Send(from, carvalhoReply(q))
		return
	}
	r.carvalhoRoucairol.Receive(env, from, m)
}

func (r *carvalhoClinging) Release(env *nodes.Env) {
	r.carvalhoRoucairol.Release(env)
	r.lacks.Clear()
}

func (r *carvalhoAnyRequest) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	r.seen[from] = 0
	r.carvalhoRoucairol.Receive(env, from, m)
}

func (r *carvalhoAnyReply) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if _, ok := m.(carvalhoReply); ok && !r.ours.isZero() {
		m = carvalhoReply{r.ours.Clock}
	}
	r.carvalhoRoucairol.Receive(env, from, m)
}

func (r *carvalhoWasteful) Request(env *nodes.Env) {
	if r.now() {
		r.lacks = env.Peers()
	}
	r.carvalhoRoucairol.Request(env)
}

// A single request takes two messages for each peer that entered after its node's last entry: N-1 on average.
func TestKeptPermissionsCostWhatOthersHaveTaken(t *testing.T) {
	for _, spec := range []*algorithm.Algorithm{&carvalhoRoucairolAlgorithm, &singhalDynamicAlgorithm} {
		for _, n := range []int{1, 2, 4, 9, 16} {
			c := nodes.Config{N: n}
			account := spec.Mutex.Exact(c, true)
			for i, e := range singleEntries(t, spec, c, 500) {
				if want := account(e.node); e.messages != want {
					t.Fatalf("%s, %d nodes: entry %d takes %d messages, want %d", spec.Name, n, i, e.messages, want)
				}
			}
		}
	}
}
