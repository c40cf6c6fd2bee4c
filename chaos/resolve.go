package chaos

import (
	"fmt"
	"math"
	"slices"
	"time"

	"turnstile/chaos/effect"
	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/port"
)

// mostFaults is how many faults a run may have.
const mostFaults = 400

// Resolve returns the faults of a plan in a run with a seed, in the order of the plan: each takes place once,
// has a seed, and names its victims unless the run determines them. The error says what is wrong with the
// plan.
func Resolve(plan []Fault, s *Scene, seed uint64) (all []Fault, err error) {
	return resolveBeside(nil, plan, s, seed, mostFaults)
}

// ResolveMore resolves more faults in a run that has some already, resolved by Resolve or ResolveMore.
func ResolveMore(before, more []Fault, s *Scene, seed uint64) ([]Fault, error) {
	return resolveBeside(before, more, s, seed, mostShared)
}

// resolveBeside resolves a plan for a run that already has resolved faults. The parameter most limits the
// number of all faults together.
func resolveBeside(before, plan []Fault, s *Scene, seed uint64, most int) ([]Fault, error) {
	r := resolver{s: s, down: map[nodes.ID][]span{}, hit: map[nodes.ID][]span{}}
	for i := range before {
		r.takeNote(&before[i])
	}
	all := slices.Clone(before)
	for i := range plan {
		f := &plan[i]
		if err := f.Check(s); err != nil {
			return nil, err
		}
		f, err := f.placed(s)
		if err != nil {
			return nil, err
		}
		dice := chance.Dice(seed).Of(chance.ForFault, len(before)+i+1)
		if f.Seed != 0 {
			dice = chance.Dice(f.Seed)
		}
		for count, at := uint64(1), f.At; ; count, at = count+1, at+f.Every {
			one := *f
			one.Effect, one.StandIn, one.among, one.servers = effect.Clone(f.Effect), "", s.brokers(), s.Servers.Count
			if s.Simulated {
				one.StandIn = f.kind().StandIn
			}
			one.Every, one.Repeat, one.Jitter, one.Hit, one.HitServers = 0, 0, 0, nil, nil
			one.Again = f.Again || count > 1
			later := dice.Unit(chance.Roll{Purpose: chance.ForJitter, Count: count}) * float64(f.Jitter)
			one.At = at + time.Duration(later).Truncate(time.Millisecond)
			if one.Seed == 0 || f.Every > 0 {
				one.Seed = dice.Bits(chance.Roll{Purpose: chance.ForFault, Count: count}) & math.MaxInt64
			}
			if all = append(all, one); len(all) > most {
				return nil, f.mistake("every", "this makes more than %d faults: let them come less often", most)
			}
			if f.Every == 0 || f.Repeat > 0 && count == uint64(f.Repeat) ||
				f.Repeat == 0 && !f.fits(float64(at+f.Every), s) {
				break
			}
		}
	}
	// Random victims are drawn last, among the nodes that no other fault keeps down.
	for turn := range 3 { // faults with named victims first, then random kills, then other random faults
		for i := len(before); i < len(all); i++ {
			if f := &all[i]; turnOf(f) == turn {
				if err := r.name(f); err != nil {
					return nil, err
				}
			}
		}
	}
	return all[len(before):], checkTogether(all, s)
}

// turnOf returns in which turn Resolve names the victims of a fault.
func turnOf(f *Fault) int {
	switch {
	case f.target().Word != "random":
		return 0
	case f.downs():
		return 1
	}
	return 2
}

// A span is an interval of time, both ends included.
type span struct{ from, to time.Duration }

func (a span) touches(b span) bool { return a.from <= b.to && b.from <= a.to }

// span returns the interval in which the plan has a resolved fault in force.
func (f *Fault) span(s *Scene) span {
	if f.For == 0 {
		return span{f.At, s.end()}
	}
	return span{f.At, f.At + f.For}
}

// A resolver names the victims of faults.
type resolver struct {
	s    *Scene
	down map[nodes.ID][]span // when the plan keeps each node down
	hit  map[nodes.ID][]span // when other faults begin to hit each node
}

// name names the victims of a fault.
func (r *resolver) name(f *Fault) error {
	dice := chance.Dice(f.Seed)
	if effect.CutOf(f.Effect) != nil {
		return r.nameCut(f, dice)
	}
	if t := effect.TargetOf(f.Effect); t != nil {
		if err := r.nameTarget(f, t, dice); err != nil {
			return err
		}
		r.takeNote(f)
	}
	return nil
}

// nameCut replaces the word of a cut by groups of nodes.
func (r *resolver) nameCut(f *Fault, dice chance.Dice) error {
	cut := f.cut()
	if cut.Word == "" || cut.Of.ByRun() {
		return nil
	}
	order := r.shuffled(dice)
	switch half := len(order) / 2; cut.Word {
	case effect.RingCut:
		*cut = effect.RingOf(order)
	case effect.GridCut:
		*cut, _ = effect.GridOf(len(order)) // Check has made sure that the nodes form a grid
	case effect.BridgeCut:
		*cut = effect.CutInto(false, sorted(order[:(len(order)-1)/2]), sorted(order[(len(order)-1)/2+1:]))
	case "majority": // the servers are in the majority
		*cut = r.s.apart(order[half+1:])
	default:
		of := cut.Of
		if err := r.nameTarget(f, &of, dice); err != nil {
			return err
		}
		*cut = r.s.apart(of.List)
	}
	return nil
}

// takeNote notes when a timed fault keeps nodes down, or begins to hit them.
func (r *resolver) takeNote(f *Fault) {
	if !f.Timed() {
		return
	}
	for _, id := range f.target().List {
		if f.downs() {
			r.down[id] = append(r.down[id], f.span(r.s))
		} else {
			r.hit[id] = append(r.hit[id], span{f.At, f.At})
		}
	}
}

// nameTarget replaces the word of a target by a list of nodes.
func (r *resolver) nameTarget(f *Fault, t *effect.Target, dice chance.Dice) error {
	n := r.s.Config.N
	var list nodes.Group
	switch t.Word {
	case "all":
		for id := range nodes.ID(r.s.total()) {
			list = append(list, id)
		}
	case "coordinator":
		list = nodes.Group{r.s.Spec.Coordinator(r.s.Config)}
	case "minority":
		list = r.shuffled(dice)[:(n-1)/2]
	case "majority":
		list = r.shuffled(dice)[:n/2+1]
	case "half":
		list = shuffled(dice, r.s.total())[:r.s.total()/2]
	case "random":
		up := slices.DeleteFunc(r.shuffled(dice), func(id nodes.ID) bool { return r.meets(f, r.down[id]) })
		free := slices.DeleteFunc(slices.Clone(up), func(id nodes.ID) bool { return r.meets(f, r.hit[id]) })
		if f.downs() && len(free) >= t.Many { // otherwise another fault would hit a node that is down
			up = free
		}
		if len(up) < t.Many {
			return f.mistake(f.kind().Key, "%v: at that time the plan leaves %d clients up", f, len(up))
		}
		list = up[:t.Many]
	default:
		return nil
	}
	*t = effect.Target{List: sorted(list)}
	return nil
}

// meets reports whether a fault is in force during one of some spans.
func (r *resolver) meets(f *Fault, spans []span) bool {
	return slices.ContainsFunc(spans, func(x span) bool { return x.touches(f.span(r.s)) })
}

// shuffled returns the clients in an order drawn by chance.
func (r *resolver) shuffled(dice chance.Dice) nodes.Group { return shuffled(dice, r.s.Config.N) }

// shuffled returns the first n nodes in an order drawn by chance.
func shuffled(dice chance.Dice, n int) nodes.Group {
	order := make(nodes.Group, n)
	for i := range order {
		order[i] = nodes.ID(i)
	}
	for i := len(order) - 1; i > 0; i-- {
		j := dice.Below(chance.Roll{Purpose: chance.ForVictim, Count: uint64(i)}, i+1)
		order[i], order[j] = order[j], order[i]
	}
	return order
}

func sorted(g nodes.Group) nodes.Group { return slices.Sorted(slices.Values(g)) }

// apart returns the cut between some nodes and all others.
func (s *Scene) apart(some nodes.Group) effect.Cut {
	var others nodes.Group
	for id := range nodes.ID(s.total()) {
		if !slices.Contains(some, id) {
			others = append(others, id)
		}
	}
	return effect.CutInto(false, sorted(some), others)
}

// checkTogether returns an error about two faults that exclude each other, or nil.
func checkTogether(all []Fault, s *Scene) error {
	for i := range all {
		b := &all[i]
		if !b.Timed() {
			continue
		}
		if other := comesTooLate(b, all, s); other != nil {
			return b.mistake("at", "%v conflicts with %v, since it would hit a node that is down", b, other)
		}
		for j := range all[:i] {
			a := &all[j]
			if why := a.excludes(b, s); why != "" {
				if a.At > b.At {
					a, b = b, a
				}
				return b.mistake("at", "%v conflicts with %v: %s", b, a, why)
			}
		}
	}
	return nil
}

// excludes returns why two faults cannot be in one run, or "". A node that is down cannot be killed, and a
// clock has one rate at a time. A fault cannot hit a broker or server that is down or stands still, except
// that connections of servers can always be cut.
func (f *Fault) excludes(other *Fault, s *Scene) string {
	role := f.kind().Role
	if !f.Timed() || role != other.kind().Role || !f.lasts(s).touches(other.lasts(s)) {
		return ""
	}
	halts := func(f *Fault) bool { return f.kind().Downs || f.kind().Stops }
	why := "%v is down or stands still then"
	switch {
	case role == port.Node && f.kind().Downs && other.kind().Downs:
		why = "%v is down then"
	case role == port.Node && effect.RateOf(f.Effect) != 0 && effect.RateOf(other.Effect) != 0:
		why = "the clock of %v has one rate at a time"
	case role == port.Node, !halts(f) && !halts(other),
		role == port.Server && (f.onMembers() == nil || other.onMembers() == nil):
		return ""
	}
	named := map[port.Member]bool{}
	for _, m := range f.members() {
		named[m] = true
	}
	for _, m := range other.members() {
		if named[m] {
			return fmt.Sprintf(why, m)
		}
	}
	return ""
}

// lasts returns the interval in which a resolved fault acts: only its beginning, if it acts once and for
// good.
func (f *Fault) lasts(s *Scene) span {
	if f.kind().Did != "" && f.ForGood() {
		return span{f.At, f.At}
	}
	return f.span(s)
}

// members returns the members that a resolved fault names.
func (f *Fault) members() (all []port.Member) {
	of := f.target().List
	switch f.kind().Role {
	case port.Broker:
		of = f.brokers(f.among)
	case port.Server:
		of = nil
		for _, t := range effect.MembersIn(f.Effect) {
			of = append(of, t.List...)
		}
	}
	for _, i := range of {
		all = append(all, port.Member{Role: f.kind().Role, I: int(i)})
	}
	return all
}

// comesTooLate returns one of the kills by which all victims of f are down when f begins. It returns nil if a
// victim is up, or if f is a kill itself.
func comesTooLate(f *Fault, all []Fault, s *Scene) *Fault {
	if f.downs() {
		return nil
	}
	var by *Fault
	for _, id := range f.target().List {
		i := slices.IndexFunc(all, func(k Fault) bool {
			return k.Timed() && k.downs() && slices.Contains(k.target().List, id) &&
				k.span(s).touches(span{f.At, f.At})
		})
		if i < 0 {
			return nil
		}
		by = &all[i]
	}
	return by
}
