package election

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// A byHand is a cluster whose messages arrive when a test says so.
type byHand struct {
	stack   *algorithm.Stack
	nodes   []*nodes.Node
	up      []bool
	believe []nodes.ID // the leader of each node
	flights []flight   // in the order in which they were sent
	sent    map[string]int
	choose  nodes.Choose
	wrong   string // two led at once
	handled int    // messages
	runaway bool   // far more than any election takes, and there was no end
}

// A flight is a message on its way.
type flight struct {
	from, to nodes.ID
	message  nodes.Message
}

// clusterByHand returns a cluster that has started. Choices are drawn by r.
func clusterByHand(t testing.TB, spec *algorithm.Algorithm, c nodes.Config, r *rand.Rand) *byHand {
	t.Helper()
	stack, err := algorithm.Assemble(algorithm.Instance{Algorithm: spec, Config: c})
	if err != nil {
		t.Fatal(err)
	}
	h := &byHand{stack: stack, sent: map[string]int{}, up: make([]bool, c.N), believe: make([]nodes.ID, c.N),
		choose: func(_ nodes.ID, _ int32, n int) int { return r.IntN(n) }, nodes: make([]*nodes.Node, c.N)}
	for id := range nodes.ID(c.N) {
		h.boot(id, 0)
	}
	return h
}

// boot begins a life of a node, which remembers nothing.
func (h *byHand) boot(id nodes.ID, incarnation uint32) {
	h.nodes[id], h.up[id] = nodes.NewNode(h.stack.Stack, id, incarnation, h.choose), true
	h.believe[id] = nodes.None
	kind := nodes.Start
	if incarnation > 0 {
		kind = nodes.Recover
	}
	h.feed(id, nodes.Input{Kind: kind})
}

// crash takes a node down, and with it what is on its way to it.
func (h *byHand) crash(id nodes.ID) {
	h.up[id] = false
	h.flights = slices.DeleteFunc(h.flights, func(f flight) bool { return f.to == id })
}

// restart brings a node up again that is down, without its memory.
func (h *byHand) restart(id nodes.ID) { h.boot(id, h.nodes[id].Incarnation()+1) }

func (h *byHand) campaign(all ...nodes.ID) {
	for _, id := range all {
		h.feed(id, nodes.Input{Kind: nodes.Campaign})
	}
}

// feed has a node handle an input.
func (h *byHand) feed(id nodes.ID, in nodes.Input) {
	for _, e := range h.nodes[id].Handle(in) {
		switch e.Op {
		case nodes.OpSend:
			h.send(flight{id, e.To, e.Message})
		case nodes.OpBroadcast:
			for to := range nodes.ID(h.stack.N()) {
				if to != id {
					h.send(flight{id, to, e.Message})
				}
			}
		case nodes.OpElect:
			h.believe[id] = e.To
			if leaders := h.leaders(); len(leaders) > 1 {
				h.wrong = fmt.Sprintf("%v lead", leaders)
			}
		}
	}
}

func (h *byHand) send(f flight) {
	h.sent[nodes.KindName(f.message)]++
	h.flights = append(h.flights, f)
}

// leaders returns the live nodes that take themselves for the leader.
func (h *byHand) leaders() (all []nodes.ID) {
	for id, believes := range h.believe {
		if h.up[id] && believes == nodes.ID(id) {
			all = append(all, nodes.ID(id))
		}
	}
	return all
}

// agreed returns the leader on which all live nodes agree; None: they do not.
func (h *byHand) agreed() nodes.ID {
	leaders := h.leaders()
	if len(leaders) != 1 {
		return nodes.None
	}
	for id, believes := range h.believe {
		if h.up[id] && believes != leaders[0] && believes != nodes.Somebody {
			return nodes.None
		}
	}
	return leaders[0]
}

// arrive delivers the flight at a place in the order. To a node that is down it is lost.
func (h *byHand) arrive(at int) {
	f := h.flights[at]
	h.flights = slices.Delete(h.flights, at, at+1)
	if h.handled++; h.handled > 1000*(h.stack.N()+10)*(h.stack.N()+10) {
		h.flights, h.runaway = nil, true
		return
	}
	if h.up[f.to] {
		h.feed(f.to, nodes.Input{Kind: nodes.Receive, From: f.from, Message: f.message})
	}
}

// deliver delivers the first message of a link.
func (h *byHand) deliver(t testing.TB, from, to nodes.ID) {
	t.Helper()
	at := slices.IndexFunc(h.flights, func(f flight) bool { return f.from == from && f.to == to })
	if at < 0 {
		t.Fatalf("nothing is on its way from %d to %d", from, to)
	}
	h.arrive(at)
}

// rest delivers all messages, in the order sent.
func (h *byHand) rest() {
	for len(h.flights) > 0 {
		h.arrive(0)
	}
}

// trouble is what may go wrong in a run by hand.
type trouble struct {
	losses, copies, reordering, crashes, amnesia bool
}

// disturb delivers messages in a random order, with the given troubles, and begins campaigns at random
// moments, until no message is left.
func (h *byHand) disturb(r *rand.Rand, what trouble, campaigns int) {
	n := h.stack.N()
	for len(h.flights) > 0 || campaigns > 0 {
		if campaigns > 0 && (len(h.flights) == 0 || r.IntN(4*n) == 0) {
			campaigns--
			if id := r.IntN(n); h.up[id] {
				h.campaign(nodes.ID(id))
			}
			continue
		}
		at := r.IntN(len(h.flights))
		if f := h.flights[at]; !what.reordering {
			at = slices.IndexFunc(h.flights, func(g flight) bool { return g.from == f.from && g.to == f.to })
		}
		f := h.flights[at]
		switch dice := r.IntN(40); {
		case dice == 0 && what.losses:
			h.flights = slices.Delete(h.flights, at, at+1)
		case dice < 3 && what.copies: // it comes again, sometime
			h.arrive(at)
			h.flights = slices.Insert(h.flights, r.IntN(len(h.flights)+1), f)
		case dice == 3 && what.crashes && r.IntN(n) == 0:
			h.crash(f.to)
		case dice < 6 && what.amnesia:
			id := nodes.ID(r.IntN(n))
			h.crash(id)
			h.restart(id)
			if r.IntN(2) == 0 {
				h.campaign(id)
			}
		default:
			h.arrive(at)
		}
	}
}
