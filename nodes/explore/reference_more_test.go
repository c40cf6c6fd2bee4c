package explore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/replay"
)

// newPlain returns a plain search.
func newPlain(t *testing.T, o *Space) *plain {
	t.Helper()
	p := &plain{o: o, stack: stackOf(t, *o)}
	_, timed := o.Spec.New(o.Config).(nodes.Timed)
	if timed && o.Timing == nil && (o.Copies > 0 || (o.Spec.SafeIn(o.Config)|o.Spec.Live)&nodes.NoLoss == 0) {
		p.copies = cmp.Or(o.Copies, 1)
	}
	return p
}

// copiesOf returns how many equal messages there are to be on a link in the spaces of an algorithm: one if it
// has timers.
func copiesOf(spec *algorithm.Algorithm) int {
	if _, timed := spec.New(nodes.Config{N: 2}).(nodes.Timed); timed {
		return 1
	}
	return 0
}

// outlives reports whether an effect outlives a crash.
func outlives(e nodes.Effect) bool {
	return e.Op == nodes.OpSave || e.Op == nodes.OpSend || e.Op == nodes.OpBroadcast
}

// crash takes a node down.
func (p *plain) crash(s *plainState, id nodes.ID) {
	s.crashes++
	s.nodes[id].up, s.nodes[id].timers, s.nodes[id].suspects = nil, nil, [mostExplored]bool{}
	s.nodes[id].lead.crash()
	s.flying = slices.DeleteFunc(s.flying, func(f plainFlight) bool { return f.to == id })
}

// crowds reports whether so many messages like a new one are on their way that it is lost.
func (p *plain) crowds(s *plainState, f *plainFlight) bool {
	equal := 0
	for _, g := range s.flying {
		if g.write(s) == f.write(s) {
			equal++
		}
	}
	return p.copies > 0 && equal >= p.copies
}

// wrongEntry reports whether a client has entered that may not.
func (p *plain) wrongEntry(before, after int) bool {
	if p.o.Config.Fenced {
		return p.badFence
	}
	return after > 1 && after > before
}

// minority reports whether no more than half of the clients are up.
func (p *plain) minority(s *plainState) bool {
	up := 0
	for _, n := range s.nodes[:p.o.Config.N] {
		if n.up != nil {
			up++
		}
	}
	return up <= p.o.Config.N-up
}

func (p *plain) serverDown(s *plainState) bool {
	return slices.ContainsFunc(s.nodes[p.o.Config.N:], func(n plainNode) bool { return n.up == nil })
}

// suspicions tries what a failure detector can say to a node that is up.
func (p *plain) suspicions(s *plainState, id nodes.ID, may func(bool, func(*plainState))) {
	if _, listens := s.nodes[id].up.Machine(0).(nodes.Suspecter); !listens {
		return
	}
	say := func(peer int, kind nodes.InputKind, wrong int) func(*plainState) {
		return func(to *plainState) {
			to.wrong += wrong
			to.nodes[id].suspects[peer] = kind == nodes.Suspect
			p.feed(to, id, nodes.Input{Kind: kind, From: nodes.ID(peer)})
		}
	}
	for peer := range s.nodes {
		up := s.nodes[peer].up != nil
		switch suspected := s.nodes[id].suspects[peer]; {
		case peer == int(id):
		case suspected && up:
			may(true, say(peer, nodes.Trust, 0))
		case !suspected && !up:
			may(true, say(peer, nodes.Suspect, 0))
		case !suspected && s.wrong < p.o.Suspicions:
			may(false, say(peer, nodes.Suspect, 1))
		}
	}
}

// ticks reports whether time may go on: something waits for it, and nothing has to happen before.
func (p *plain) ticks(s *plainState) bool {
	var limits []int
	for _, f := range s.flying {
		limits = append(limits, f.limit)
	}
	for _, n := range s.nodes {
		for _, t := range n.timers {
			limits = append(limits, t.limit)
		}
	}
	return p.o.Timing != nil && len(limits) > 0 && slices.Min(limits) > s.now
}

// listenerColumns are further spaces of an algorithm that listens to a failure detector: 2 nodes with 2
// entries each and one wrong suspicion; 3 nodes with one entry each and one crash, one wrong suspicion.
// Spaces with a wrong suspicion are also explored with a resource that demands fence numbers, if the
// algorithm hands them out.
func listenerColumns(spec *algorithm.Algorithm) (all []Space) {
	two := Space{Spec: spec, Config: nodes.Config{N: 2}, Entries: 2, Workers: 2, Suspicions: 1,
		Copies: copiesOf(spec)}
	stack, err := two.stack()
	if err != nil || two.validateSuspicions(stack) != nil {
		return nil
	}
	crash, three := two, two
	crash.Config.N, crash.Entries, crash.Suspicions, crash.Crashes = 3, 1, 0, 1
	three.Config.N, three.Entries = 3, 1
	all = append(all, two, crash, three)
	if spec.Fenced {
		two.Config.Fenced, three.Config.Fenced = true, true
		all = append(all, two, three)
	}
	return all
}

// write writes out all there is to a message on its way.
func (f *plainFlight) write(s *plainState) string {
	return fmt.Sprintf("%d>%d %d %d %d %v", f.from, f.to, f.kind, max(0, f.earliest-s.now), f.limit-s.now,
		f.message)
}

// write writes out all there is to a state.
func (p *plain) write(s *plainState) string {
	var b strings.Builder
	for _, n := range s.nodes {
		fmt.Fprint(&b, "\n", n.incarnation, n.asked, n.suspects, n.lead)
		if n.up != nil {
			fmt.Fprintf(&b, " up %q", n.up.AppendState(nil))
		}
		if n.saved != nil {
			fmt.Fprintf(&b, " saved %T %v", n.saved, n.saved)
		}
		for _, t := range n.timers {
			fmt.Fprint(&b, t.Timer, max(0, t.earliest-s.now), t.limit-s.now)
		}
	}
	var flying []string
	for _, f := range s.flying {
		flying = append(flying, f.write(s))
	}
	if p.o.Reordering {
		slices.Sort(flying)
	} else {
		slices.SortStableFunc(flying, func(a, b string) int { return strings.Compare(a[:3], b[:3]) })
	}
	fmt.Fprint(&b, flying, s.lost, s.copied, s.crashes, s.wrong, s.behind, s.forgot, s.together)
	if p.o.Config.Fenced {
		fmt.Fprint(&b, s.fence)
	}
	if p.o.looksFor(replay.CheckFairness) {
		fmt.Fprint(&b, s.passed)
	}
	return b.String()
}
