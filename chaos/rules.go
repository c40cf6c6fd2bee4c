package chaos

import (
	"slices"
	"time"

	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/port"
)

// Rules are the faults of links. While a rule is in force, it changes the fates that another shaper decides.
// It acts on messages that enter a link in that time, whenever they were sent.
type Rules struct {
	base  nodes.Shaper
	rules []rule
}

// A rule is one fault of links.
type rule struct {
	*Fault
	shared *faultState
	kinds  []bool // kinds of messages that the rule is for
	shape  effect.Link
}

// newRules returns the rules of the faults of a run on top of a base shaper, for messages of a codec.
func newRules(faults []Fault, b *SharedState, base nodes.Shaper, codec *nodes.Codec) (*Rules, error) {
	r := &Rules{base: base}
	for i := range faults {
		if err := r.add(&faults[i], &b.faults[i], codec); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// add adds the rule of a fault, if it is carried out on links.
func (r *Rules) add(f *Fault, s *faultState, codec *nodes.Codec) error {
	if !f.OfLinks() {
		return nil
	}
	kinds, err := kindsOf(f.Kind, codec)
	if err != nil {
		return err
	}
	at := effect.Place{Dice: chance.Dice(f.Seed), Beneath: r.base, Victim: s.victim, Until: s.to.Load,
		Second: f.net() > 0, Brokers: f.among, HostOf: f.hostOf}
	r.rules = append(r.rules, rule{f, s, kinds, f.Effect.(effect.OnLinks).Start(&at)})
	return nil
}

// Shape implements nodes.Shaper.
func (r *Rules) Shape(p *nodes.Packet, fate nodes.Fate) nodes.Fate {
	begun := len(fate)
	fate = r.base.Shape(p, fate)
	for i := range r.rules {
		x := &r.rules[i]
		if !x.shared.inForce(p.At) || !x.isFor(p) {
			continue
		}
		hit := true
		if fate, hit = x.shape(p, fate, begun); hit {
			late := time.Duration(0)
			for _, d := range fate[begun:] {
				late = max(late, d)
			}
			x.shared.acts(p.At, p.At+int64(late))
			x.shared.hits.Add(1) // after acts: see Seen
		}
		if x.Nth > 0 { // it has hit what it was to hit
			x.shared.heal(p.At)
		}
	}
	return fate
}

// NeedsBytes implements nodes.Weigher.
func (r *Rules) NeedsBytes() bool {
	return slices.ContainsFunc(r.rules, func(x rule) bool { return x.kind().Weighs })
}

// ofOneNetwork reports whether the fault hits messages of one network only. The kernel of a host drops
// messages of both networks.
func (f *Fault) ofOneNetwork() bool {
	return f.Network != nil || f.kind().Carried() && f.kind().Role != port.Host
}

// isFor reports whether the rule is for a packet. A rule for the nth message also counts the packet.
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
