package effect

import "turnstile/nodes"

// CutLinks has messages between groups of nodes lost.
type CutLinks struct {
	plain
	Cut Cut `yaml:"cut"`
}

var cutLinks = Kind{Key: "cut", Layer: OfLinks, Says: "messages between groups of nodes are lost",
	Example: "cut: 0-1/2-4", Filters: []string{"kind", "instance", "network"}, Breaks: nodes.NoLoss,
	Cuts: true, Zero: new(CutLinks),
	Flag: "have messages between `groups` of nodes lost for some time, as in 0-1/2-4, or 0>1-2 for one way"}

func (c *CutLinks) Start(at *Place) Link {
	cuts := func(p *nodes.Packet) bool { return c.Cut.Separates(p.From, p.To) }
	if c.Cut.Of.ByRun() {
		cuts = func(p *nodes.Packet) bool {
			victim := at.Victim()
			return p.From == victim || p.To == victim
		}
	}
	return func(p *nodes.Packet, fate nodes.Fate, begun int) (nodes.Fate, bool) {
		if cuts(p) {
			return fate[:begun], true
		}
		return fate, false
	}
}
