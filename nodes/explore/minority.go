package explore

import (
	"fmt"
	"math/bits"

	"turnstile/nodes"
)

// In an exploration nobody is cut off. That a node reaches no majority is that its failure detector suspects
// half of the clients, and that in its present life it has heard from too few to make a majority with it. If
// such a node lets its client in, and not because of a message, it has taken a minority for enough. A row
// that may keep what was there promises that but for requests, which find a token there.

// secludes reports whether a row promises something of minorities, and an exploration looks for it.
func (o *Options) secludes() bool { return o.Spec.Minority != nil && o.looksFor(CheckMinority) }

// inMinority reports whether a node of so many clients that suspects some, and has heard from some, is sure
// to reach no majority.
func inMinority(clients int, suspects, heard uint8) bool {
	all := uint8(1<<clients - 1)
	return 2*(clients-bits.OnesCount8(suspects&all)) <= clients && 2*(1+bits.OnesCount8(heard&all)) <= clients
}

// secluded reports whether a stimulus by which a client enters may not let it in, in the state of its node
// that comes of it.
func (ps *parts) secluded(next *part, s stimulus) bool {
	keeps := ps.o.Spec.Minority.Keeps && s >= onRequest && s < onRelease
	return s < onReceive && !keeps && inMinority(ps.stack.N(), next.suspects, next.heard)
}

// saysSecluded says who has entered in a minority.
func saysSecluded(id nodes.ID) string {
	return fmt.Sprintf("node %d enters, suspects half of the clients, and has heard from no majority", id)
}

// seclude looks whether a node has entered that may not, on a stage, by an input.
func (g *stage) seclude(id nodes.ID, in *nodes.Input) {
	spec := g.stack.Instances()[0].Spec
	a := &g.staged[id]
	if in.Kind == nodes.Receive && int(in.From) < mostExplored {
		a.heard |= 1 << in.From
	}
	if spec.Minority == nil || g.stack.N() > mostExplored || g.found != nil || len(g.entered) == 0 ||
		!g.o.looksFor(CheckMinority) || in.Kind == nodes.Receive ||
		in.Kind == nodes.Request && spec.Minority.Keeps {
		return
	}
	var suspects uint8
	for peer := range a.suspects.All() {
		suspects |= 1 << peer
	}
	if inMinority(g.stack.N(), suspects, a.heard) {
		g.found = &Violation{Check: CheckMinority, Says: saysSecluded(id)}
	}
}
