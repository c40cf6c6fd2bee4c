package chaos

import (
	"slices"

	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/port"
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
	shared *faultState
	kinds  []bool // of messages that it is for
	shape  effect.Link
}

// newRules returns the rules that the faults of a run make, on top of a shaper, for messages of a codec.
func newRules(faults []Fault, b *SharedState, of nodes.Shaper, codec *nodes.Codec) (*Rules, error) {
	r := &Rules{of: of}
	for i := range faults {
		if err := r.add(&faults[i], &b.faults[i], codec); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// add adds the rule of a fault, if it is one of links.
func (r *Rules) add(f *Fault, s *faultState, codec *nodes.Codec) error {
	if !f.OfLinks() {
		return nil
	}
	kinds, err := kindsOf(f.Kind, codec)
	if err != nil {
		return err
	}
	at := effect.Place{Dice: chance.Dice(f.Seed), Beneath: r.of, Victim: s.victim, Until: s.to.Load,
		Second: f.net() > 0, Brokers: f.among, HostOf: f.hostOf}
	r.rules = append(r.rules, rule{f, s, kinds, f.Effect.(effect.OnLinks).Start(&at)})
	return nil
}

// Shape implements nodes.Shaper.
func (r *Rules) Shape(p *nodes.Packet, fate nodes.Fate) nodes.Fate {
	begun := len(fate)
	fate = r.of.Shape(p, fate)
	for i := range r.rules {
		x := &r.rules[i]
		if !x.shared.inForce(p.At) || !x.isFor(p) {
			continue
		}
		hit := true
		if fate, hit = x.shape(p, fate, begun); hit {
			x.shared.hits.Add(1)
		}
	}
	return fate
}

// NeedsBytes implements nodes.Weigher.
func (r *Rules) NeedsBytes() bool {
	return slices.ContainsFunc(r.rules, func(x rule) bool { return x.kind().Weighs })
}

// ofOneNetwork reports whether the fault is for messages of one network alone. The kernel of a host drops
// those of both.
func (f *Fault) ofOneNetwork() bool {
	return f.Network != nil || f.kind().Carried() && f.kind().Role != port.Host
}

// isFor reports whether the rule is for a packet, and counts it if it is for the nth of these.
func (x *rule) isFor(p *nodes.Packet) bool {
	switch {
	case !x.kinds[p.Kind], x.Instance != nil && *x.Instance != p.Instance,
		x.ofOneNetwork() && uint8(x.net()) != p.Net:
		return false
	case !x.Between.IsZero() && !x.Between.Separates(p.From, p.To):
		return false
	}
	return x.Nth == 0 || x.shared.seen.Add(1) == x.Nth
}
