package experiment

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/nodes"
	"turnstile/nodes/row"
	"turnstile/nodes/workload"
)

// A partition is a case of split-brain: a scheme whose cluster is cut, with its leader at one place.
type partition struct {
	spec  *row.Row
	says  row.Partition
	n     int
	where string // the leader is when the cut begins: inMinority, inMajority, or at which node of the cuts

	config nodes.Config
	among  effect.Group // nodes of the cuts as they were asked for, of which one is to be the leader
	asked  []effect.Cut
	links  bool     // they do not part the cluster into sides
	at     nodes.ID // where the leader stands in the cuts as they were asked for
	// leader is who is expected to lead when the cut begins. It and at are exchanged in the cuts.
	leader nodes.ID
	starts nodes.ID     // who campaigns, if anybody may win
	cuts   []effect.Cut // as they are
	begins time.Duration
	lasts  time.Duration
	again  bool          // its cut is longer than it was
	needs  time.Duration // within which it has a leader on each side that is to have one, and no other
	left   time.Duration // from the heal to the end of the run
}

// The places of a leader, of a cut that parts the cluster into sides.
const (
	inMinority = "minority"
	inMajority = "majority"
)

// cases returns the cases, those of one scheme one after the other.
func (c *SplitBrain) cases() (all []*partition) {
	for _, spec := range c.Rows {
		config := c.config(spec)
		says := spec.Elector.PartitionsIn(config, c.Links())
		if len(says) == 0 {
			says = []row.Partition{{}}
		}
		for _, p := range says {
			for _, place := range c.places() {
				x := &partition{spec: spec, says: p, n: c.N, config: config, where: place.name, among: place.nodes,
					asked: c.Cuts, links: c.Links(), begins: settled, lasts: c.lasts()}
				if x.needs = spec.GraceOf(config); c.Real {
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

// A seat is where a leader is in the cuts.
type seat struct {
	name  string
	nodes effect.Group
}

// places returns where the leaders are to be: once on a side without a majority, and once on the one with it;
// if the cuts make no sides, at each node that they name, and at one that they do not.
func (c *SplitBrain) places() (all []seat) {
	if !c.Links() {
		var minority, majority effect.Group
		for _, side := range c.Cuts[0].Sides() {
			if 2*len(side) > c.N {
				majority = side
			} else {
				minority = append(minority, side...)
			}
		}
		all = []seat{{inMinority, minority}}
		if majority != nil {
			all = append(all, seat{inMajority, majority})
		}
		return all
	}
	var named effect.Group
	for _, cut := range c.Cuts {
		named = append(named, cut.Named()...)
	}
	other := false
	for id := range nodes.ID(c.N) {
		if is := slices.Contains(named, id); is || !other {
			all = append(all, seat{fmt.Sprintf("node %d", id), effect.Group{id}})
			other = other || !is
		}
	}
	return all
}

// Links reports whether the cuts do not part the cluster into sides: some are of one way, or name not all
// nodes, or there are several.
func (c *SplitBrain) Links() bool {
	return len(c.Cuts) > 1 || c.Cuts[0].Sides() == nil || len(c.Cuts[0].Named()) < c.N
}

// expected returns who is to lead when the cut begins: of a scheme that elects anybody, one of the place that
// campaigns alone.
func (x *partition) expected() nodes.ID {
	config, leads := x.config, x.spec.Elector
	if leads.Wins == row.AnyWins {
		return x.among[len(x.among)-1]
	}
	best := nodes.ID(0)
	for id := range nodes.ID(x.n) {
		a, b := leads.RankOf(config, id), leads.RankOf(config, best)
		if leads.Wins == row.HighestWins && a > b || leads.Wins == row.LowestWins && a < b {
			best = id
		}
	}
	return best
}

// expect puts the node that leads into its place in the cuts.
func (x *partition) expect(leader nodes.ID) {
	x.leader, x.at = leader, leader
	if !slices.Contains(x.among, leader) {
		x.at = x.among[len(x.among)-1]
	}
	x.cuts = nil
	for _, cut := range x.asked {
		x.cuts = append(x.cuts, cut.Exchanged(x.leader, x.at))
	}
}

// sides returns the sides of the cut; none, if it makes no sides.
func (x *partition) sides() []effect.Group {
	if x.links {
		return nil
	}
	return x.cuts[0].Sides()
}

// cut writes what is cut.
func (x *partition) cut() string {
	var words []string
	for _, f := range x.faults() {
		words = append(words, f.Effect.(*effect.CutLinks).Cut.String())
	}
	return strings.Join(words, " ")
}

// faults returns the cuts of the run.
func (x *partition) faults() (all []chaos.Fault) {
	for _, cut := range x.cuts {
		f := chaos.Fault{Schedule: chaos.Schedule{At: x.begins, For: x.lasts}}
		switch x.says.Cuts {
		case row.FirstNetwork:
			f.Network = new(effect.Net)
		case row.ServersToo:
			words := []string{cut.String()}
			for i := range x.spec.ServerCount(x.config) {
				words = append(words, fmt.Sprint(x.n+i))
			}
			var err error
			if cut, err = effect.ParseCut(strings.Join(words, "/")); err != nil {
				panic(err) // it has one side more
			}
		}
		f.Effect = &effect.CutLinks{Cut: cut}
		all = append(all, f)
	}
	return all
}

// initiators returns who campaigns when the run begins: all, unless anybody may win.
func (x *partition) initiators() workload.Initiators {
	if x.spec.Elector.Wins == row.AnyWins {
		return workload.TheseInitiate(x.starts)
	}
	return workload.AllInitiate
}

// placed reports whether one node led when the cut began, and at its place.
func (x *partition) placed(before effect.Group) bool {
	return len(before) == 1 && before[0] == x.leader
}
