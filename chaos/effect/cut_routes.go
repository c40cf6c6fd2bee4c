package effect

import (
	"fmt"
	"slices"
	"time"

	"turnstile/nodes"
)

// CutRoutes has the routes between groups of brokers closed, so that messages that would pass them are lost.
type CutRoutes struct {
	plain
	Between brokerCut `yaml:"cut-routes"`
}

var cutRoutes = Kind{Key: "cut-routes", Layer: ofBrokers,
	Says: "the routes between groups of brokers are closed, and messages that would pass them are lost; it " +
		"takes --brokers 3",
	Example: "cut-routes: 0/1-2", Breaks: nodes.NoLoss | nodes.Timing, Cuts: true,
	StandIn: "a cut between the nodes there", Zero: new(CutRoutes),
	Random: randomRoutes,
	Flag:   "have the routes between `groups` of brokers cut, as in 0/1-2; takes --brokers 3"}

func (*CutRoutes) Leaves() time.Duration { return reconnecting }

// randomRoutes are those of one of three brokers.
func randomRoutes(d *Draw) Effect {
	others := slices.DeleteFunc(Group{0, 1, 2}, func(id nodes.ID) bool { return id == d.Broker })
	return &CutRoutes{Between: brokerCut{CutInto(false, Group{d.Broker}, others)}}
}

func (c *CutRoutes) Begin(on *Carrier, of Group) (hit int, err error) {
	for _, i := range of {
		hit += on.NodesAt(int(i))
	}
	var groups [][]int
	for _, g := range c.Between.groups {
		var group []int
		for _, i := range g {
			group = append(group, int(i))
		}
		groups = append(groups, group)
	}
	return hit, on.Transport.CutRoutes(on.Number, groups)
}

func (*CutRoutes) Heal(c *Carrier) error { return c.HealRoutes(c.Number) }

func (c *CutRoutes) Start(at *Place) Link {
	return func(p *nodes.Packet, fate nodes.Fate, begun int) (nodes.Fate, bool) {
		if c.Between.Separates(at.brokerOf(p.From), at.brokerOf(p.To)) {
			return fate[:begun], true
		}
		return fate, false
	}
}

// A brokerCut has the routes between brokers of different groups.
type brokerCut struct{ Cut }

// UnmarshalText reads groups of brokers with / between them: 0/1-2. Nothing names no routes.
func (r *brokerCut) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*r = brokerCut{}
		return nil
	}
	c, err := ParseCut(string(text))
	if err != nil || len(c.groups) == 0 || c.oneWay {
		return fmt.Errorf("%q names no routes: write groups of brokers, each broker once, "+
			"as in 0/1-2, or 0/1/2", text)
	}
	r.Cut = c
	return nil
}
