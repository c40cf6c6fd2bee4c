package chaos

import (
	"slices"
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
)

// Rules are the faults of links: they change what another shaper makes of messages, while they are in force.
// A rule acts on what a link takes in in that time, whenever it was sent.
type Rules struct {
	of    nodes.Shaper
	rules []rule
}

// A rule is one fault of links.
type rule struct {
	*Fault
	slot  *slot
	dice  chance.Dice
	kinds []bool                // of messages that it is for
	busy  map[[2]nodes.ID]int64 // until when each link is, or one direction of a connection
	last  int64                 // bandwidth: when the latest packet came
	at    Group                 // of one that stands in: the nodes or the brokers
}

// NewRules returns the rules that the faults of a run make, on top of a shaper, for messages of a codec.
func NewRules(faults []Fault, b *Board, of nodes.Shaper, codec *nodes.Codec) (*Rules, error) {
	r := &Rules{of: of}
	for i := range faults {
		if err := r.add(&faults[i], &b.slots[i], codec); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// add adds the rule of a fault, if it is one of links.
func (r *Rules) add(f *Fault, s *slot, codec *nodes.Codec) error {
	if !f.OfLinks() {
		return nil
	}
	kinds, err := kindsOf(f.Kind, codec)
	if err != nil {
		return err
	}
	x := rule{Fault: f, slot: s, dice: chance.Dice(f.Seed), kinds: kinds, busy: map[[2]nodes.ID]int64{},
		at: f.ends(f.among)}
	if t := f.target(); t != nil {
		x.at = t.Nodes
	}
	r.rules = append(r.rules, x)
	return nil
}

// Shape implements nodes.Shaper.
func (r *Rules) Shape(p *nodes.Packet, fate nodes.Fate) nodes.Fate {
	begun := len(fate)
	fate = r.of.Shape(p, fate)
	for i := range r.rules {
		x := &r.rules[i]
		if !x.slot.inForce(p.At) || !x.isFor(p) {
			continue
		}
		hit := true
		fate, hit = x.shape(p, fate, begun, r.of)
		if hit {
			x.slot.hits.Add(1)
		}
	}
	return fate
}

// NeedsBytes implements nodes.Weigher.
func (r *Rules) NeedsBytes() bool {
	return slices.ContainsFunc(r.rules, func(x rule) bool { return x.Bandwidth > 0 || x.To > 0 })
}

// isFor reports whether the rule is for a packet, and counts it if it is for the nth of these.
func (x *rule) isFor(p *nodes.Packet) bool {
	switch {
	case !x.kinds[p.Kind], x.Instance != nil && *x.Instance != p.Instance, !x.isOn(p.Net):
		return false
	case !x.Cut.None() && !x.cuts(p):
		return false
	case !x.Between.None() && !x.Between.Separates(p.From, p.To):
		return false
	case x.StandIn != "" && !x.standsFor(p):
		return false
	}
	return x.Nth == 0 || x.slot.seen.Add(1) == x.Nth
}

// cuts reports whether its cut separates the sender of a packet from its receiver.
func (x *rule) cuts(p *nodes.Packet) bool {
	if x.Cut.of.ByRun() {
		victim := x.slot.victim()
		return p.From == victim || p.To == victim
	}
	return x.Cut.Separates(p.From, p.To)
}

// ofCopy is set in the number of a second copy, so that decisions about it do not depend on the first.
const ofCopy = 1 << 63

// shape changes the fate of a packet, from begun on, and reports whether the rule hits it.
func (x *rule) shape(p *nodes.Packet, fate nodes.Fate, begun int, of nodes.Shaper) (nodes.Fate, bool) {
	later := time.Duration(0)
	switch {
	case x.StandIn != "":
		return x.standIn(p, fate, begun)
	case !x.Cut.None(), x.Loss != nil && x.loses(p):
		return fate[:begun], true
	case x.Loss != nil:
		return fate, false
	case x.Duplicate != nil:
		if len(fate) == begun || x.dice.Unit(roll(chance.ForCopy, p)) >= float64(*x.Duplicate) {
			return fate, false
		}
		p.Number |= ofCopy
		fate = of.Shape(p, fate)
		p.Number &^= ofCopy
		return fate, true
	case x.Delay != nil:
		later = x.Delay.Draw(x.dice, roll(chance.ForDelay, p))
	case x.Reorder != nil:
		later = x.Reorder.Draw(x.dice, roll(chance.ForReorder, p))
		p.Loose = p.Loose || !x.Reorder.Zero()
	case x.Bandwidth > 0:
		later = x.transmit(p)
	}
	for i := range fate[begun:] {
		fate[begun+i] += later
	}
	return fate, len(fate) > begun && later > 0
}

// loses draws whether a packet is lost.
func (x *rule) loses(p *nodes.Packet) bool {
	if x.Loss.Worsens == 0 {
		return x.dice.Unit(roll(chance.ForLoss, p)) < float64(x.Loss.Rate)
	}
	// Each packet draws a number that makes a good link bad, or a bad one good, or leaves it as it is. So the
	// state is that of the latest packet whose number was not of the last kind, and no state need be kept.
	for number := p.Number; number > 0; number-- {
		switch u := x.dice.Unit(chance.OnLink(chance.ForBurst, p.From, p.To, 0, number)); {
		case u < float64(x.Loss.Worsens):
			return true
		case u >= 1-float64(x.Loss.Recovers):
			return false
		}
	}
	return false
}

// renew forgets which links are busy if another run has begun.
func (x *rule) renew(at int64) {
	if at < x.last {
		clear(x.busy)
	}
	x.last = at
}

// transmit returns how much later a packet arrives, since others of its link pass before it, and since it
// takes its own time.
func (x *rule) transmit(p *nodes.Packet) time.Duration {
	x.renew(p.At)
	link := [2]nodes.ID{p.From, p.To}
	takes := int64(p.Bytes) * int64(time.Second) / int64(x.Bandwidth)
	x.busy[link] = max(x.busy[link], p.At) + takes
	return time.Duration(x.busy[link] - p.At)
}
