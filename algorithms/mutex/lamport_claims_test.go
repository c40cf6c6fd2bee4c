package mutex

import (
	"math/rand/v2"
	"slices"
	"testing"

	"turnstile/judge/algotest"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/explore"
	"turnstile/nodes/replay"
)

// When all peers have acknowledged a request, no earlier one is on its way: the lemma that Lamport's
// algorithm rests on. It holds if links are FIFO, and not otherwise.
func TestAcknowledgementsCloseTheQueue(t *testing.T) {
	algo := variantOf(&lamportAlgorithm, "lamport-closed",
		func(l lamport) nodes.Machine { return &lamportClosed{l} })
	for _, test := range []struct {
		n, entries       int
		reordering, open bool
	}{{n: 2, entries: 3}, {n: 3, entries: 1}, {n: 2, entries: 1, reordering: true, open: true}} {
		x, err := explore.Run(explore.Space{Spec: &algo, Config: nodes.Config{N: test.n}, Entries: test.entries,
			Reordering: test.reordering, Demand: true, Checks: []string{replay.CheckPanic}})
		if err != nil {
			t.Fatal(err)
		}
		if open := x.Violation != nil; open != test.open || !open && !x.Exhausted {
			t.Errorf("%+v: an earlier request comes after all acknowledgements: %v (%s)", test, open, x.Bound)
		}
	}
}

// lamportClosed panics if the lemma does not hold.
type lamportClosed struct{ lamport }

func (l *lamportClosed) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	q, asks := m.(lamportRequest)
	if asks && !l.ours.isZero() && l.awaiting.Empty() && (stamp{q.Clock, from}).before(l.ours) {
		panic("an earlier request comes after all acknowledgements")
	}
	l.lamport.Receive(env, from, m)
}

// A new request may pass a request that waits, if its node had not heard of the latter: then neither node
// knew of the other request, and the lower stamp decides. It never passes a request that its node had
// answered before. So each peer passes a request once at most.
func TestNewRequestsJoinTheEndOnceTheyKnow(t *testing.T) {
	for _, test := range []struct {
		n, entries int
		known      bool // look for requests that pass one that their node had acknowledged
	}{{n: 3, entries: 1}, {n: 2, entries: 3, known: true}, {n: 3, entries: 1, known: true}} {
		for _, algo := range []algorithm.Algorithm{
			variantOf(&lamportAlgorithm, "lamport-end",
				func(l lamport) nodes.Machine { return &lamportEnd{l, test.known} }),
			variantOf(&ricartAgrawalaAlgorithm, "ricart-end",
				func(r ricartAgrawala) nodes.Machine { return &ricartEnd{r, test.known} }),
		} {
			x, err := explore.Run(explore.Space{Spec: &algo, Config: nodes.Config{N: test.n}, Entries: test.entries,
				Checks: []string{replay.CheckPanic}})
			if err != nil {
				t.Fatal(err)
			}
			if x.Violation == nil != test.known || test.known && !x.Exhausted {
				t.Errorf("%s, %+v: %+v (%s)", algo.Name, test, x.Violation, x.Bound)
			}
			if !test.known {
				passed := slices.Index(x.Violation.Story, "node 1 asks and sends request to all")
				if by := slices.Index(x.Violation.Story, "node 2 asks and sends request to all"); by < passed {
					t.Errorf("%s: the request of node 2 is not the later one: %q", algo.Name, x.Violation.Story)
				}
			}
		}
	}
}

// joinsTheEnd panics if a request of a peer passes ours: if it has a lower clock or, with known, if its node
// had answered ours.
func joinsTheEnd(ours stamp, clock uint64, from nodes.ID, answered, known bool) {
	passes := !ours.isZero() && (stamp{clock, from}).before(ours)
	if passes && (known && answered || !known && clock < ours.Clock) {
		panic("a new request passes one that waits")
	}
}

type lamportEnd struct {
	lamport
	known bool
}

func (l *lamportEnd) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, asks := m.(lamportRequest); asks {
		joinsTheEnd(l.ours, q.Clock, from, !l.awaiting.Has(from), l.known)
	}
	l.lamport.Receive(env, from, m)
}

type ricartEnd struct {
	ricartAgrawala
	known bool
}

func (r *ricartEnd) Receive(env *nodes.Env, from nodes.ID, m nodes.Message) {
	if q, asks := m.(ricartRequest); asks {
		joinsTheEnd(r.ours, q.Clock, from, !r.awaiting.Has(from), r.known)
	}
	r.ricartAgrawala.Receive(env, from, m)
}

// Whether a node that is inside acknowledges at once or withholds that until it has left, Lamport's algorithm
// takes 3(N-1) messages per entry.
func TestWithheldAcknowledgementsCostTheSame(t *testing.T) {
	for _, spec := range []*algorithm.Algorithm{&lamportAlgorithm, &lamportDeferredAlgorithm} {
		c := nodes.Config{N: 8}
		if v := judge(t, saturated(spec, c, 1), algorithm.Exactly(21)); v.Outcome != check.Valid {
			t.Errorf("%s: %v: %s", spec.Name, v.Outcome, v.Reason)
		}
	}
}

// Requests are served in the order of their stamps: by Lamport's algorithm if links are FIFO, and by that of
// Ricart and Agrawala in any case.
func TestEntriesAreInTheOrderOfStamps(t *testing.T) {
	withholding := lamportDeferredAlgorithm
	withholding.Safe |= nodes.FIFO
	for _, algo := range []*algorithm.Algorithm{&lamportAlgorithm, &withholding, &ricartAgrawalaAlgorithm} {
		for seed := range uint64(5) {
			var last stamp
			entries := 0
			err := runWatched(t, algo, 4, seed, func(m nodes.Machine, _ nodes.Message, handle func()) {
				before, _ := insideUnder(m)
				handle()
				if after, ours := insideUnder(m); after && !before {
					if ours.before(last) {
						t.Errorf("%s, seed %d: the request stamped %v is served after %v", algo.Name, seed, ours, last)
					}
					last, entries = ours, entries+1
				}
			})
			if err != nil || entries < 60 {
				t.Errorf("%s, seed %d: %d entries, %v", algo.Name, seed, entries, err)
			}
		}
	}
}

// insideUnder reports whether a machine is inside, and under which stamp.
func insideUnder(m nodes.Machine) (bool, stamp) {
	switch m := m.(type) {
	case *lamport:
		return m.inside, m.ours
	case *lamportDeferred:
		return m.inside, m.ours
	case *ricartAgrawala:
		return !m.ours.isZero() && m.awaiting.Empty(), m.ours
	}
	return false, stamp{}
}

// Whenever no message is on its way, the queues of all nodes are the same, as each is acknowledged at once.
func TestLamportQueuesAreIdentical(t *testing.T) {
	const n, rounds = 4, 200
	dice := rand.New(rand.NewPCG(1, 0))
	var cluster [n]*nodes.Node
	var links [n][n][]nodes.Message
	handle := func(id int, in nodes.Input) (enters bool) {
		for _, e := range cluster[id].Handle(in) {
			for to := range cluster {
				if e.Op == nodes.OpSend && int(e.To) == to || e.Op == nodes.OpBroadcast && to != id {
					links[id][to] = append(links[id][to], e.Message)
				}
			}
			enters = enters || e.Op == nodes.OpGrant
		}
		return enters
	}
	inside, longest := -1, 0
	for id := range cluster {
		cluster[id] = algotest.Node(&lamportAlgorithm, n, nodes.ID(id))
		handle(id, nodes.Input{Kind: nodes.Start})
	}
	for range rounds {
		id := dice.IntN(n)
		switch l := cluster[id].Machine(0).(*lamport); {
		case id == inside:
			inside = -1
			handle(id, nodes.Input{Kind: nodes.Release})
		case l.ours.isZero():
			handle(id, nodes.Input{Kind: nodes.Request})
		}
		for at := dice.IntN(n * n); at < 3*n*n; at++ { // one message of each link in turn, from a random link on
			from, to := at/n%n, at%n
			if len(links[from][to]) == 0 {
				continue
			}
			m := links[from][to][0]
			links[from][to] = links[from][to][1:]
			if handle(to, nodes.Input{Kind: nodes.Receive, From: nodes.ID(from), Message: m}) {
				inside = to
			}
		}
		if slices.ContainsFunc(links[:], func(l [n][]nodes.Message) bool {
			return slices.ContainsFunc(l[:], func(q []nodes.Message) bool { return len(q) > 0 })
		}) {
			continue
		}
		queue := cluster[0].Machine(0).(*lamport).queue
		longest = max(longest, len(queue))
		for id := range cluster {
			if other := cluster[id].Machine(0).(*lamport).queue; !slices.Equal(other, queue) {
				t.Fatalf("the queue of node 0 is %v, that of node %d %v", queue, id, other)
			}
		}
	}
	if longest < n {
		t.Errorf("the longest queue holds %d requests", longest)
	}
}
