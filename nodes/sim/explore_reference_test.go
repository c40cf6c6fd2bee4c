package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"turnstile/nodes"
)

// A plain state is a whole cluster of its own: nothing is shared, remembered or fingerprinted. It is what
// Explore is compared with, which does all three.
type plainState struct {
	nodes  []*nodes.Node
	alarms [][]alarm
	asked  []int
	flying []flight
	lost   int
}

func (p *plainState) clone() *plainState {
	q := &plainState{asked: slices.Clone(p.asked), alarms: slices.Clone(p.alarms),
		flying: slices.Clone(p.flying), lost: p.lost}
	for _, n := range p.nodes {
		q.nodes = append(q.nodes, n.Clone())
	}
	return q
}

func (p *plainState) feed(o *ExploreOptions, id nodes.ID, in nodes.Input) {
	effects := p.nodes[id].Handle(in)
	p.alarms[id] = o.Timing.alarms(p.nodes[id], p.alarms[id], effects)
	for _, e := range effects {
		switch e.Op {
		case nodes.OpSend:
			p.flying = append(p.flying, flight{id, e.To, e.Kind, e.Message, o.Timing.flight()})
		case nodes.OpBroadcast:
			for to := range nodes.ID(o.Config.N) {
				if to != id {
					p.flying = append(p.flying, flight{id, to, e.Kind, e.Message, o.Timing.flight()})
				}
			}
		}
	}
}

// key writes out all there is to the state.
func (p *plainState) key(o *ExploreOptions) string {
	var b strings.Builder
	for id, n := range p.nodes {
		fmt.Fprintf(&b, "%d %x", p.asked[id], n.AppendState(nil))
		for _, a := range p.alarms[id] {
			fmt.Fprint(&b, a.window)
		}
	}
	var links []string
	for _, f := range p.flying {
		links = append(links, fmt.Sprintf("%d>%d %d %v", f.from, f.to, f.kind, f.window)+
			string(nodes.AppendMessage(nil, f.message)))
	}
	if o.Overtaking {
		slices.Sort(links)
	} else {
		slices.SortStableFunc(links, func(a, b string) int { return strings.Compare(a[:3], b[:3]) })
	}
	fmt.Fprintf(&b, "%d %q", p.lost, links)
	return b.String()
}

// next returns all states that may follow.
func (p *plainState) next(o *ExploreOptions) (all []*plainState) {
	for i, f := range p.flying {
		first := slices.IndexFunc(p.flying, func(g flight) bool { return g.from == f.from && g.to == f.to })
		if !o.Overtaking && first != i {
			continue
		}
		q := p.clone()
		q.flying = slices.Delete(q.flying, i, i+1)
		if q.lost < o.Losses {
			lost := q.clone()
			lost.lost++
			all = append(all, lost)
		}
		if !f.open() {
			continue
		}
		q.feed(o, f.to, nodes.Input{What: nodes.Receive, From: f.from, Message: f.message})
		all = append(all, q)
	}
	for id, alarms := range p.alarms {
		for _, a := range alarms {
			if a.open() {
				q := p.clone()
				q.feed(o, nodes.ID(id), nodes.Input{What: nodes.Timeout, Timer: a.timer, Gen: a.gen})
				all = append(all, q)
			}
		}
	}
	if o.Timing != nil {
		all = append(all, p.later()...)
	}
	for id := range nodes.ID(o.Config.N) {
		q := p.clone()
		switch c := p.nodes[id].Client(0); {
		case c == nodes.Idle && p.asked[id] < o.Entries:
			q.asked[id]++
			q.feed(o, id, nodes.Input{What: nodes.Request})
		case c == nodes.Inside:
			q.feed(o, id, nodes.Input{What: nodes.Release})
		default:
			continue
		}
		all = append(all, q)
	}
	return all
}

// later returns the state one tick later, if a tick may pass.
func (p *plainState) later() []*plainState {
	q := p.clone()
	for i := range q.flying {
		q.flying[i].opens = max(0, q.flying[i].opens-1)
		if q.flying[i].closes--; q.flying[i].closes < 0 {
			return nil
		}
	}
	for id := range q.alarms {
		q.alarms[id] = slices.Clone(q.alarms[id])
		for i := range q.alarms[id] {
			q.alarms[id][i].opens = max(0, q.alarms[id][i].opens-1)
			if q.alarms[id][i].closes--; q.alarms[id][i].closes < 0 {
				return nil
			}
		}
	}
	return []*plainState{q}
}

// countPlainly returns how many states there are, and how far the farthest is.
func countPlainly(o *ExploreOptions) (states uint64, depth int) {
	first := &plainState{asked: make([]int, o.total()), alarms: make([][]alarm, o.total())}
	codec := o.Spec.Codec()
	for id := range nodes.ID(o.total()) {
		part := nodes.Part{Machine: o.Spec.Machine(o.Config, id), Codec: codec}
		first.nodes = append(first.nodes, nodes.NewNode(id, o.Config.N, 0, nil, part))
	}
	for id := range first.nodes {
		first.feed(o, nodes.ID(id), nodes.Input{What: nodes.Start})
	}
	seen := map[string]bool{first.key(o): true}
	for level := []*plainState{first}; ; depth++ {
		var following []*plainState
		for _, p := range level {
			for _, q := range p.next(o) {
				if k := q.key(o); !seen[k] {
					seen[k] = true
					following = append(following, q)
				}
			}
		}
		if len(following) == 0 {
			return uint64(len(seen)), depth
		}
		level = following
	}
}

// What Explore keeps once and remembers makes no difference to what it sees.
func TestExploreSeesWhatAPlainSearchSees(t *testing.T) {
	for _, name := range []string{"central", "ricart-agrawala", "suzuki-kasami", "maekawa", "naimi-trehel"} {
		for i, o := range columns(row(t, name)) {
			if o.Duplicates+o.Crashes > 0 || o.Config.N == 3 && o.Entries == 2 {
				continue
			}
			if i%2 == 1 {
				o.Timing = timing(time.Millisecond, 2*time.Millisecond)
			}
			states, depth := countPlainly(&o)
			if x := explore(t, o); x.States != states || x.Depth != depth {
				t.Errorf("%s, space %d: %d states, depth %d; a plain search sees %d, depth %d",
					name, i, x.States, x.Depth, states, depth)
			}
		}
	}
}
