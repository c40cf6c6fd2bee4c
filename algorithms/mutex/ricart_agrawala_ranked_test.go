package mutex

import (
	"testing"

	"turnstile/judge/algotest"
	"turnstile/nodes"
	"turnstile/nodes/explore"
	"turnstile/nodes/replay"
)

func ricartRankedMutants() []mutant {
	change := mutantsOf[ricartRanked](&ricartAgrawalaAlgorithm, nodes.Config{N: 3})
	return []mutant{
		change("who lets a request pass does not ask again", "exclusion",
			func(r ricartRanked) nodes.Machine { return &rankedPrinted{r} }).at("priority", "id"),
		change("who has replied is put off, whatever its priority", "progress or exclusion",
			func(r ricartRanked) nodes.Machine { return &rankedBehind{r} }).at("priority", "id"),
		change("the reply to any request counts", "exclusion",
			func(r ricartRanked) nodes.Machine { return &rankedAnyReply{r} }).at("priority", "fewest"),
		change("a priority changes while its node waits", "progress",
			func(r ricartRanked) nodes.Machine { return &rankedChanging{r} }).at("priority", "fewest"),
		change("the state is set before the priority", "exclusion or progress",
			func(r ricartRanked) nodes.Machine { return &rankedEarly{r, stamp{}} }).at("priority", "fewest"),
	}
}

type (
	rankedPrinted  struct{ ricartRanked }
	rankedBehind   struct{ ricartRanked }
	rankedAnyReply struct{ ricartRanked }
	rankedChanging struct{ ricartRanked }
	rankedEarly    struct {
		ricartRanked
		before stamp // our request before this one
	}
)

// waits reports whether the machine waits, and m is a request with such a stamp that is no copy.
func (r *ricartRanked) waits(from nodes.ID, m nodes.Message) (s stamp, waits bool) {
	q, asks := m.(ricartRequest)
	waits = asks && q.Clock > r.seen[from] && !r.ours.isZero() && !r.lacks.Empty()
	return stamp{q.Clock >> rankedAgain, from}, waits
}

func (r *rankedPrinted) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if s, waits := r.waits(from, m); waits && r.by.before(s, r.ours) {
		r.seen[from] = m.(ricartRequest).Clock
		env.Send(from, ricartReply{r.seen[from]})
		return
	}
	r.ricartRanked.Receive(env, from, m)
}

func (r *rankedBehind) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if s, waits := r.waits(from, m); waits && r.by.before(s, r.ours) {
		r.seen[from] = m.(ricartRequest).Clock
		if !r.lacks.Has(from) {
			r.owed = append(r.owed, from)
			return
		}
		env.Send(from, ricartReply{r.seen[from]})
		return
	}
	r.ricartRanked.Receive(env, from, m)
}

func (r *rankedAnyReply) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if p, ok := m.(ricartReply); ok && p.Clock>>rankedAgain == r.ours.Clock {
		m = ricartReply{r.asked[from]}
	}
	r.ricartRanked.Receive(env, from, m)
}

// While it waits, a node compares requests with a number lower by one than the number that it has sent.
func (r *rankedChanging) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	ours := r.ours
	if _, waits := r.waits(from, m); waits && ours.Clock > 1 {
		r.ours.Clock--
	}
	changed := r.ours
	r.ricartRanked.Receive(env, from, m)
	if r.ours == changed {
		r.ours = ours
	}
}

func (r *rankedEarly) Request(env *nodes.Env) {
	r.before = stamp{r.last, env.Self()}
	r.ricartRanked.Request(env)
}

// While the new priority is not set, requests are compared with the one of the round before.
func (r *rankedEarly) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	ours := r.ours
	if _, waits := r.waits(from, m); waits {
		r.ours = r.before
	}
	early := r.ours
	r.ricartRanked.Receive(env, from, m)
	if r.ours == early {
		r.ours = ours
	}
}

// By the rules as printed, a waiting node just replies to requests of higher priority. Then any priority but
// that of stamps lets two in, even over FIFO links.
func TestPrintedPrioritiesLetTwoIn(t *testing.T) {
	for _, value := range priorityOption.Values[1:] {
		for _, m := range ricartRankedMutants() {
			if m.rule != "who lets a request pass does not ask again" {
				continue
			}
			c := m.config.With(priorityOption.Name, value)
			x := algotest.Explore(t, explore.Space{Spec: &m.spec, Config: c, Entries: 1, Demand: true})
			if x.Violation == nil || x.Violation.Check != replay.CheckExclusion {
				t.Errorf("%s: %+v", value, x.Violation)
			}
			sound := algotest.Explore(t, explore.Space{Spec: &ricartAgrawalaAlgorithm, Config: c, Entries: 1})
			if sound.Violation != nil || !sound.Exhausted || !sound.Progress {
				t.Errorf("%s, mended: %+v", value, sound)
			}
		}
	}
}

// Each priority puts requests of different nodes in an order: one of two comes first. Each number that a node
// takes is higher than its last.
func TestPrioritiesOrderRequests(t *testing.T) {
	for p := byStamp; p <= byLongestAgo; p++ {
		for a := range uint64(3) {
			for b := range uint64(3) {
				s, u := stamp{a + 1, 0}, stamp{b + 1, 1}
				if p.before(s, u) == p.before(u, s) || p.before(s, s) {
					t.Errorf("%s: %v and %v are not in order", priorityOption.Values[p], s, u)
				}
			}
		}
		last, r := uint64(0), ranking{by: p}
		for range 5 {
			number := r.next()
			r.hear(number)
			if r.leave(); number <= last {
				t.Errorf("%s: %d comes after %d", priorityOption.Values[p], number, last)
			}
			last = number
		}
	}
}
