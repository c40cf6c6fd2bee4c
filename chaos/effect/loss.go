package effect

import (
	"turnstile/internal/chance"
	"turnstile/nodes"
)

// Loss drops messages.
type Loss struct {
	plain
	Of Losses `yaml:"loss"`
}

// ofMessages are the filters of most faults of links.
var ofMessages = []string{"between", "kind", "nth", "instance", "network"}

var loss = Kind{Key: "loss", Layer: OfLinks, Says: "messages are lost, each by chance or in bursts",
	Example: "loss: 2%", Filters: ofMessages, Breaks: nodes.NoLoss, Zero: new(Loss),
	Flag: "have messages lost, as in 2%, or in bursts, as in burst:1%,20%"}

func (l *Loss) Idle() bool { return l.Of.IsZero() }

func (l *Loss) Start(at *Place) Link {
	return func(p *nodes.Packet, fate nodes.Fate, begun int) (nodes.Fate, bool) {
		if l.loses(at.Dice, p) {
			return fate[:begun], true
		}
		return fate, false
	}
}

// loses draws whether a packet is lost.
func (l *Loss) loses(dice chance.Dice, p *nodes.Packet) bool {
	if l.Of.Worsens == 0 {
		return dice.Unit(roll(chance.ForLoss, p)) < float64(l.Of.Rate)
	}
	// Each packet draws a number that makes the link bad, makes it good, or leaves it as it is. The latest
	// packet that changed the link determines its state, so no state need be kept.
	for number := p.Number; number > 0; number-- {
		switch u := dice.Unit(chance.OnLink(chance.ForBurst, p.From, p.To, 0, number)); {
		case u < float64(l.Of.Worsens):
			return true
		case u >= 1-float64(l.Of.Recovers):
			return false
		}
	}
	return false
}
