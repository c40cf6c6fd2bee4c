package splitbrain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"turnstile/chaos"
	"turnstile/nodes"
	"turnstile/nodes/workload"
)

// A Case is a scheme in a partition, with its leader at one place.
type Case struct {
	Spec  *nodes.Spec
	Says  nodes.Partition
	N     int
	Where string // the leader is when the cut begins: InMinority, InMajority, or at which node of the cuts

	config nodes.Config
	among  chaos.Group // nodes of the cuts as they were asked for, of which one is to be the leader
	asked  []chaos.Cut
	links  bool     // they do not part the cluster into sides
	at     nodes.ID // where the leader stands in the cuts as they were asked for
	// leader is who is expected to lead when the cut begins. It and at are exchanged in the cuts.
	leader nodes.ID
	starts nodes.ID    // who campaigns, if anybody may win
	cuts   []chaos.Cut // as they are
	begins time.Duration
	lasts  time.Duration
	again  bool          // its cut is longer than it was
	needs  time.Duration // within which it has a leader on each side that is to have one, and no other
	left   time.Duration // from the heal to the end of the run
}

// The places of a leader, of a cut that parts the cluster into sides.
const (
	InMinority = "minority"
	InMajority = "majority"
)

// Cases returns the cases, those of one scheme one after the other.
func (c *Comparison) Cases() (all []*Case) {
	for _, row := range c.Rows {
		config := c.config(row)
		says := row.Leads.PartitionsIn(config, c.Links())
		if len(says) == 0 {
			says = []nodes.Partition{{}}
		}
		for _, p := range says {
			for _, place := range c.places() {
				x := &Case{Spec: row, Says: p, N: c.N, config: config, Where: place.name, among: place.nodes,
					asked: c.Cuts, links: c.Links(), begins: settled, lasts: c.lasts()}
				if x.needs = row.GraceOf(config); c.Real {
					x.needs += spare
				}
				if x.links && c.For == 0 {
					x.lasts = max(x.lasts, x.needs+Usual) // so that it shows whether a leader stays
				}
				x.starts = x.expected()
				x.expect(x.starts)
				all = append(all, x)
			}
		}
	}
	return all
}

// A place is where a leader is in the cuts.
type place struct {
	name  string
	nodes chaos.Group
}

// places returns where the leaders are to be: once on a side without a majority, and once on the one with it;
// if the cuts make no sides, at each node that they name, and at one that they do not.
func (c *Comparison) places() (all []place) {
	if !c.Links() {
		var minority, majority chaos.Group
		for _, side := range c.Cuts[0].Sides() {
			if 2*len(side) > c.N {
				majority = side
			} else {
				minority = append(minority, side...)
			}
		}
		all = []place{{InMinority, minority}}
		if majority != nil {
			all = append(all, place{InMajority, majority})
		}
		return all
	}
	var named chaos.Group
	for _, cut := range c.Cuts {
		named = append(named, cut.Named()...)
	}
	other := false
	for id := range nodes.ID(c.N) {
		if is := slices.Contains(named, id); is || !other {
			all = append(all, place{fmt.Sprintf("node %d", id), chaos.Group{id}})
			other = other || !is
		}
	}
	return all
}

// Links reports whether the cuts do not part the cluster into sides: some are of one way, or name not all
// nodes, or there are several.
func (c *Comparison) Links() bool {
	return len(c.Cuts) > 1 || c.Cuts[0].Sides() == nil || len(c.Cuts[0].Named()) < c.N
}

// expected returns who is to lead when the cut begins: of a scheme that elects anybody, one of the place that
// campaigns alone.
func (x *Case) expected() nodes.ID {
	config, leads := x.config, x.Spec.Leads
	if leads.Wins == nodes.AnyWins {
		return x.among[len(x.among)-1]
	}
	best := nodes.ID(0)
	for id := range nodes.ID(x.N) {
		a, b := leads.RankOf(config, id), leads.RankOf(config, best)
		if leads.Wins == nodes.HighestWins && a > b || leads.Wins == nodes.LowestWins && a < b {
			best = id
		}
	}
	return best
}

// expect puts the node that leads into its place in the cuts.
func (x *Case) expect(leader nodes.ID) {
	x.leader, x.at = leader, leader
	if !slices.Contains(x.among, leader) {
		x.at = x.among[len(x.among)-1]
	}
	x.cuts = nil
	for _, cut := range x.asked {
		x.cuts = append(x.cuts, cut.Exchanged(x.leader, x.at))
	}
}

// Sides returns the sides of the cut; none, if it makes no sides.
func (x *Case) Sides() []chaos.Group {
	if x.links {
		return nil
	}
	return x.cuts[0].Sides()
}

// Cut writes what is cut.
func (x *Case) Cut() string {
	var words []string
	for _, f := range x.faults() {
		words = append(words, f.Cut.String())
	}
	return strings.Join(words, " ")
}

// faults returns the cuts of the run.
func (x *Case) faults() (all []chaos.Fault) {
	for _, cut := range x.cuts {
		f := chaos.Fault{Cut: cut, At: x.begins, For: x.lasts}
		switch x.Says.Cuts {
		case nodes.FirstNetwork:
			f.Network = new(chaos.Net)
		case nodes.ServersToo:
			words := []string{cut.String()}
			for i := range x.Spec.ServerCount(x.config) {
				words = append(words, fmt.Sprint(x.N+i))
			}
			var err error
			if f.Cut, err = chaos.ParseCut(strings.Join(words, "/")); err != nil {
				panic(err) // it has one side more
			}
		}
		all = append(all, f)
	}
	return all
}

// initiators returns who campaigns when the run begins: all, unless anybody may win.
func (x *Case) initiators() workload.Initiators {
	if x.Spec.Leads.Wins == nodes.AnyWins {
		return workload.TheseInitiate(x.starts)
	}
	return workload.AllInitiate
}

// placed reports whether one node led when the cut began, and at its place.
func (x *Case) placed(before chaos.Group) bool {
	return len(before) == 1 && before[0] == x.leader
}
